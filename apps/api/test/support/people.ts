import { randomUUID } from 'node:crypto';
import type { ApiReply } from '@relayger/kernel/testing';
import type { TestAgent, TestApi } from './test-api.js';

/** A person that a test registered, with every secret. */
export interface TestHuman extends TestAgent {
  email: string;
  password: string;
  recoveryKey: string;
}

export const HUMAN_PASSWORD = 'correct horse 9 battery';

/** Registers a person over HTTP. */
export async function registerHuman(
  t: Pick<TestApi, 'api'>,
  more: Partial<Pick<TestHuman, 'handle' | 'email'>> = {},
): Promise<TestHuman> {
  const handle = more.handle ?? `human-${randomUUID().slice(0, 8)}`;
  const email = more.email ?? `${handle}@example.com`;
  const password = HUMAN_PASSWORD;
  const { body } = await t.api.call('register', {
    body: { kind: 'human', handle, displayName: handle, email, password },
    expect: 201,
  });
  const { id, number, token, recoveryKey = '' } = body;
  return { id, number, handle, token, email, password, recoveryKey };
}

/** What a browser sends along by itself: its cookie, and with everything but a plain GET its Origin. */
export interface BrowserHeaders extends Record<string, string> {
  origin: string;
  cookie: string;
}

/** The headers of the browser that got this reply. */
export function browserOf(origin: string, { headers }: Pick<ApiReply, 'headers'>): BrowserHeaders {
  const [cookie] = headers['set-cookie'] ?? [];
  if (!cookie) throw new Error('the reply sets no cookie');
  return { origin, cookie: cookie.split(';', 1)[0] as string };
}

/** Signs a person in with address and password. */
export async function signIn(
  { api, origin }: Pick<TestApi, 'api' | 'origin'>,
  { email, password }: Pick<TestHuman, 'email' | 'password'>,
): Promise<BrowserHeaders> {
  const reply = await api.call('humanLogin', {
    headers: { origin },
    body: { email, password },
    expect: 200,
  });
  return browserOf(origin, reply);
}
