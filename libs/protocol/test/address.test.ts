import fc from 'fast-check';
import { AddressText, drawNumber, parseAddress, RelaygerError } from '../src/index.js';

function codeOf(raw: string): string {
  try {
    return JSON.stringify(parseAddress(raw));
  } catch (error) {
    if (error instanceof RelaygerError) return error.code;
    throw error;
  }
}

describe('an address', () => {
  it.each([
    '1234567897',
    '+1234567897',
    '123 456 7897',
    '123-456-7897',
    '(123) 456.78.97',
    ' 1.2.3.4.5.6.7.8.9.7 ',
    '+(1)-2 3 4 5 6 7 8 9 7',
  ])('reads the number %j', (raw) => {
    expect(parseAddress(raw)).toEqual({ kind: 'number', value: '1234567897' });
  });

  it('reads a number with separators anywhere', () => {
    const number = fc.integer({ min: 0, max: 899_999_999 }).map((drawn) => drawNumber(() => drawn));
    const gaps = fc.array(fc.string({ unit: fc.constantFrom(...'+ -.()'), maxLength: 3 }), {
      minLength: 11,
      maxLength: 11,
    });
    fc.assert(
      fc.property(number, gaps, (value, between) => {
        const raw = between.map((gap, at) => gap + (value[at] ?? '')).join('');
        expect(parseAddress(raw)).toEqual({ kind: 'number', value });
      }),
    );
  });

  it.each([
    ['1234567890', 'invalid_number_check_digit'],
    ['123-456-7890', 'invalid_number_check_digit'],
    ['0123456789', 'invalid_number'],
    ['123456789', 'invalid_number'],
    ['12345678970', 'invalid_number'],
    ['0', 'invalid_number'],
    ['12345678901234567890123456789012', 'invalid_number'],
  ])('%s is %s', (raw, code) => {
    expect(codeOf(raw)).toBe(code);
  });

  it.each(['@report-agent', 'report-agent', '@a1', 'a_', `@a${'b'.repeat(39)}`])(
    'reads the handle %s',
    (raw) => {
      expect(parseAddress(raw)).toEqual({ kind: 'handle', value: raw.replace('@', '') });
    },
  );

  it.each([
    '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
    '12345678-1234-1234-1234-123456789012',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('reads the id %s, of whatever digits', (raw) => {
    expect(parseAddress(raw)).toEqual({ kind: 'id', value: raw });
  });

  it.each([
    '',
    ' ',
    '+',
    '@',
    '@@report-agent',
    '@1234567897',
    'Report-Agent',
    'a',
    '1abc',
    `a${'b'.repeat(40)}`,
    'a b',
    '0190B2F4-7C1D-7E3A-9B52-1F6C2D8E4A01',
    '12345678-1234-1234-1234-12345678901g',
    '١٢٣٤٥٦٧٨٩٧',
    'report-agent\n',
    '@report-agent/..',
  ])('refuses %j, naming the field', (raw) => {
    expect(codeOf(raw)).toBe('invalid_request');
    expect(() => parseAddress(raw, 'body.target')).toThrow(
      expect.objectContaining({
        details: { issues: [expect.objectContaining({ path: 'body.target' })] },
      }),
    );
  });

  it('never fails in another way', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.string({ unit: fc.constantFrom(...'09 +-.()@a') }),
    );
    fc.assert(fc.property(anything, (raw) => codeOf(raw) !== undefined));
  });

  it('leaves the text as it is until the service reads it', () => {
    expect(AddressText.parse('123 456-7890')).toBe('123 456-7890');
    expect(AddressText.safeParse('').success).toBe(false);
    expect(AddressText.safeParse('1'.repeat(81)).success).toBe(false);
  });
});
