import { LIMITS } from '@relayger/protocol';
import { Transfers } from '../src/transfers.js';

const code = (code: string) => expect.objectContaining({ code });

test('the more transfers a process has under way, the fewer one identity may hold', () => {
  const transfers = new Transfers();
  const hold = (who: string, count: number) => {
    for (let i = 0; i < count; i++) transfers.begin(who);
    expect(() => transfers.begin(who)).toThrow(code('too_many_transfers'));
  };
  for (let who = 0; who < 4; who++) hold(`a-${who}`, LIMITS.transfers);
  for (let who = 0; who < 8; who++) hold(`b-${who}`, LIMITS.transfers / 2);
  for (let who = 0; who < 16; who++) hold(`c-${who}`, LIMITS.transfers / 4);
  hold('d', 1);
  expect(() => transfers.begin('newcomer')).not.toThrow();
});

test('a process has as many transfers under way as it can bear; others are told when to come back', () => {
  const transfers = new Transfers();
  const ends: (() => void)[] = [];
  for (let who = 0; who < 128; who++) ends.push(transfers.begin(`identity-${who}`));
  const begin = (who: string) => () => transfers.begin(who);
  expect(begin('another')).toThrow(code('unavailable'));
  ends.pop()?.();
  ends.push(transfers.begin('another'));
  expect(begin('identity-127')).toThrow(code('unavailable'));
  for (const end of ends) end();
  for (let i = 0; i < LIMITS.transfers; i++) expect(begin('identity-0')).not.toThrow();
});
