import { randomUUID } from 'node:crypto';
import { openToken, startTestApi, type TestApi, textMessage } from '@relayger/api/testing';
import { declaredStatements } from '@relayger/kernel/testing';
import { AGENT_SCOPES } from '@relayger/protocol';
import pg from 'pg';
import { LARGE, SAMPLE, seedPlans } from './seed.js';

/**
 * Statements that may read a large table as a whole, and why. All others are looked at without being listed anywhere:
 * whatever is declared with `statement()`.
 */
const ALLOWED: Record<string, { reads: string[]; why: string }> = {
  accounts_has_admin: {
    reads: ['identities'],
    why: 'asked for registrations until there is one, then found among the first',
  },
  identities_list_acquaintances: {
    reads: ['identities'],
    why: 'everybody for administrators; for others its plan is made with the values at hand (see below)',
  },
};

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}
interface Recorded {
  name: string;
  text: string;
  values: unknown[];
}

let t: TestApi;
let client: pg.PoolClient;

beforeAll(async () => {
  t = await startTestApi();
  client = await t.database.pool.connect();
  await seedPlans(client);
}, 60_000);
afterAll(async () => {
  client.release();
  await t.close();
});

/** A statement that only asks for a plan reads nothing. */
const planned = <S extends { text: string }>(statements: readonly S[]) =>
  statements.filter(({ text }) => !text.startsWith('EXPLAIN'));

/** The large tables that a plan reads as a whole: by itself, or as a bitmap of a whole index. */
function readWhole(plan: Plan): string[] {
  const table = plan['Relation Name'];
  const whole =
    plan['Node Type'] === 'Seq Scan' ||
    (plan['Node Type'] === 'Bitmap Index Scan' && plan['Index Cond'] === undefined);
  const here = whole && (table === undefined || LARGE.has(table)) ? [table ?? 'an index'] : [];
  return [...here, ...(plan.Plans ?? []).flatMap(readWhole)];
}

async function planOf(explain: string, values?: unknown[]): Promise<Plan> {
  const { rows } = await client.query(explain, values);
  return rows[0]['QUERY PLAN'][0].Plan;
}

function unexpected(name: string, plan: Plan): string[] {
  return readWhole(plan).filter((table) => !ALLOWED[name]?.reads.includes(table));
}

test('no statement reads a large table as a whole, whatever its values (generic plans)', async () => {
  const found: Record<string, string[]> = {};
  for (const { name, text } of planned(declaredStatements())) {
    const tables = unexpected(name, await planOf(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`));
    if (tables.length > 0) found[name] = tables;
  }
  expect(found).toEqual({});
});

test('the exceptions are statements that exist', () => {
  const names = declaredStatements().map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(ALLOWED)));
});

/** Every statement that runs meanwhile, with the values of its last run. */
async function record(work: () => Promise<void>): Promise<Map<string, Recorded>> {
  const recorded = new Map<string, Recorded>();
  const original = pg.Client.prototype.query;
  const spy = function (this: pg.Client, ...args: unknown[]) {
    const [config] = args as [Partial<Recorded> | undefined];
    if (config?.name && config.values) recorded.set(config.name, config as Recorded);
    return Reflect.apply(original, this, args);
  };
  pg.Client.prototype.query = spy as typeof original;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return recorded;
}

/** Hot paths: what agents call all the time. A new one belongs here. */
async function callHotPaths(): Promise<void> {
  const scopes = AGENT_SCOPES;
  const [owner, member] = await Promise.all(
    [SAMPLE.owner, SAMPLE.member].map((id) => openToken(t, { id }, { scopes })),
  );
  const { room, message, reply } = SAMPLE;
  const as = (token: string | undefined) => async (method: string, path: string, body?: object) => {
    const answer = await t.api.raw(method, `/v1${path}`, {
      token: token as string,
      ...(body && { body }),
    });
    if (answer.status >= 400 && answer.status !== 409)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  };
  const [asOwner, asMember] = [as(owner), as(member)];
  await asOwner('GET', '/me');
  await asOwner('GET', '/rooms');
  await asOwner('GET', '/agents');
  await asOwner('GET', '/contacts');
  await asOwner(
    'POST',
    `/rooms/${room}/messages`,
    textMessage('hot', { mentions: [SAMPLE.member] }),
  );
  await asOwner('GET', `/rooms/${room}/messages?limit=100`);
  await asOwner('GET', `/rooms/${room}/messages?after=50`);
  await asOwner('GET', `/rooms/${room}/messages/${message}`);
  await asOwner('GET', `/rooms/${room}/threads/${reply}`);
  await asMember('GET', '/mailbox');
  await asMember('GET', '/mailbox?consume=1&wait=1');
  await asMember('POST', `/rooms/${room}/ack`, { sequence: '60' });
  for (const filter of [
    '',
    `&room=${room}`,
    `&sender=${SAMPLE.member}`,
    '&type=data',
    '&until=2030-01-01T00:00:00Z',
  ])
    for (const q of ['common', 'w7', 'y77', 'nowhere'])
      await asMember('GET', `/search?q=${q}${filter}`);
  const { id } = await asMember('POST', '/runtimes', { name: 'plans', from: 'beginning' });
  const { delivery } = await asMember('POST', `/runtimes/${id}/claim`, {});
  if (delivery) {
    const { id: deliveryId, owner: leaseOwner, version } = delivery;
    const lease = { deliveryId, owner: leaseOwner, version };
    await asMember('POST', `/runtimes/${id}/heartbeat`, lease);
  }
  await asMember('GET', '/tasks/inbox');
  const task = { roomId: room, assigneeId: SAMPLE.member, clientTaskId: randomUUID() };
  const created = await asOwner('POST', '/tasks', {
    ...task,
    input: { operation: 'custom', kind: 'look.v1', title: 'plans' },
  });
  await asMember('POST', `/tasks/${created.id}/claim`, {});
}

/** Statements that the hot paths must have run: a renamed path would otherwise go unseen. */
const HOT = [
  'accounts_authenticate_tokens',
  'messages_ack_room',
  'messages_append',
  'messages_get',
  'messages_list_after',
  'messages_list_before',
  'messages_list_thread',
  'messages_read_mailboxes',
  'messages_search_index',
  'messages_search_load',
  'messages_search_scope',
  'messages_search_walk',
  'rooms_get_access',
  'rooms_list',
  'runtimes_claim_jobs',
  'runtimes_scan_rooms',
  'tasks_claim',
];

test('no hot statement reads a large table as a whole with the values of a call (custom plans)', async () => {
  const recorded = await record(callHotPaths);
  expect([...recorded.keys()]).toEqual(expect.arrayContaining(HOT));
  const settings = recorded.get('messages_search_settings') as Recorded;
  const found: Record<string, string[]> = {};
  for (const { name, text, values } of planned([...recorded.values()])) {
    await client.query('BEGIN');
    if (name === 'messages_search_index') await client.query(settings.text, settings.values);
    const tables = unexpected(name, await planOf(`EXPLAIN (FORMAT JSON) ${text}`, values));
    await client.query('ROLLBACK');
    if (tables.length > 0) found[name] = tables;
  }
  expect(found).toEqual({});
}, 60_000);
