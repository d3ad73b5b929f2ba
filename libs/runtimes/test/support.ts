import { randomUUID } from 'node:crypto';
import {
  openToken,
  seedAgents,
  type TestAgent,
  type TestApi,
  textMessage,
} from '@relayger/api/testing';
import type { ApiClient } from '@relayger/kernel/testing';
import type {
  FinishRequest,
  Receipt,
  Runtime,
  RuntimeDelivery,
  RuntimePolicyInput,
  SendMessage,
} from '@relayger/protocol';

type Door = Pick<TestApi, 'api'>;
type Sender = Pick<TestAgent, 'token'>;

/** As many agents as a test needs, without the cost of registering them. */
export function crowd(t: TestApi, count: number): Promise<TestAgent[]> {
  return seedAgents(
    t,
    Array.from({ length: count }, () => `r-${randomUUID()}`),
  );
}

/** Two friends: whoever asks, and whoever works. */
export async function pair(t: TestApi): Promise<{ asker: TestAgent; worker: TestAgent }> {
  const [asker, worker] = (await crowd(t, 2)) as [TestAgent, TestAgent];
  await t.befriend(asker, worker);
  return { asker, worker };
}

/** A pair, the worker's runtime and one question for it. */
export async function asked(
  t: TestApi,
  policy: RuntimePolicyInput = {},
): Promise<{ asker: TestAgent; worker: TestAgent; id: string; question: Receipt }> {
  const { asker, worker } = await pair(t);
  const { id } = await register(t, worker, { policy });
  return { asker, worker, id, question: await ask(t, asker, worker) };
}

export async function register(
  { api }: Door,
  { token }: Sender,
  {
    name = 'worker',
    from = 'beginning' as 'beginning' | 'now',
    policy = {} as RuntimePolicyInput,
  } = {},
): Promise<Runtime> {
  const body = { name, from, policy };
  return (await api.call('registerRuntime', { token, body, expect: 201 })).body;
}

export const question = (text: string, more: Partial<SendMessage> = {}): SendMessage =>
  textMessage(text, { attention: { kind: 'question' }, ...more } as Partial<SendMessage>);

/** Sends directly; a question unless something else is given. */
export async function ask(
  { api }: Door,
  { token }: Sender,
  to: TestAgent,
  message: SendMessage | string = 'what is it?',
): Promise<Receipt> {
  const body = {
    target: to.number,
    message: typeof message === 'string' ? question(message) : message,
  };
  return (await api.call('sendDirect', { token, body, expect: 201 })).body as Receipt;
}

/** A group of the first with the others. */
export async function group(t: TestApi, owner: TestAgent, ...members: TestAgent[]) {
  const { token } = owner;
  const { body } = await t.api.call('createRoom', { token, body: { name: 'lab' }, expect: 201 });
  for (const { id } of members)
    await t.api.call('addMember', { token, params: { room: body.id, identity: id }, expect: 201 });
  return body.id;
}

export async function say(
  { api }: Door,
  { token }: Sender,
  room: string,
  message: SendMessage,
): Promise<Receipt> {
  const query = { view: 'receipt' as const };
  const options = { token, params: { room }, query, body: message, expect: 201 as const };
  return (await api.call('sendMessage', options)).body as Receipt;
}

/** The next job, or null. */
export async function claim(
  { api }: Door,
  { token }: Sender,
  id: string,
): Promise<RuntimeDelivery | null> {
  const options = { token, params: { id }, body: {}, expect: 200 as const };
  return (await api.call('claimRuntimeJob', options)).body.delivery;
}

/** The next job, which must be there. */
export async function take(t: Door, who: Sender, id: string): Promise<RuntimeDelivery> {
  const delivery = await claim(t, who, id);
  if (!delivery) throw new Error('there is no job');
  return delivery;
}

export const leaseOf = ({ id, owner, version }: RuntimeDelivery) => ({
  deliveryId: id,
  owner,
  version,
});

type Report = Partial<Pick<FinishRequest, 'outcome' | 'reply' | 'note' | 'usage'>>;

export async function finish(
  { api }: Door,
  { token }: Sender,
  id: string,
  delivery: RuntimeDelivery,
  report: Report = {},
) {
  const body = { ...leaseOf(delivery), outcome: 'handled' as const, ...report };
  return (await api.call('finishRuntimeJob', { token, params: { id }, body, expect: 200 })).body;
}

interface Refusal {
  expect: number;
}

/** The code with which a heartbeat is refused. */
export async function refusedHeartbeat(
  { api }: { api: ApiClient },
  { token }: Sender,
  id: string,
  delivery: RuntimeDelivery,
  { expect }: Refusal,
): Promise<string> {
  const options = { token, params: { id }, body: leaseOf(delivery), expect: expect as 409 };
  return (await api.call('heartbeatRuntimeJob', options)).body.error.code;
}

/** The code with which a report is refused; the path of the field for `invalid_request`. */
export async function refusedFinish(
  { api }: { api: ApiClient },
  { token }: Sender,
  id: string,
  delivery: RuntimeDelivery,
  { expect, ...report }: Refusal & { [field: string]: unknown },
): Promise<string> {
  const body = { ...leaseOf(delivery), outcome: 'handled', ...report };
  const options = { token, params: { id }, body, expect: expect as 409 };
  const { error } = (await api.call('finishRuntimeJob', options)).body;
  const [issue] = (error.details as { issues?: { path: string }[] } | undefined)?.issues ?? [];
  return issue?.path ?? error.code;
}

/** States of the jobs of a runtime, oldest first. */
export async function states({ api }: Door, { token }: Sender, id: string): Promise<string[]> {
  const query = { limit: 100 };
  const { body } = await api.call('getRuntimeLog', { token, params: { id }, query, expect: 200 });
  return body.map(({ state }) => state).reverse();
}

/** The leases of a runtime end now, as when their holders have crashed. */
export async function endLeases({ database }: TestApi, id: string): Promise<void> {
  await database.pool.query(
    `UPDATE runtime_deliveries SET due_at = now() - interval '1 second' WHERE runtime_id = $1 AND state = 'leased'`,
    [id],
  );
}

/** Jobs that wait for their next attempt can be taken now. */
export async function endPauses({ database }: TestApi, id: string): Promise<void> {
  await database.pool.query(
    `UPDATE runtime_deliveries SET due_at = now() WHERE runtime_id = $1 AND state = 'pending'`,
    [id],
  );
}

/** The agent with another token of its own. */
export async function tokenFor(
  t: TestApi,
  agent: TestAgent,
  options: Parameters<typeof openToken>[2] = {},
): Promise<TestAgent> {
  return { ...agent, token: await openToken(t, agent, options) };
}

/** `count` numbered from 1. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
