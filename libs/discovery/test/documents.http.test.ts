import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startTestApi, type TestApi, textMessage } from '@relayger/api/testing';
import { LIMITS, OPERATIONS } from '@relayger/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

let t: TestApi;
let closed: Awaited<ReturnType<TestApi['replica']>> | undefined;
beforeAll(async () => {
  t = await startTestApi({ REQUESTS_PER_MINUTE: '1234' });
});
afterAll(async () => {
  await closed?.close();
  await t.close();
});

function artefact(name: string): string {
  return readFileSync(new URL(`../../../openapi/${name}`, import.meta.url), 'utf8');
}
async function page(id: 'getAgentGuide' | 'getHome'): Promise<string> {
  return (await t.api.call(id, { expect: 200 })).text;
}
const commands = (text: string) => text.match(/^.*curl -sS .*(?:\\\n.*)*$/gm) ?? [];

test('the policy names this server, and its addresses lead somewhere', async () => {
  const { body } = await t.api.call('getDiscovery', { expect: 200 });
  expect(body).toEqual({
    name: 'Relayger',
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    origin: t.origin,
    apiBase: '/v1',
    openapi: `${t.origin}/openapi.json`,
    docs: `${t.origin}/agents.md`,
    registration: expect.objectContaining({ enabled: true, emailAvailable: false }),
    limits: {
      requestsPerMinute: 1234,
      bodyBytes: 65_536,
      textBytes: 16_000,
      dataBytes: 32_768,
      waitSeconds: 55,
      mailboxMax: 100,
    },
  });
  for (const address of [body.openapi, body.docs]) {
    await t.api.raw('GET', new URL(address).pathname, { expect: 200 });
  }
});

test('registration.enabled says what registering then answers', async () => {
  closed = await t.replica({ REGISTRATION_ENABLED: 'false' });
  const { body } = await closed.api.call('getDiscovery', { expect: 200 });
  expect(body.registration.enabled).toBe(false);
  const refused = await closed.api.call('register', { body: { kind: 'agent' }, expect: 403 });
  expect(refused.body.error.code).toBe('registration_closed');
  // Who is in stays in.
  const { token } = await t.agent();
  await closed.api.call('getMe', { token, expect: 200 });
});

test('the guide for agents speaks of this server only, and leaves no blank unfilled', async () => {
  const text = await page('getAgentGuide');
  expect(text).toContain(`Base URL: ${t.origin}`);
  expect(text).toContain('1234 requests a minute');
  expect(text).not.toMatch(/\{\{\w+\}\}|undefined/);
  const origins = new Set(text.match(/https?:\/\/[^/\s"'`]+/g));
  expect([...origins]).toEqual([t.origin]);
});

test('every call that the guide names exists', async () => {
  const text = await page('getAgentGuide');
  const named = [
    ...text.matchAll(
      /`?(GET|POST|PUT|DELETE)? ?(?:https?:\/\/[^/\s]+)?(\/(?:v1|\.well-known)\/[\w/.-]+)/g,
    ),
  ];
  expect(named.length).toBeGreaterThan(10);
  for (const [, method, path = ''] of named) {
    const matching = OPERATIONS.filter((operation) =>
      new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(
        path.replace(/[.`]$/, ''),
      ),
    );
    expect({ path, known: matching.length > 0 }).toEqual({ path, known: true });
    if (method) expect(matching.map((operation) => `${operation.method}`)).toContain(method);
  }
});

test('the JSON in the guide is what the calls take', async () => {
  const [a, b] = [await t.agent(), await t.agent()];
  const text = await page('getAgentGuide');
  const bodies = [...text.matchAll(/-d '(.*)'/g)].map(([, json = '']) =>
    JSON.parse(json.replace('NUMBER', b.number).replace('A-NEW-UUID', randomUUID())),
  ) as [never, never, never];
  expect(bodies).toHaveLength(3);
  await t.api.call('register', { body: bodies[0], expect: 201 });
  await t.api.call('requestContact', {
    token: a.token,
    params: { address: b.number },
    body: bodies[1],
    expect: 200,
  });
  await t.api.call('acceptContact', {
    token: b.token,
    params: { address: a.number },
    body: {},
    expect: 200,
  });
  await t.api.call('sendDirect', { token: a.token, body: bodies[2], expect: 201 });
});

test('the start page shows lines of the guide, runs nothing and loads nothing from elsewhere', async () => {
  const { text, headers } = await t.api.call('getHome', { expect: 200 });
  const shown = commands(text).map((line) =>
    line
      .replace(/<\/?(?:pre|code)>/g, '')
      .replaceAll('&amp;', '&')
      .trim(),
  );
  expect(shown).toHaveLength(2);
  for (const line of shown) expect(commands(await page('getAgentGuide'))).toContain(line);

  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(text).not.toMatch(/<script|javascript:|\son\w+=|\{\{/i);
  for (const [, target = ''] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
    expect(target).toMatch(/^\//);
    await t.api.raw('GET', target, { expect: 200 });
  }
});

test('the contract is served as it is committed, at both addresses', async () => {
  for (const id of ['getOpenapi', 'getDocsOpenapi'] as const) {
    const { text, body } = await t.api.call(id, { expect: 200 });
    expect(text).toBe(artefact('openapi.json'));
    const { openapi, paths } = body as { openapi: string; paths: Record<string, object> };
    expect(openapi).toMatch(/^3\.1\./);
    for (const { path, method } of OPERATIONS) {
      expect(paths[path]).toHaveProperty(method.toLowerCase());
    }
  }
});

test('the schema of messages takes what this server stores, and nothing that is not a message', async () => {
  const { text, body: schema } = await t.api.call('getMessageSchema', { expect: 200 });
  expect(text).toBe(artefact('message.schema.json'));
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  const validate = ajv.compile(schema as object);

  const { token } = await t.agent();
  const { body: room } = await t.api.call('createRoom', {
    token,
    body: { name: 'x' },
    expect: 201,
  });
  const params = { room: room.id };
  const draft = textMessage('Grüße 😀', {
    attention: { kind: 'question', expiresAt: '2030-01-01T00:00:00Z' },
  });
  const data = {
    ...textMessage(''),
    type: 'data' as const,
    payload: { schema: 'a.b', data: { x: [1] } },
  };
  for (const body of [draft, data]) {
    await t.api.call('sendMessage', { token, params, body, expect: 201 });
  }
  const { body: history } = await t.api.call('listMessages', { token, params, expect: 200 });
  expect(history).toHaveLength(2);
  for (const message of history) expect([validate(message), validate.errors]).toEqual([true, null]);

  const [message] = history as unknown as [Record<string, unknown>];
  for (const wrong of [
    {},
    { ...message, extra: 1 },
    { ...message, sequence: 1 },
    { ...message, type: 'letter' },
    { ...message, payload: {} },
    { ...message, messageId: 'x' },
    { ...message, payload: { text: 'a'.repeat(16_001) } },
  ]) {
    expect(validate(wrong)).toBe(false);
  }
  expect(LIMITS.textBytes).toBe(16_000);
});

test('the probes tell that the process lives and can serve', async () => {
  expect((await t.api.call('getHealth', { expect: 200 })).body).toEqual({ ok: true });
  expect((await t.api.call('getReadiness', { expect: 200 })).body).toEqual({
    ready: true,
    database: 'up',
    listening: true,
  });
});
