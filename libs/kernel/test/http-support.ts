import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { openToken, seedAgents, type TestAgent, type TestApi } from '@relayger/api/testing';
import { OPERATIONS, type Operation, operationErrors } from '@relayger/protocol';

/** The calls of the API, without documents and probes. */
export const CALLS = OPERATIONS.filter(({ path }) => path.startsWith('/v1/'));
export const WITH_TOKEN = CALLS.filter(({ access }) => access !== 'public');
export const WITH_BODY = CALLS.filter(({ body }) => body !== undefined);

/** An agent with a room and a friend, so that a well-formed call of any operation finds what it names. */
export interface Scene {
  me: TestAgent;
  peer: TestAgent;
  room: string;
  /** A token of `me` that carries every scope, so that no call stops at the door. */
  master: string;
}

export async function setScene(t: TestApi): Promise<Scene> {
  const [me, peer] = (await seedAgents(t, ['me', 'peer'])) as [TestAgent, TestAgent];
  await t.befriend(me, peer);
  const body = { name: 'general' };
  const { body: room } = await t.api.call('createRoom', { token: me.token, body, expect: 201 });
  return { me, peer, room: room.id, master: await openToken(t, me, { scopes: ['*'] }) };
}

/** Path parameters that name what is there; an id nobody has where the scene holds nothing of that kind. */
export function paramsOf({ path }: Operation, { peer, room }: Scene): Record<string, string> {
  const known: Record<string, string> = { room, address: peer.number, identity: peer.number };
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  return Object.fromEntries(names.map((name) => [name, known[name] ?? randomUUID()]));
}

export function pathOf(operation: Operation, scene: Scene): string {
  const params = paramsOf(operation, scene);
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] as string);
}

/** Code and details of a failure; fails the test for any other reply and for a code that is not documented. */
export function refusal(reply: { status: number; body: unknown }, operation?: Operation) {
  const { error } = reply.body as {
    error?: { code: never; details?: { issues?: { path: string; message: string }[] } };
  };
  expect({ status: reply.status, error }).toEqual({
    status: expect.any(Number),
    error: expect.any(Object),
  });
  expect(['internal', 'unavailable']).not.toContain(error?.code);
  if (operation) expect(operationErrors(operation)).toContain(error?.code);
  return { status: reply.status, code: error?.code as unknown, issues: error?.details?.issues };
}

/**
 * A digest of everything that is stored, but for counters of attempts and the times of last use, which change
 * with refused calls too.
 */
export async function stored({ database }: TestApi): Promise<Record<string, string>> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_name NOT IN ('_prisma_migrations', 'limit_counters')`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of rows) {
    const { rows: found } = await database.pool.query<{ count: string; digest: string }>(
      `SELECT count(*), md5(string_agg(row, ',' ORDER BY row)) AS digest
       FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM ${name} AS t) AS texts`,
    );
    digests[name] = `${found[0]?.count} ${found[0]?.digest}`;
  }
  return digests;
}

export interface WireReply {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** Sends bytes as they are, for what no HTTP client would send, and reads the one reply. */
export function wire(origin: string, request: string | Buffer): Promise<WireReply> {
  const { port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), '127.0.0.1');
    let text = '';
    const finish = () => {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const [first = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(
        lines
          .map((line) => line.split(/: ?(.*)/s).slice(0, 2))
          .map(([k = '', v = '']) => [k.toLowerCase(), v]),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (head === '' || Buffer.byteLength(body) < length) return;
      resolve({
        status: Number(first.split(' ')[1]),
        headers,
        // Behind the first reply there may be another one.
        body:
          length === 0
            ? ''
            : (JSON.parse(Buffer.from(body).toString('utf8', 0, length)) as unknown),
      });
      socket.destroy();
    };
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.includes('\r\n\r\n')) finish();
    });
    socket.on('error', reject);
    socket.on('close', () =>
      reject(new Error(`the connection closed after ${JSON.stringify(text)}`)),
    );
    socket.write(request);
  });
}
