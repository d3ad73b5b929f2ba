import fc from 'fast-check';
import { checkDigit, drawNumber, numberProblem } from '../src/index.js';

/** A valid number. */
const number = fc.integer({ min: 0, max: 899_999_999 }).map((drawn) => drawNumber(() => drawn));

describe('numbers', () => {
  it.each([
    ['7992739871', 3],
    ['123456789', 7],
    ['000000000', 0],
    ['1', 8],
    ['', 0],
  ])('the Luhn check digit of %s is %i', (digits, digit) => {
    expect(checkDigit(digits)).toBe(digit);
  });

  it('are drawn from the whole range and are valid', () => {
    expect(drawNumber(() => 0).slice(0, 9)).toBe('100000000');
    expect(drawNumber((limit) => limit - 1).slice(0, 9)).toBe('999999999');
    fc.assert(fc.property(number, (drawn) => numberProblem(drawn) === null));
  });

  it('show every typo in a single digit', () => {
    fc.assert(
      fc.property(number, (drawn) => {
        for (let at = 0; at < 10; at++) {
          for (const digit of '0123456789') {
            if (digit === drawn[at]) continue;
            const typed = drawn.slice(0, at) + digit + drawn.slice(at + 1);
            const first = at === 0 && digit === '0';
            expect(numberProblem(typed)).toBe(
              first ? 'invalid_number' : 'invalid_number_check_digit',
            );
          }
        }
      }),
    );
  });

  it('show every swap of neighbours but 09 and 90', () => {
    fc.assert(
      fc.property(number, (drawn) => {
        for (let at = 0; at < 9; at++) {
          const pair = drawn.slice(at, at + 2);
          const swapped = `${pair[1]}${pair[0]}`;
          const typed = drawn.slice(0, at) + swapped + drawn.slice(at + 2);
          if (swapped === pair) continue;
          const invisible = ['09', '90'].includes(pair) && typed[0] !== '0';
          expect(numberProblem(typed) === null).toBe(invisible);
        }
      }),
    );
  });

  it.each([
    '',
    '123456789',
    '12345678901',
    '0123456789',
    '123456789a',
    '１２３４５６７８９７',
    '1234567897\n',
  ])('%j is no number', (text) => {
    expect(numberProblem(text)).toBe('invalid_number');
  });
});
