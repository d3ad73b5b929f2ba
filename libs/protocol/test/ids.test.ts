import fc from 'fast-check';
import { Handle, Sequence, UtcTime, Uuid } from '../src/index.js';

const MAX = 9_223_372_036_854_775_807n;
const accepts = (schema: typeof Sequence | typeof UtcTime, value: unknown) =>
  schema.safeParse(value).success;

describe('a sequence', () => {
  it('is any signed 64-bit integer from 0, exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX }), (value) => {
        expect(Sequence.parse(String(value))).toBe(String(value));
      }),
    );
    fc.assert(
      fc.property(
        fc.bigInt({ min: MAX + 1n, max: 10n ** 40n }),
        (value) => !accepts(Sequence, String(value)),
      ),
    );
  });

  it.each(['0', '1', '9007199254740993', String(MAX)])('is %s', (value) => {
    expect(Sequence.parse(value)).toBe(value);
  });

  it.each([
    String(MAX + 1n),
    '-1',
    '-0',
    '+1',
    '01',
    '00',
    '1.0',
    '1e3',
    ' 1',
    '1 ',
    '1\n',
    '',
    'abc',
    '0x10',
    '１',
    1,
    null,
  ])('is not %j', (value) => {
    expect(accepts(Sequence, value)).toBe(false);
  });
});

describe('a time', () => {
  it.each([
    '2026-11-29T22:00:00Z',
    '2026-11-29T22:00:00.1Z',
    '2026-11-29T22:00:00.123456Z',
    '2028-02-29T00:00:00Z',
  ])('is %s', (value) => {
    expect(UtcTime.parse(value)).toBe(value);
  });

  it.each([
    '2026-11-29T22:00:00+00:00',
    '2026-11-29T22:00:00+02:00',
    '2026-11-29T22:00:00-00:00',
    '2026-11-29T22:00:00',
    '2026-11-29T22:00Z',
    '2026-11-29 22:00:00Z',
    '2026-11-29t22:00:00z',
    '2026-11-29',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-29T24:00:00Z',
    '2026-11-29T22:00:60Z',
    1_764_453_600_000,
  ])('is not %j', (value) => {
    expect(accepts(UtcTime, value)).toBe(false);
  });
});

describe('an id', () => {
  it('is a UUID of any version in lower case', () => {
    fc.assert(fc.property(fc.uuid(), (value) => Uuid.parse(value) === value));
    fc.assert(
      fc.property(fc.uuid(), (value) => {
        fc.pre(/[a-f]/.test(value));
        expect(accepts(Uuid, value.toUpperCase())).toBe(false);
      }),
    );
  });

  it.each([
    '',
    '0190b2f47c1d7e3a9b521f6c2d8e4a01',
    '{0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01}',
    ' 0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  ])('is not %j', (value) => {
    expect(accepts(Uuid, value)).toBe(false);
  });
});

describe('a handle', () => {
  it.each(['ab', 'a-', 'a_b-9', `a${'b'.repeat(39)}`])('is %s', (value) => {
    expect(Handle.parse(value)).toBe(value);
  });
  it.each(['a', '1a', '-a', 'Ab', 'a.b', 'ä1', 'ab ', 'ab\n', `a${'b'.repeat(40)}`, '@ab'])(
    'is not %j',
    (value) => {
      expect(accepts(Handle, value)).toBe(false);
    },
  );
});
