import {
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { LIMITS } from '@relayger/protocol';
import { group, send } from '../../messages/test/support.js';
import { listen, listenToRuntime, until } from './support.js';

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = (await seedAgents(t, ['alice', 'bob'])) as [TestAgent, TestAgent];
  room = await group(t, alice, bob);
});
afterAll(() => t.close());

const update = (bytes: number) => JSON.stringify({ state: 'idle' }).padEnd(bytes);

describe('a frame that is no presence update ends the socket with 1008', () => {
  it.each([
    ['no JSON', 'idle'],
    ['empty', ''],
    ['another kind of JSON', '"idle"'],
    ['an array', '[{"state":"idle"}]'],
    ['null', 'null'],
    ['an unknown state', '{"state":"asleep"}'],
    ['a state that is no text', '{"state":1}'],
    ['no state', '{}'],
    ['an unknown field', '{"state":"idle","room":"x"}'],
    ['a prototype', '{"state":"idle","__proto__":{}}'],
    ['a key that ends in a backslash', '{"state\\\\":"idle"}'],
    ['a message', '{"schemaVersion":1,"type":"text","payload":{"text":"hi"}}'],
    ['binary', Buffer.from('{"state":"idle"}')],
    ['a byte too many', update(LIMITS.socketFrameBytes + 1)],
    ['far too large', update(1_000_000)],
  ])('%s', async (_, frame) => {
    const client = await listen(t, bob, room);
    client.socket.send(frame);
    expect((await client.closed).code).toBe(1008);
    expect(client.frames).toEqual([]);
  });

  it('a state by a token that may not write', async () => {
    const reader = { ...bob, token: await openToken(t, bob, { scopes: ['read'] }) };
    const client = await listen(t, reader, room);
    client.socket.send(update(20));
    expect((await client.closed).code).toBe(1008);
  });

  it('on a runtime socket too', async () => {
    const client = await listenToRuntime(t, bob);
    client.socket.send('{"claim":true}');
    expect((await client.closed).code).toBe(1008);
  });

  it('broken UTF-8, and frames that break the protocol', async () => {
    const text = await listen(t, bob, room);
    // A text frame (opcode 1, masked with zeros) whose one byte is no UTF-8.
    rawSocket(text).write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]));
    expect((await text.closed).code).toBe(1008);
    const unmasked = await listen(t, bob, room);
    rawSocket(unmasked).write(Buffer.from([0x81, 0x01, 0x41]));
    expect((await unmasked.closed).code).toBe(1008);
  });

  it('a text in pieces counts as one frame', async () => {
    const client = await listen(t, bob, room);
    const half = ' '.repeat(LIMITS.socketFrameBytes);
    client.socket.send(half, { fin: false });
    client.socket.send(half, { fin: true });
    expect((await client.closed).code).toBe(1008);
  });
});

test('an update of exactly 4096 bytes, and in any writing of JSON, is taken', async () => {
  const client = await listen(t, bob, room);
  client.socket.send(update(LIMITS.socketFrameBytes));
  client.socket.send(' {"state":"\\u0069dle" }\n');
  await send(t, alice, room, 'still there?');
  await client.until(1);
  await client.close();
});

test('a flood of updates ends the socket, and costs few writes', async () => {
  const client = await listen(t, bob, room);
  const state = async () => {
    const { rows } = await t.database.pool.query<{ state: string; version: string }>(
      `SELECT state, xmin::text AS version FROM presences WHERE identity_id = $1`,
      [bob.id],
    );
    return rows[0];
  };
  for (let i = 0; i < 2_000; i++) client.socket.send('{"state":"working"}');
  expect(await client.closed).toMatchObject({ code: 1008, reason: 'too many frames' });
  await until(async () => (await state())?.state === 'working');
});

test('twenty updates within ten seconds are none', async () => {
  const client = await listen(t, bob, room);
  for (let i = 0; i < 20; i++) client.socket.send('{"state":"waiting"}');
  await send(t, alice, room, 'still there?');
  await client.until(1);
  await client.close();
});

/** The TCP connection under a client, for bytes that no client would send. */
function rawSocket(client: { socket: object }) {
  return Reflect.get(client.socket, '_socket') as { write(data: Buffer): void };
}
