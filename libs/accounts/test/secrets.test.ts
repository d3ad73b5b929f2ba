import {
  hashRecoveryKey,
  hashToken,
  newPassword,
  newRecoveryKey,
  newToken,
} from '../src/secrets.js';

test('generated secrets use every symbol of the alphabet and no other, without repeats', () => {
  const passwords = Array.from({ length: 500 }, newPassword);
  expect(new Set(passwords).size).toBe(500);
  const symbols = new Set(passwords.join(''));
  expect([...symbols].sort().join('')).toBe('23456789ABCDEFGHJKMNPQRSTUVWXYZ');
  // 24 symbols of 31: 118.9 bits.
  expect(24 * Math.log2(symbols.size)).toBeGreaterThan(118);
  expect(newRecoveryKey()).toMatch(/^RK(-[2-9A-HJKMNP-Z]{4}){6}$/);
});

test('a recovery key belongs to one identity, however it is spelled', () => {
  const key = 'RK-2345-6789-ABCD-EFGH-JKMN-PQRS';
  const stored = hashRecoveryKey('a', key);
  for (const spelling of [key.toLowerCase(), key.slice(3), ` ${key.replaceAll('-', ' ')} `]) {
    expect(hashRecoveryKey('a', spelling)).toEqual(stored);
  }
  expect(hashRecoveryKey('b', key)).not.toEqual(stored);
  expect(hashRecoveryKey('a', key.replace('S', 'T'))).not.toEqual(stored);
});

test('only what looks like a token is looked up', () => {
  const token = newToken();
  expect(hashToken(token)).toHaveLength(32);
  for (const other of ['', token.slice(1), `${token}A`, token.replace('rly_', 'rlx_')]) {
    expect(hashToken(other)).toBeNull();
  }
});
