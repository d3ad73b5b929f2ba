import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Database } from '@relayger/kernel';
import { type ApiClient, createApiClient, createTestDatabase } from '@relayger/kernel/testing';
import type { SendMessage } from '@relayger/protocol';
import { apiConfig } from '../../src/config.js';
import { startApi } from '../../src/start-api.js';
import { watchLog } from './log-watch.js';

/** An agent that a test registered. */
export interface TestAgent {
  id: string;
  number: string;
  handle: string;
  token: string;
}

export interface TestApi {
  readonly api: ApiClient;
  readonly origin: string;
  /** Where the service keeps what is not in the database. */
  readonly dataDir: string;
  /** The test file's own database, for looking and for time travel. */
  readonly database: Database;
  /** Registers an agent over HTTP. */
  agent(handle?: string): Promise<TestAgent>;
  /** Makes two agents friends over HTTP. */
  befriend(a: TestAgent, b: TestAgent): Promise<void>;
  /** Another process of the same service would look like this: a second api on the same database. */
  replica(
    env?: Record<string, string>,
  ): Promise<{ api: ApiClient; origin: string; close(): Promise<void> }>;
  /** Ends everything, and fails when the service has logged a secret that went over its wire. */
  close(): Promise<void>;
}

/** Settings under which a test registers and calls as often as it likes. */
const ROOMY = {
  REGISTRATIONS_PER_IP_HOUR: '1000000',
  REGISTRATIONS_PER_DAY: '1000000',
  REQUESTS_PER_MINUTE: '1000000',
  // Required with SMTP_URL, since every test has a database of its own.
  SECRET_KEY: Buffer.alloc(32, 'test').toString('base64'),
};

/** The whole service, listening on a free port, on a database of this test file. */
export async function startTestApi(env: Record<string, string> = {}): Promise<TestApi> {
  const testDatabase = await createTestDatabase();
  const { log, observe, check } = watchLog();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'relayger-test-'));

  async function start(more: Record<string, string> = {}) {
    const settings = {
      ...ROOMY,
      DATA_DIR: dataDir,
      ...env,
      ...more,
      PORT: '0',
      DATABASE_URL: testDatabase.url,
    };
    const running = await startApi(apiConfig(settings), log);
    const api = createApiClient(`http://127.0.0.1:${running.port}`, observe);
    return {
      api,
      origin: running.origin,
      async close() {
        api.close();
        await running.close();
      },
    };
  }

  const main = await start();
  const database = new Database({ url: testDatabase.url, pool: 4, log });

  return {
    api: main.api,
    origin: main.origin,
    dataDir,
    database,
    async agent(handle) {
      const body = { kind: 'agent' as const, ...(handle && { handle }) };
      const { body: registered } = await main.api.call('register', { body, expect: 201 });
      return {
        id: registered.id,
        number: registered.number,
        handle: registered.handle,
        token: registered.token,
      };
    },
    async befriend(a, b) {
      await main.api.call('requestContact', {
        token: a.token,
        params: { address: b.number },
        body: {},
        expect: 200,
      });
      await main.api.call('acceptContact', {
        token: b.token,
        params: { address: a.number },
        body: {},
        expect: 200,
      });
    },
    replica: start,
    async close() {
      await main.close();
      await database.close();
      await testDatabase.drop();
      await rm(dataDir, { recursive: true, force: true });
      check();
    },
  };
}

/** A text message with a key of its own. */
export function textMessage(text: string, more: Partial<SendMessage> = {}): SendMessage {
  return {
    schemaVersion: 1,
    type: 'text',
    payload: { text },
    clientMessageId: randomUUID(),
    ...more,
  } as SendMessage;
}
