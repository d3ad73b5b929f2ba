import { seedAgents, startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { group, upTo } from '../../messages/test/support.js';
import { Client, listen, until } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
const TEXT = 'x'.repeat(15_900);
const COUNT = 800;
beforeAll(async () => {
  t = await startTestApi({ SOCKET_DRAIN_SECONDS: '2' });
  [alice, bob] = (await seedAgents(t, ['alice', 'bob'])) as [TestAgent, TestAgent];
  room = await group(t, alice, bob);
  // 12 MB, more than the buffers of a connection on one machine hold.
  await t.database.pool.query(
    `WITH bumped AS (UPDATE rooms SET last_seq = $3 WHERE id = $1)
     INSERT INTO messages (room_id, seq, id, sender_id, client_message_id, fingerprint, type, payload, mentions, trace_id)
     SELECT $1, n, gen_random_uuid(), $2, gen_random_uuid(), sha256(n::text::bytea), 'text',
            json_build_object('text', n || $4::text), '{}', gen_random_uuid()
     FROM generate_series(1, $3::int) AS n`,
    [room, alice.id, COUNT, TEXT],
  );
});
afterAll(() => t.close());

/** A client that stops reading at once. */
async function idler(after = 0): Promise<Client> {
  const client = await listen(t, bob, room, after);
  client.socket.pause();
  return client;
}

test('a reader that does not read is dropped with 1013, and holds up nobody', async () => {
  const held = () => process.memoryUsage().arrayBuffers;
  const before = held();
  // Each from another place, so that they cannot share what they were sent.
  const slow = await Promise.all(upTo(10).map((i) => idler(i)));
  const started = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  // Ten times 12 MB are waiting for them; the server holds a slice of each.
  expect(held() - before).toBeLessThan(40_000_000);
  const fast = await listen(t, alice, room, 0);
  await fast.until(COUNT);
  // Reading on shows what had been on its way, in order, and then the end.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  for (const client of slow) client.socket.resume();
  for (const client of slow) {
    const { code } = await client.closed;
    expect([1013, 1006]).toContain(code);
    const from = client.sequences[0] ?? 1;
    expect(client.sequences).toEqual(upTo(client.frames.length).map((i) => i + from - 1));
    expect(client.frames.length).toBeLessThan(COUNT - 100);
  }
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(fast.sequences).toEqual(upTo(COUNT));
  await fast.close();
});

test('one that reads slowly gets everything', async () => {
  const client = await listen(t, bob, room, 0);
  while (client.frames.length < COUNT) {
    client.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = client.frames.length;
    client.socket.resume();
    await until(() => client.frames.length > before);
  }
  expect(client.sequences).toEqual(upTo(COUNT));
  await client.close();
});

test('a permission that ends reaches the one that does not read too', async () => {
  const client = await idler();
  const params = { room, identity: bob.id };
  await new Promise((resolve) => setTimeout(resolve, 300));
  await t.api.call('removeMember', { token: alice.token, params, expect: 200 });
  client.socket.resume();
  const { code } = await client.closed;
  expect([1008, 1006]).toContain(code);
  expect(client.frames.length).toBeLessThan(COUNT);
});
