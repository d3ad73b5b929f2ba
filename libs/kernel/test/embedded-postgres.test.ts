import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import pino from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/database/embedded-postgres.js';

const log = pino({ level: 'silent' });
const children = new Set<ChildProcess>();
const servers = new Set<EmbeddedPostgres>();
let home: string;
let dataDir: string;

beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'relayger-embedded-'));
  dataDir = path.join(home, 'postgres');
});

afterEach(async () => {
  for (const server of servers) await server.stop();
  for (const child of children) child.kill('SIGKILL');
  servers.clear();
  children.clear();
});

afterAll(() => rm(home, { recursive: true }));

async function start() {
  const server = await startEmbeddedPostgres({ dataDir, log });
  servers.add(server);
  return server;
}

/** Starts the fixture and returns the first line that it prints: the URL, or why it was refused. */
async function startChild(...args: string[]) {
  const script = path.join(import.meta.dirname, 'embedded-postgres.child.mjs');
  const child = spawn(process.execPath, [script, dataDir, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const [chunk] = await once(child.stdout, 'data');
  return { child, line: String(chunk).trim() };
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query({ text: sql, rowMode: 'array' }).finally(() => client.end());
  return rows.flat();
}

const postmasterPid = async () =>
  Number.parseInt(await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8'), 10);

/** By asking it, not by its pid: a zombie that nobody reaps yet still has one. */
const isServing = (url: string) =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  );

test('creates a cluster that only its owner can read, and keeps its data over a restart', async () => {
  const first = await start();
  expect(await query(first.url, 'SHOW server_encoding')).toEqual(['UTF8']);
  expect(await query(first.url, 'SHOW listen_addresses')).toEqual(['127.0.0.1']);
  await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS n');
  expect((await stat(`${dataDir}.password`)).mode & 0o777).toBe(0o600);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  await Promise.all([first.stop(), first.stop()]);

  const second = await start();
  expect(await query(second.url, 'SELECT n FROM kept')).toEqual([42]);
});

test('runs where every directory is open to all', async () => {
  await chmod(home, 0o755);
  await (await start()).stop();
  await chmod(home, 0o700);
});

test('after kill -9 of its owner, the orphan is stopped and the data served again', async () => {
  const { child, line: url } = await startChild();
  await query(url, 'INSERT INTO kept VALUES (43)');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await isServing(url)).toBe(true);

  const next = await start();
  expect(await isServing(url)).toBe(false);
  expect(await query(next.url, 'SELECT n FROM kept')).toEqual([42, 43]);
});

test('after kill -9 of both, the data is recovered', async () => {
  const { child, line: url } = await startChild();
  await query(url, 'INSERT INTO kept VALUES (44)');
  process.kill(await postmasterPid(), 'SIGKILL');
  child.kill('SIGKILL');

  await once(child, 'exit');
  const next = await start();
  expect(await query(next.url, 'SELECT n FROM kept')).toEqual([42, 43, 44]);
});

test('a second process is refused, and the first one is left alone', async () => {
  const { line: url } = await startChild();
  await expect(start()).rejects.toMatchObject({ reason: 'data_dir_in_use' });
  const second = await startChild();
  expect(second.line).toMatch(/^data_dir_in_use: Another Relayger process is running on /);
  expect(await query(url, 'SELECT n FROM kept LIMIT 1')).toEqual([42]);
});

test('the server does not outlive a process that exits without stop()', async () => {
  const { child, line: url } = await startChild('exit');
  if (child.exitCode === null) await once(child, 'exit');
  for (let tries = 0; tries < 100 && (await isServing(url)); tries++) await sleep(20);
  expect(await isServing(url)).toBe(false);
});

test('a pid file whose pid now belongs to another program is not in the way', async () => {
  await (await start()).stop();
  const { uid, gid } = await stat(dataDir);
  const stranger = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore' });
  children.add(stranger);
  const stale = [stranger.pid, dataDir, 1, 1, '', '127.0.0.1', '0 0', 'ready'].join('\n');
  await writeFile(path.join(dataDir, 'postmaster.pid'), stale);

  const server = await start();
  expect(await query(server.url, 'SELECT n FROM kept LIMIT 1')).toEqual([42]);
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
});

test.each([
  [
    'another major version',
    'PG_VERSION',
    '15\n',
    'wrong_major_version',
    /PostgreSQL 15 and this build brings PostgreSQL \d+/,
  ],
  [
    'a broken configuration',
    'postgresql.auto.conf',
    'no = = such',
    'server_failed',
    /syntax error in file/,
  ],
] as const)('refuses a cluster with %s', async (_case, file, content, reason, message) => {
  const target = path.join(dataDir, file);
  const original = await readFile(target);
  await writeFile(target, content);
  await expect(start()).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
  await writeFile(target, original);
});

test('refuses a cluster without its password', async () => {
  await rename(`${dataDir}.password`, `${dataDir}.hidden`);
  await expect(start()).rejects.toMatchObject({ reason: 'password_missing' });
  await rename(`${dataDir}.hidden`, `${dataDir}.password`);
});

test('refuses a directory of something else', async () => {
  const foreign = path.join(home, 'foreign');
  await mkdir(foreign);
  await writeFile(path.join(foreign, 'notes.txt'), 'not a database');
  await expect(startEmbeddedPostgres({ dataDir: foreign, log })).rejects.toMatchObject({
    reason: 'not_a_cluster',
  });
});

test('a server that dies alone is started again under the same address, with its data', async () => {
  const server = await start();
  await query(server.url, 'CREATE TABLE outlived AS SELECT 7 AS n');
  process.kill(await postmasterPid(), 'SIGKILL');
  let rows: unknown[] = [];
  for (let attempt = 0; rows.length === 0 && attempt < 100; attempt++) {
    await sleep(100);
    rows = await query(server.url, 'SELECT n FROM outlived').catch(() => []);
  }
  expect(rows).toEqual([7]);
});
