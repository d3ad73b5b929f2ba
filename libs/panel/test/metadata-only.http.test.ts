import { randomUUID } from 'node:crypto';
import {
  openToken,
  registerHuman,
  startTestApi,
  type TestAgent,
  type TestApi,
  type TestHuman,
  textMessage,
} from '@relayger/api/testing';
import { HUMAN_SCOPES, OPERATIONS } from '@relayger/protocol';
import { MINUTE, ownedOne, runtimeOf, seedAttempt, until, walk } from './work-support.js';

/** Stands in every text that an agent, its rooms and its partners have. */
const SECRET = 'zq-secret';

let t: TestApi;
let owner: TestHuman;
let agent: TestAgent;
let boss: TestAgent;
let room: string;
let taskIds: string[];
let runtimeId: string;
beforeAll(async () => {
  t = await startTestApi();
  owner = await registerHuman(t);
  boss = await t.agent();
  agent = await ownedOne(t, owner);
  await doEverything();
});
afterAll(() => t.close());

/** Lets the agent do one of everything, with a secret in each text. */
async function doEverything(): Promise<void> {
  const reviewer = await openToken(t, owner, { scopes: [...HUMAN_SCOPES, 'approvals'] });
  const name = `${SECRET} room`;
  room = (await t.api.call('createRoom', { token: boss.token, body: { name }, expect: 201 })).body
    .id;
  for (const identity of [agent.id, owner.id]) {
    await t.api.call('addMember', { token: boss.token, params: { room, identity }, expect: 201 });
  }
  const send = { token: agent.token, params: { room }, expect: 201 as const };
  await t.api.call('sendMessage', { ...send, body: textMessage(`${SECRET} text`) });
  const data = { schema: `${SECRET}.v1`, data: { [SECRET]: SECRET }, text: SECRET };
  const body = textMessage('', { type: 'data', payload: data } as never);
  await t.api.call('sendMessage', { ...send, body });
  await t.database.pool.query(
    `INSERT INTO files (id, room_id, uploader_id, name, size, sha256, object_key, state)
     VALUES (gen_random_uuid(), $1, $2, $3, 1, sha256('x'), $3, 'ready')`,
    [room, agent.id, `${SECRET}.txt`],
  );
  taskIds = [await completed(reviewer), await failed()];
  runtimeId = await runtimeOf(t, agent, 'worker');
  const usage = [1, 2, 3] as const;
  await seedAttempt(t, runtimeId, { at: MINUTE, outcome: 'handled', usage });
  await t.database.pool.query(
    `INSERT INTO runtime_notes (runtime_id, room_id, key, text) VALUES ($1, $2, $3, $3)`,
    [runtimeId, room, SECRET],
  );
}

async function claimed() {
  const input = {
    ...{ operation: 'custom' as const, kind: `${SECRET}.v1`, title: SECRET },
    data: { [SECRET]: SECRET },
  };
  const order = { roomId: room, assigneeId: agent.id, clientTaskId: randomUUID(), input };
  const { id } = (await t.api.call('createTask', { token: boss.token, body: order, expect: 201 }))
    .body;
  const call = { token: agent.token, params: { id }, expect: 200 as const };
  const { version, leaseOwner } = (await t.api.call('claimTask', { ...call, body: {} })).body;
  const lease = { version, leaseOwner: leaseOwner as string };
  const progress = { percent: 50, note: SECRET };
  const body = { ...lease, state: 'running' as const, progress };
  const updated = await t.api.call('updateTask', { ...call, body });
  return { id, call, lease: { ...lease, version: updated.body.version } };
}

async function completed(reviewer: string): Promise<string> {
  const { id, call, lease } = await claimed();
  const asked = await t.api.call('requestApproval', {
    token: agent.token,
    body: {
      ...{ ...lease, taskId: id, approverId: owner.id, description: SECRET, expiresIn: 600 },
      action: { kind: 'review_result', summary: SECRET },
    },
    expect: 201,
  });
  await t.api.call('decideApproval', {
    token: reviewer,
    params: { id: asked.body.id },
    body: { decision: 'approve', hash: asked.body.payloadHash },
    expect: 200,
  });
  const result = { text: SECRET, data: { [SECRET]: SECRET } };
  await t.api.call('updateTask', { ...call, body: { ...lease, state: 'completed', result } });
  return id;
}

