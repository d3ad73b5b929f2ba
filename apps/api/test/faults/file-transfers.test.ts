import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import pg from 'pg';
import { type ApiProcess, build, endProcesses, startApiProcess } from './support/api-process.js';
import { type Account, openGroup, register } from './support/load.js';

const SIZE = 16_777_216;

let home: string;
let database: TestDatabase;
let pool: pg.Pool;
let service: ApiProcess;
let account: Account;
let room: string;

beforeAll(async () => {
  await build();
  home = await mkdtemp(path.join(os.tmpdir(), 'relayger-files-'));
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  service = await start();
  account = await register(service.api);
  room = await openGroup(service.api, account);
}, 90_000);

afterAll(async () => {
  await service?.stop();
  await endProcesses();
  await pool?.end();
  await database?.drop();
  await rm(home, { recursive: true, force: true });
}, 30_000);

function start(): Promise<ApiProcess> {
  return startApiProcess({ DATA_DIR: home, DATABASE_URL: database.url });
}

async function upload(bytes: Buffer): Promise<string> {
  const { token } = account;
  const query = { room, name: 'x' };
  return (await service.api.call('uploadFile', { token, query, bytes, expect: 201 })).body.id;
}

/** Every file in the data directory. */
async function objects(): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => path.join(parentPath, name));
}

async function charged(): Promise<{ files: number; bytes: number }> {
  const { rows } = await pool.query<{ files: number; bytes: number }>(
    `SELECT (SELECT count(*)::int FROM files) AS files, stored_bytes::int AS bytes FROM rooms WHERE id = $1`,
    [room],
  );
  return rows[0] as { files: number; bytes: number };
}

async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

test('kill -9 in the middle of an upload leaves nothing behind for ever', async () => {
  const before = { charged: await charged(), objects: await objects() };
  const request = httpRequest(`${service.origin}/v1/files?room=${room}&name=x`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.token}`, 'content-length': SIZE },
    agent: false,
  });
  request.on('error', () => {});
  request.write(randomBytes(SIZE / 2));
  await eventually(async () => {
    expect((await charged()).bytes).toBe(before.charged.bytes + SIZE);
    expect((await objects()).length).toBe(before.objects.length + 1);
  });
  service.signal('SIGKILL');
  await service.exited;
  service.api.close();
  const [left] = (await objects()).filter((file) => !before.objects.includes(file));

  // An hour later.
  const then = new Date(Date.now() - 4_000_000);
  await utimes(left as string, then, then);
  await pool.query(
    `UPDATE files SET created_at = now() - interval '61 minutes' WHERE state = 'uploading'`,
  );
  service = await start();
  await eventually(async () => {
    expect(await charged()).toEqual(before.charged);
    expect((await objects()).sort()).toEqual(before.objects.sort());
  });
}, 60_000);

test('the largest upload and download take less than 8 MiB of memory', async () => {
  // What the kernel counts of a process is only to be had like this on Linux.
  if (process.platform !== 'linux') return;
  const bytes = randomBytes(SIZE);
  const status = async (field: string) => {
    const text = await readFile(`/proc/${service.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1024;
  };
  /** How far the process grew above what it had, at its highest, in MiB. */
  async function growth(work: () => Promise<unknown>): Promise<number> {
    // The highest is counted anew (proc(5), clear_refs).
    await writeFile(`/proc/${service.pid}/clear_refs`, '5');
    const from = await status('VmRSS');
    await work();
    return (await status('VmHWM')) - from;
  }
  async function read(id: string): Promise<void> {
    const request = httpRequest(`${service.origin}/v1/files/${id}`, {
      headers: { authorization: `Bearer ${account.token}` },
      agent: false,
    });
    request.end();
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
    let size = 0;
    for await (const piece of response) size += (piece as Buffer).length;
    expect(size).toBe(SIZE);
  }

  // At first code is compiled and the heap grows to its working size: pieces that have gone through await collection.
  for (let i = 0; i < 4; i++) await read(await upload(bytes));
  const up: number[] = [];
  const down: number[] = [];
  for (let i = 0; i < 5; i++) {
    let id = '';
    up.push(
      await growth(async () => {
        id = await upload(bytes);
      }),
    );
    down.push(await growth(() => read(id)));
  }
  // When a collection falls due is V8's affair; a transfer that is held in memory shows in most rounds.
  const median = (values: number[]) => values.sort((a, b) => a - b)[2];
  expect(median(up)).toBeLessThan(8);
  expect(median(down)).toBeLessThan(8);
}, 60_000);
