import { randomUUID } from 'node:crypto';
import {
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { Receipt, Scope } from '@relayger/protocol';
import { drain, group, mailbox, reason, refusal, tokenFor, upTo, wholeHistory } from './support.js';

let t: TestApi;
beforeAll(async () => {
  t = await startTestApi();
});
afterAll(() => t.close());

const pair = async (): Promise<[TestAgent, TestAgent]> => {
  const both = await Promise.all([t.agent(), t.agent()]);
  await t.befriend(...both);
  return both;
};

async function direct(from: TestAgent, target: string, message = textMessage('hello')) {
  const body = { target, message };
  const reply = await t.api.call('sendDirect', { token: from.token, body, expect: 201 });
  return reply.body as Receipt;
}

async function refused(from: TestAgent, target: string, status: number): Promise<string> {
  const body = { target, message: textMessage('hello') };
  const reply = await t.api.call('sendDirect', {
    token: from.token,
    body,
    expect: status as 400,
  });
  return reason(reply);
}

async function rooms(of: TestAgent): Promise<string[]> {
  const { body } = await t.api.call('listRooms', { token: of.token, expect: 200 });
  return body.map(({ id }) => id);
}

const act = (verb: 'block' | 'unblock' | 'remove', who: TestAgent, peer: TestAgent) =>
  t.api.call(`${verb}Contact` as const, {
    token: who.token,
    params: { address: peer.id },
    body: {},
    expect: 200,
  });

test('number, spaced number, handle and UUID lead to one conversation, from both sides', async () => {
  const [a, b] = await pair();
  const spaced = `+${b.number.slice(0, 3)} ${b.number.slice(3, 6)}-${b.number.slice(6)}`;
  const sent = [];
  for (const target of [b.number, spaced, `@${b.handle}`, b.handle, b.id]) {
    sent.push(await direct(a, target));
  }
  sent.push(await direct(b, a.number));
  expect(sent.map(({ seq }) => seq)).toEqual(upTo(6).map(String));
  expect(new Set(sent.map(({ room }) => room)).size).toBe(1);
  expect(await rooms(a)).toEqual(await rooms(b));
});

test('20 parallel first sends under one key open one conversation with one message', async () => {
  for (const _ of upTo(5)) {
    const [a, b] = await pair();
    const body = { target: b.number, message: textMessage('first') };
    const replies = await Promise.all(
      upTo(20).map(() => t.api.raw('POST', '/v1/direct', { token: a.token, body })),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([...upTo(19).map(() => 200), 201]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    const [room = ''] = await rooms(b);
    expect(await rooms(b)).toHaveLength(1);
    expect(await wholeHistory(t, b, room)).toHaveLength(1);
  }
});

test('parallel first sends of both sides open one conversation and lose nothing', async () => {
  for (const _ of upTo(5)) {
    const [a, b] = await pair();
    const sends = upTo(10).flatMap(() => [direct(a, b.number), direct(b, a.number)]);
    const sent = await Promise.all(sends);
    const [room = ''] = await rooms(a);
    expect(new Set(sent.map((receipt) => receipt.room))).toEqual(new Set([room]));
    const history = await wholeHistory(t, a, room);
    expect(history.map(({ sequence }) => sequence)).toEqual(upTo(20).map(String));
    expect(new Set(history.map(({ messageId }) => messageId))).toEqual(
      new Set(sent.map(({ id }) => id)),
    );
  }
});

test('a stranger is refused and nothing is opened', async () => {
  const [a, b] = await Promise.all([t.agent(), t.agent()]);
  expect(await refused(a, b.number, 403)).toBe('contact_required');
  await t.api.call('requestContact', {
    token: a.token,
    params: { address: b.number },
    body: {},
    expect: 200,
  });
  expect(await refused(a, b.number, 403)).toBe('contact_required');
  expect(await refused(b, a.number, 403)).toBe('contact_required');
  expect([await rooms(a), await rooms(b)]).toEqual([[], []]);
});

test('a first send that is refused for its content opens nothing', async () => {
  const [a, b] = await pair();
  const message = textMessage('x', { replyTo: randomUUID() });
  const body = { target: b.number, message };
  await t.api.call('sendDirect', { token: a.token, body, expect: 400 });
  expect(await rooms(a)).toEqual([]);
});

test('addresses that lead nowhere', async () => {
  const a = await t.agent();
  const wrong = `${a.number.slice(0, 9)}${(Number(a.number[9]) + 1) % 10}`;
  expect(await refused(a, a.number, 400)).toBe('invalid_target');
  expect(await refused(a, `@${a.handle}`, 400)).toBe('invalid_target');
  expect(await refused(a, wrong, 400)).toBe('invalid_number_check_digit');
  expect(await refused(a, '123', 400)).toBe('invalid_number');
  expect(await refused(a, '@no-such-agent', 404)).toBe('not_found');
  expect(await refused(a, randomUUID(), 404)).toBe('not_found');
  expect(await refused(a, 'Nobody!', 400)).toBe('body.target');
});

test('without friendship the conversation stays readable and refuses messages, by both calls', async () => {
  const [a, b] = await pair();
  const { room } = await direct(a, b.number);
  await act('remove', b, a);
  for (const [who, peer] of [
    [a, b],
    [b, a],
  ] as const) {
    expect(await refused(who, peer.number, 403)).toBe('contact_required');
    expect(await refusal(t, who, room, textMessage('hello'), 403)).toBe('contact_required');
    expect(await wholeHistory(t, who, room)).toHaveLength(1);
  }
  expect((await mailbox(t, b)).items).toHaveLength(1);
});

test('a block refuses messages by both calls and hides the conversation until it is lifted', async () => {
  const [a, b] = await pair();
  const { room, id } = await direct(a, b.number);
  await act('block', b, a);
  for (const [who, peer] of [
    [a, b],
    [b, a],
  ] as const) {
    const { token } = who;
    const params = { room };
    expect(await refused(who, peer.number, 403)).toBe('contact_unavailable');
    expect(await refusal(t, who, room, textMessage('hello'), 403)).toBe('contact_unavailable');
    await t.api.call('listMessages', { token, params, expect: 404 });
    await t.api.call('ackRoom', { token, params, body: { sequence: '1' }, expect: 404 });
    expect(await rooms(who)).toEqual([]);
    expect(await drain(t, who)).toEqual([]);
  }
  await act('unblock', b, a);
  expect(await refusal(t, a, room, textMessage('hello'), 403)).toBe('contact_required');
  await t.befriend(a, b);
  expect((await direct(a, b.number)).seq).toBe('2');
  expect((await drain(t, b)).map((item) => item.id)).toContain(id);
});

test('a block does not touch a group that both are in', async () => {
  const [a, b] = await pair();
  const room = await group(t, a, b);
  await act('block', b, a);
  const { token } = a;
  await t.api.call('sendMessage', { token, params: { room }, body: textMessage('x'), expect: 201 });
  expect((await mailbox(t, b)).items).toMatchObject([{ room, body: { text: 'x' } }]);
});

test('people need no friendship among themselves, but with an agent they do', async () => {
  const [anna, otto] = await Promise.all([registerHuman(t), registerHuman(t)]);
  const { room } = await direct(anna, otto.number);
  expect((await direct(otto, `@${anna.handle}`)).room).toBe(room);
  expect(await drain(t, otto)).toHaveLength(1);

  const agent = await t.agent();
  expect(await refused(anna, agent.number, 403)).toBe('contact_required');
  expect(await refused(agent, anna.number, 403)).toBe('contact_required');
  await act('block', otto, anna);
  expect(await refused(anna, otto.number, 403)).toBe('contact_unavailable');
  await act('unblock', otto, anna);
  expect((await direct(anna, otto.number)).seq).toBe('3');
});

test('opening a conversation needs the rooms scope and an unrestricted token, using it does not', async () => {
  const [a, b] = await pair();
  const scopes: Scope[] = ['write'];
  const narrow = await tokenFor(t, a, { scopes });
  const limited = await tokenFor(t, a, { roomIds: [] });
  expect(await refused(narrow, b.number, 403)).toBe('insufficient_scope');
  expect(await refused(limited, b.number, 403)).toBe('room_restricted_token');
  expect(await rooms(a)).toEqual([]);

  const { room } = await direct(a, b.number);
  await direct(narrow, b.number);
  await direct(await tokenFor(t, a, { scopes, roomIds: [room] }), b.number);
  expect(await refused(limited, b.number, 404)).toBe('not_found');
  const readOnly = await tokenFor(t, a, { scopes: ['read', 'rooms'] });
  expect(await refused(readOnly, b.number, 403)).toBe('insufficient_scope');
});
