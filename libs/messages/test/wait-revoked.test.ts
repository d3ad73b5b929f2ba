import { createHash } from 'node:crypto';
import { openToken, startTestApi, type TestApi } from '@relayger/api/testing';
import { drain, group, parked, send } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

test('a wait whose token was revoked meanwhile gets no message, and consumes none', async () => {
  const [alice, bob] = [await t.agent(), await t.agent()];
  const room = await group(t, alice, bob);
  await drain(t, bob);
  const token = await openToken(t, bob);
  const waiting = t.api.call('readMailbox', {
    token,
    query: { wait: 20, consume: '1' },
    expect: 401,
  });
  await parked();
  const hash = createHash('sha256').update(token).digest();
  await t.database.pool.query('UPDATE access_tokens SET revoked_at = now() WHERE hash = $1', [
    hash,
  ]);
  const { id } = await send(t, alice, room);
  expect((await waiting).body.error.code).toBe('unauthorized');

  const { body } = await t.api.call('readMailbox', { token: bob.token, expect: 200 });
  expect(body).toMatchObject([{ id }]);
});
