import { randomUUID } from 'node:crypto';
import { seedAgents, type TestAgent, type TestApi } from '@relayger/api/testing';
import type { ApiClient, ApiReply } from '@relayger/kernel/testing';
import type {
  CreateTaskRequest,
  ErrorBody,
  Message,
  Task,
  TaskInput,
  UpdateTaskRequest,
} from '@relayger/protocol';

export type Caller = Pick<TestAgent, 'token'>;
/** A task that its worker holds. */
export type Held = Task & { leaseOwner: string };
type Api = { api: ApiClient };

/** Agents that did not register: a registration costs a password hash. */
export function crew(t: TestApi, count: number): Promise<TestAgent[]> {
  return seedAgents(
    t,
    Array.from({ length: count }, () => `c-${randomUUID()}`),
  );
}

/** A group of `owner` with these members. */
export async function group(
  { api }: Api,
  owner: Caller,
  ...members: { id: string }[]
): Promise<string> {
  const { token } = owner;
  const { body } = await api.call('createRoom', { token, body: { name: 'lab' }, expect: 201 });
  for (const { id } of members) {
    const params = { room: body.id, identity: id };
    await api.call('addMember', { token, params, expect: 201 });
  }
  return body.id;
}

/** A request for a task, of this content or an echo. */
export function order(
  roomId: string,
  { id: assigneeId }: { id: string },
  more: Partial<CreateTaskRequest> = {},
): CreateTaskRequest {
  const input: TaskInput = { operation: 'echo', text: 'hello' };
  return { roomId, assigneeId, clientTaskId: randomUUID(), input, ...more };
}

export async function create(
  { api }: Api,
  { token }: Caller,
  body: CreateTaskRequest,
): Promise<Task> {
  return (await api.call('createTask', { token, body, expect: 201 })).body;
}

/** A custom task's request. */
export function custom(
  roomId: string,
  assignee: { id: string },
  more: Partial<Extract<TaskInput, { operation: 'custom' }>> = {},
): CreateTaskRequest {
  const input = { operation: 'custom' as const, kind: 'translate.v1', title: 'Translate it' };
  return order(roomId, assignee, { input: { ...input, ...more } });
}

export async function get({ api }: Api, { token }: Caller, { id }: { id: string }): Promise<Task> {
  return (await api.call('getTask', { token, params: { id }, expect: 200 })).body;
}

export async function inbox({ api }: Api, { token }: Caller, limit?: number): Promise<Task[]> {
  const query = { ...(limit !== undefined && { limit }) };
  return (await api.call('listTasks', { token, query, expect: 200 })).body;
}

export async function claim(
  { api }: Api,
  { token }: Caller,
  { id }: { id: string },
): Promise<Held> {
  const reply = await api.call('claimTask', { token, params: { id }, body: {}, expect: 200 });
  const { leaseOwner, ...task } = reply.body;
  if (!leaseOwner) throw new Error('a claim answers its lease');
  return { ...task, leaseOwner };
}

type Change = UpdateTaskRequest extends infer U
  ? U extends UpdateTaskRequest
    ? Omit<U, 'version' | 'leaseOwner'>
    : never
  : never;

/** The body of an update under a lease. */
export function under({ version, leaseOwner }: Held, change: Change): UpdateTaskRequest {
  return { version, leaseOwner, ...change } as UpdateTaskRequest;
}

export async function update(
  { api }: Api,
  { token }: Caller,
  held: Held,
  change: Change,
): Promise<Held> {
  const options = { token, params: { id: held.id }, body: under(held, change) };
  const { body } = await api.call('updateTask', { ...options, expect: 200 });
  return { ...body, leaseOwner: held.leaseOwner };
}

export const DONE: Change = { state: 'completed', result: { text: 'done' } };

export async function cancel({ api }: Api, { token }: Caller, { id }: { id: string }) {
  return (await api.call('cancelTask', { token, params: { id }, body: {}, expect: 200 })).body;
}

/** Why a call of the contract was refused: the first issue's path for `invalid_request`, else the code. */
export async function refusal(
  { api }: Api,
  { token }: Caller,
  operation: 'createTask' | 'claimTask' | 'updateTask' | 'cancelTask' | 'getTask' | 'sendMessage',
  status: number,
  { params, body }: { params?: Record<string, string>; body?: unknown } = {},
): Promise<string> {
  const options = { token, ...(params && { params }), ...(body !== undefined && { body }) };
  return reason(await api.call(operation, { ...options, expect: status as 400 }));
}

/** The same for a call about one task. */
export function refused(
  t: Api,
  who: Caller,
  operation: 'claimTask' | 'updateTask' | 'cancelTask' | 'getTask',
  { id }: { id: string },
  status: number,
  body?: unknown,
): Promise<string> {
  const given = body ?? (operation === 'getTask' ? undefined : {});
  return refusal(t, who, operation, status, {
    params: { id },
    ...(given !== undefined && { body: given }),
  });
}

function reason(reply: ApiReply<ErrorBody>): string {
  const { code, details } = reply.body.error;
  const [issue] = (details as { issues?: { path: string }[] } | undefined)?.issues ?? [];
  return issue?.path ?? code;
}

/** The events of a room, oldest first. */
export async function history({ api }: Api, { token }: Caller, room: string): Promise<Message[]> {
  const all: Message[] = [];
  for (let after = '0'; ; after = all.at(-1)?.sequence ?? '0') {
    const query = { after, limit: 100 };
    const page = await api.call('listMessages', { token, params: { room }, query, expect: 200 });
    all.push(...page.body);
    if (page.body.length < 100) return all;
  }
}

export async function events(t: Api, who: Caller, room: string, type: Message['type']) {
  return (await history(t, who, room)).filter((message) => message.type === type);
}

/** Moves the clock on for a task: its lease, its deadline and its last progress event are so much older. */
export async function later(
  { database }: TestApi,
  { id }: { id: string },
  seconds = 31,
): Promise<void> {
  await database.pool.query(
    `UPDATE tasks SET lease_until = lease_until - make_interval(secs => $2),
       deadline = deadline - make_interval(secs => $2),
       progress_event_at = progress_event_at - make_interval(secs => $2)
     WHERE id = $1`,
    [id, seconds],
  );
}

/** The row as it is stored, to prove that a refused call changed nothing. */
export async function stored({ database }: TestApi, { id }: { id: string }) {
  const { rows } = await database.pool.query('SELECT * FROM tasks WHERE id = $1', [id]);
  return rows[0] as Record<string, unknown>;
}

/** Waits for something that another part of the service does on its own. */
export async function until(
  what: string,
  done: () => Promise<boolean>,
  ms = 20_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen in ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Removes a member from a group. */
export async function expel({ api }: Api, owner: Caller, room: string, member: { id: string }) {
  const params = { room, identity: member.id };
  await api.call('removeMember', { token: owner.token, params, expect: 200 });
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
