import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi, type TestApi, textMessage } from '@relayger/api/testing';
import { createLogger } from '@relayger/kernel';
import { type ApiClient, createApiClient } from '@relayger/kernel/testing';
import { apiConfig } from '../../../apps/api/src/config.js';
import { type RunningApi, startApi } from '../../../apps/api/src/start-api.js';

interface Line {
  level: string;
  msg: string;
  requestId?: string;
  route?: string | null;
  status?: number;
  identity?: string;
  errorCode?: string;
}

let t: TestApi;
let logged: RunningApi;
let api: ApiClient;
let text = '';
beforeAll(async () => {
  t = await startTestApi();
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const settings = { PORT: '0', DATABASE_URL: t.database.url, REGISTRATIONS_PER_IP_HOUR: '100' };
  logged = await startApi(apiConfig(settings), createLogger('trace', stream));
  api = createApiClient(logged.origin);
});
beforeEach(() => {
  text = '';
});
afterAll(async () => {
  api.close();
  await logged.close();
  await t.close();
});

/** A line is written when the answer has left, which the client may see first. */
async function written(part: string): Promise<void> {
  for (const end = Date.now() + 5_000; !text.includes(part) && Date.now() < end; ) await sleep(5);
  expect(text).toContain(part);
}

async function linesAbout(requestId: string): Promise<Line[]> {
  await written(`"requestId":"${requestId}","method"`);
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return lines.filter((line) => line.requestId === requestId);
}

test('a request is one line with its route, not its address, and the id that the failure names', async () => {
  const { body } = await api.call('getIdentity', { params: { address: '@whoever' }, expect: 401 });
  expect(await linesAbout(body.error.requestId)).toEqual([
    expect.objectContaining({
      level: 'debug',
      msg: 'request',
      method: 'GET',
      route: '/v1/identities/:address',
      status: 401,
      ms: expect.any(Number),
    }),
  ]);
  expect(text).not.toContain('whoever');
});

test('no secret and no text of anybody reaches the log, whatever happens to the request', async () => {
  const password = 'correct horse battery staple';
  const { body: me } = await api.call('register', {
    body: { kind: 'agent', password },
    expect: 201,
  });
  const { body: peer } = await api.call('register', { body: { kind: 'agent' }, expect: 201 });
  const { token } = me;
  await api.call('login', { body: { number: me.number, password }, expect: 200 });
  await api.call('login', { body: { number: me.number, password: 'wrong password' }, expect: 401 });
  await api.raw('GET', `/v1/me?token=${token}`, { expect: 400 });
  await api.raw('GET', `/v1/${token}`, { token, expect: 404 });
  await api.raw('POST', '/v1/rooms', { token, rawBody: '{"name":"private name', expect: 400 });
  const note = { note: 'a private note' };
  await api.call('requestContact', {
    token,
    params: { address: peer.number },
    body: note,
    expect: 200,
  });
  await api.call('acceptContact', {
    token: peer.token,
    params: { address: me.number },
    body: {},
    expect: 200,
  });
  const message = textMessage('a private text');
  await api.call('sendDirect', { token, body: { target: peer.number, message }, expect: 201 });
  await api.call('readMailbox', { token: peer.token, expect: 200 });
  await written('/v1/mailbox');

  expect(text).toContain(me.id);
  const secrets = [token, peer.token, password, 'wrong password', peer.password as string];
  for (const secret of [...secrets, me.recoveryKey, peer.recoveryKey, 'private', 'Bearer']) {
    expect(text).not.toContain(secret);
  }
});

test('a fault of ours is told with a fixed sentence; what happened stands in the log under the same id', async () => {
  const { body: me } = await api.call('register', { body: { kind: 'agent' }, expect: 201 });
  await t.database.pool.query('ALTER TABLE contacts RENAME TO mislaid');
  try {
    const { body } = await api.call('listContacts', { token: me.token, expect: 500 });
    expect(body.error).toEqual({
      code: 'internal',
      message: expect.stringMatching(/^Something failed on the server/),
      requestId: expect.any(String),
    });
    const [failure, request] = await linesAbout(body.error.requestId);
    expect(failure).toMatchObject({
      level: 'error',
      msg: 'request failed',
      route: '/v1/contacts',
      errorCode: 'internal',
      err: { message: expect.stringContaining('contacts') },
    });
    expect(request).toMatchObject({ msg: 'request', status: 500, identity: me.id });
  } finally {
    await t.database.pool.query('ALTER TABLE mislaid RENAME TO contacts');
  }
  await api.call('listContacts', { token: me.token, expect: 200 });
});
