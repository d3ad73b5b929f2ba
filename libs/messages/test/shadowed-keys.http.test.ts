import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { group, mailbox } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = [await t.agent(), await t.agent()];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

const DEEP = `${'['.repeat(31_000)}${']'.repeat(31_000)}`;

// JSON.parse takes the last of several equal keys, so validation never sees the others.
test.each([
  ['U+0000', String.raw`"hidden text \u0000"`],
  ['half a surrogate pair', String.raw`"hidden text \ud800"`],
  ['a text over the limit', `"${'x'.repeat(40_000)}"`],
  ['thousands of levels', DEEP],
])('what a shadowed key hides is neither stored nor a failure: %s', async (_, hidden) => {
  const rawBody =
    `{"schemaVersion":1,"type":"text","clientMessageId":"${randomUUID()}",` +
    `"payload":{"text":${hidden},"text":"ok"}}`;
  const options = { token: alice.token, params: { room }, rawBody, expect: 201 as const };
  await t.api.call('sendMessage', options as never);
  const { rows } = await t.database.pool.query(
    'SELECT payload::text FROM messages WHERE room_id = $1 ORDER BY seq DESC LIMIT 1',
    [room],
  );
  expect(rows).toEqual([{ payload: '{"text":"ok"}' }]);
  const { items } = await mailbox(t, bob, { consume: '1' });
  expect(items.map(({ body }) => body)).toEqual([{ text: 'ok' }]);
});
