import {
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import { ack, group, send } from './support.js';

let t: TestApi;
let alice: TestAgent;
let grace: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  alice = await t.agent('alice');
  grace = await registerHuman(t);
});
afterAll(() => t.close());

const status = () => textMessage('', { type: 'status', payload: { state: 'idle' } });

async function cursors(room: string, who: TestAgent) {
  const { body } = await t.api.call('listRooms', { token: who.token, expect: 200 });
  const found = body.find(({ id }) => id === room);
  return [found?.sequence, found?.deliveredSequence, found?.seenSequence];
}

const see = async (room: string, sequence: string) => {
  const options = { token: grace.token, params: { room }, body: { sequence, seen: true } };
  return (await t.api.call('ackRoom', { ...options, expect: 200 })).body;
};

test('what a person has seen is apart from what was delivered, and agents have no such cursor', async () => {
  const room = await group(t, alice, grace);
  for (let i = 0; i < 3; i++) await send(t, alice, room);
  expect(await cursors(room, grace)).toEqual(['3', '0', '0']);
  expect(await ack(t, grace, room, '3')).toBe('3');
  expect(await cursors(room, grace)).toEqual(['3', '3', '0']);
  expect(await see(room, '2')).toEqual({ deliveredSequence: '3', seenSequence: '2' });
  expect(await see(room, '1')).toEqual({ deliveredSequence: '3', seenSequence: '2' });
  expect(await cursors(room, alice)).toEqual(['3', '3', undefined]);
});

test('seen passes own messages that follow, but not live events of others', async () => {
  const room = await group(t, alice, grace);
  await send(t, alice, room);
  await send(t, grace, room);
  await send(t, alice, room, status());
  expect(await see(room, '1')).toEqual({ deliveredSequence: '3', seenSequence: '2' });
  expect(await see(room, '3')).toEqual({ deliveredSequence: '3', seenSequence: '3' });
});

test('what a person sends moves its cursors up to the first message of somebody else', async () => {
  const room = await group(t, alice, grace);
  await send(t, grace, room);
  expect(await cursors(room, grace)).toEqual(['1', '1', '1']);
  await send(t, alice, room);
  await send(t, grace, room);
  expect(await cursors(room, grace)).toEqual(['3', '1', '1']);
  await see(room, '2');
  expect(await cursors(room, grace)).toEqual(['3', '3', '3']);
});
