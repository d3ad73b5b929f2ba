import { LIMITS } from '@relayger/protocol';
import { Transfers } from '../src/transfers.js';

test('a process has as many transfers under way as it can bear; others are told when to come back', () => {
  const transfers = new Transfers();
  const ends: (() => void)[] = [];
  for (let who = 0; who < 16; who++)
    for (let i = 0; i < LIMITS.transfers; i++) ends.push(transfers.begin(`identity-${who}`));
  const begin = (who: string) => () => transfers.begin(who);
  expect(begin('another')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  // Whoever has its own share is told of that.
  expect(begin('identity-0')).toThrow(expect.objectContaining({ code: 'too_many_transfers' }));
  ends.pop()?.();
  ends.push(transfers.begin('another'));
  expect(begin('identity-15')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  for (const end of ends) end();
  expect(begin('identity-0')).not.toThrow();
});
