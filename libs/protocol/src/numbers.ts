/**
 * Permanent numbers: 10 digits, the first 1-9, the last a Luhn check digit (ISO/IEC 7812-1 annex B). The check
 * catches every single-digit typo and every swap of neighbours except 09 <-> 90.
 */

/** The Luhn check digit that belongs behind these digits. */
export function checkDigit(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const weighed = i % 2 === 0 ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return (10 - (sum % 10)) % 10;
}

/** Whether these 10 digits are a number, or which of the two errors of the contract they are. */
export function numberProblem(
  digits: string,
): 'invalid_number' | 'invalid_number_check_digit' | null {
  if (!/^[1-9][0-9]{9}$/.test(digits)) return 'invalid_number';
  return checkDigit(digits.slice(0, 9)) === Number(digits[9]) ? null : 'invalid_number_check_digit';
}

/**
 * Builds a number from a source of uniform random integers.
 * @param below returns an integer from 0 up to, not including, its argument
 */
export function drawNumber(below: (limit: number) => number): string {
  const stem = String(100_000_000 + below(900_000_000));
  return stem + checkDigit(stem);
}
