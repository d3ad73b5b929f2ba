import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  openToken,
  seedAgents,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { ApiClient, ApiReply } from '@relayger/kernel/testing';
import {
  type ErrorBody,
  type MailboxItem,
  type Message,
  type Receipt,
  type Room,
  type SendMessage,
} from '@relayger/protocol';

type Sender = Pick<TestAgent, 'token'>;

/** A group of `owner` with these members. */
export async function group(
  t: TestApi,
  owner: TestAgent,
  ...members: TestAgent[]
): Promise<string> {
  const { body } = await t.api.call('createRoom', {
    token: owner.token,
    body: { name: 'lab' },
    expect: 201,
  });
  for (const member of members) await join(t, owner, body.id, member);
  return body.id;
}

export async function join(t: TestApi, owner: Sender, room: string, member: TestAgent) {
  const params = { room, identity: member.id };
  await t.api.call('addMember', { token: owner.token, params, expect: 201 });
}

/** Sends something that must be stored. */
export async function send(
  { api }: { api: ApiClient },
  { token }: Sender,
  room: string,
  message: SendMessage | string = 'hello',
): Promise<Receipt> {
  const body = typeof message === 'string' ? textMessage(message) : message;
  const query = { view: 'receipt' as const };
  const reply = await api.call('sendMessage', {
    token,
    params: { room },
    query,
    body,
    expect: 201,
  });
  return reply.body as Receipt;
}

/** Sends something that must be refused; the first issue's path for `invalid_request`, else the code. */
export async function refusal(
  t: TestApi,
  { token }: Sender,
  room: string,
  body: unknown,
  status = 400,
): Promise<string> {
  const reply = await t.api.call('sendMessage', {
    token,
    params: { room },
    body,
    expect: status as 400,
  });
  return reason(reply);
}

export function reason(reply: ApiReply<ErrorBody>): string {
  const { code, details } = reply.body.error;
  const [issue] = (details as { issues?: { path: string }[] } | undefined)?.issues ?? [];
  return issue?.path ?? code;
}

/** Any number of calls at once; the replies whatever their status. */
export function sendRaw(
  { api }: { api: ApiClient },
  { token }: Sender,
  room: string,
  body: SendMessage | string,
): Promise<ApiReply<unknown>> {
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body);
  return api.raw('POST', `/v1/rooms/${room}/messages?view=receipt`, { token, rawBody });
}

/** All that a room holds, over as many pages as it takes. */
export async function wholeHistory(
  { api }: { api: ApiClient },
  { token }: Sender,
  room: string,
): Promise<Message[]> {
  const all: Message[] = [];
  for (let after = '0'; ; after = all.at(-1)?.sequence ?? '0') {
    const query = { after, limit: 100 };
    const page = await api.call('listMessages', { token, params: { room }, query, expect: 200 });
    all.push(...page.body);
    if (page.body.length < 100) return all;
  }
}

interface MailboxQuery {
  limit?: number;
  wait?: number;
  consume?: '0' | '1';
}

export async function mailbox(
  { api }: { api: ApiClient },
  { token }: Sender,
  query: MailboxQuery = {},
  signal?: AbortSignal,
): Promise<{ items: MailboxItem[]; requests: number; ms: number }> {
  const started = performance.now();
  const options = { token, query, expect: 200 as const, ...(signal && { signal }) };
  const { body, headers } = await api.call('readMailbox', options);
  const ms = performance.now() - started;
  return { items: body, requests: Number(headers['relayger-contact-requests']), ms };
}

/** Consumes until nothing is pending. */
export async function drain(
  t: { api: ApiClient },
  who: Sender,
  limit = 100,
): Promise<MailboxItem[]> {
  const all: MailboxItem[] = [];
  for (;;) {
    const { items } = await mailbox(t, who, { consume: '1', limit });
    if (items.length === 0) return all;
    all.push(...items);
  }
}

export async function ack(t: TestApi, { token }: Sender, room: string, sequence: string) {
  const options = { token, params: { room }, body: { sequence }, expect: 200 as const };
  const { body } = await t.api.call('ackRoom', options);
  return body.deliveredSequence;
}

/** The room as its member sees it in the list. */
export async function roomOf(t: TestApi, { token }: Sender, room: string): Promise<Room> {
  const { body } = await t.api.call('listRooms', { token, expect: 200 });
  const found = body.find(({ id }) => id === room);
  if (!found) throw new Error(`the room ${room} is not listed`);
  return found;
}

export const seqs = (items: readonly MailboxItem[]): number[] =>
  items.map(({ seq }) => Number(seq));

/** The agent with another token of its own. */
export async function tokenFor(
  t: TestApi,
  agent: TestAgent,
  options: Parameters<typeof openToken>[2] = {},
): Promise<TestAgent> {
  return { ...agent, token: await openToken(t, agent, options) };
}

/** As many agents as a test needs, without the cost of registering them. */
export function crowd(t: TestApi, count: number): Promise<TestAgent[]> {
  return seedAgents(
    t,
    upTo(count).map(() => `c-${randomUUID()}`),
  );
}

/** Long enough for a request that was just sent to be waiting in the server; nothing outside can see it wait. */
export const parked = () => sleep(150);

/** `count` numbered from 1. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