async function failed(): Promise<string> {
  const { id, call, lease } = await claimed();
  await t.api.call('updateTask', { ...call, body: { ...lease, state: 'failed', error: SECRET } });
  return id;
}

/** Every reply that an owner gets about the work of this agent. */
async function replies(): Promise<[name: string, body: unknown][]> {
  const { token } = owner;
  const params = { id: agent.id };
  const ok = { token, expect: 200 as const };
  const feed = await until(
    () => walk(t, token, { limit: 3 }),
    (pages) => pages.flatMap(({ items }) => items).length >= 9,
  );
  return [
    ['monitoring', (await t.api.call('getMonitoring', ok)).body],
    ['agent', (await t.api.call('getAgentActivity', { ...ok, params })).body],
    [
      'runtime',
      (await t.api.call('getAgentRuntime', { ...ok, params: { ...params, runtimeId } })).body,
    ],
    ...(await Promise.all(
      taskIds.map(async (taskId): Promise<[string, unknown]> => {
        const call = { ...ok, params: { ...params, taskId } };
        return ['task', (await t.api.call('getAgentTask', call)).body];
      }),
    )),
    ...feed.map((page): [string, unknown] => ['activity', page]),
  ];
}

test('the agent has done one of everything', async () => {
  const items = (await walk(t, owner.token, {})).flatMap((page) => page.items);
  const events = items.map(({ kind, event }) => `${kind} ${event}`).sort();
  expect(events).toEqual([
    ...['approval decided', 'approval requested', 'message sent', 'message sent'],
    ...['runtime claimed', 'task created', 'task created', 'task finished', 'task finished'],
  ]);
});

test('no reply has anything of what was said, asked, answered, noted or named', async () => {
  for (const [, body] of await replies()) {
    const text = JSON.stringify(body);
    expect(text).not.toContain(SECRET);
    for (const { token } of [agent, boss, owner]) expect(text).not.toContain(token.slice(4));
  }
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Values that are neither an id, a time nor one of a list; each with why it may be there. */
const WORDS: Record<string, RegExp> = {
  // Who the agent is: its owner edits that.
  number: /^\d{10}$/,
  handle: /^w-/,
  displayName: /^w-/,
  // A label of the agent's own, as its handle.
  name: /^worker$/,
  version: /^\d+$/,
  sequence: /^\d+$/,
  nextCursor: /^[\w-]{64}$/,
  newestCursor: /^[\w-]{64}$/,
  id: new RegExp(`${UUID.source.slice(0, -1)}(:[a-z]+(:\\d+)?)?$`),
};

test('every text in a reply is an id, a time, a state or one of few known labels', async () => {
  const schemas = JSON.stringify(OPERATIONS.filter(({ tag }) => tag === 'monitoring').map(listed));
  const keys = new Set<string>();
  function check(value: unknown, key: string): void {
    if (Array.isArray(value)) for (const item of value) check(item, key);
    else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) {
        keys.add(name);
        check(item, name);
      }
    else if (typeof value === 'string') {
      const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
      const isKnown = WORDS[key]?.test(value) || UUID.test(value) || isTime;
      if (!isKnown) expect(`${key}: ${schemas}`).toContain(`"${value}"`);
    }
  }
  for (const [, body] of await replies()) check(body, '');
  const forbidden =
    /payload|content|body|text|note|input$|result$|error|caption|title|summary|description|token$|hash|secret|password|file|room$|roomName/i;
  expect([...keys].filter((key) => forbidden.test(key))).toEqual([]);
  expect(keys.size).toBeGreaterThan(60);
});

/** The words that the contract lists for fields of a reply. */
function listed({ responses }: (typeof OPERATIONS)[number]): string[] {
  const words: string[] = [];
  const schema = responses[200]?.schema?.toJSONSchema({ io: 'output', unrepresentable: 'any' });
  JSON.stringify(schema, (key, value) => {
    if (key === 'enum' && Array.isArray(value)) words.push(...value.map(String));
    if (key === 'const') words.push(String(value));
    return value;
  });
  return words;
}
