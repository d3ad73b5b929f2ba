import { startTestApi, type TestApi, textMessage } from '@relayger/api/testing';
import type { Operation } from '@relayger/protocol';
import { pathOf, refusal, type Scene, setScene, stored, WITH_BODY, wire } from './http-support.js';

let t: TestApi;
let scene: Scene;
let before: Record<string, string>;
beforeAll(async () => {
  t = await startTestApi();
  scene = await setScene(t);
  before = await stored(t);
});
afterAll(() => t.close());

interface Sent {
  body?: unknown;
  rawBody?: string | Uint8Array;
  headers?: Record<string, string | undefined>;
}
async function refused(operation: Operation, sent: Sent) {
  const reply = await t.api.raw(operation.method, pathOf(operation, scene), {
    token: scene.master,
    ...sent,
    // The own Origin is welcome everywhere, and some calls are refused without it.
    headers: { origin: t.origin, ...sent.headers },
  });
  return refusal(reply, operation);
}
const each = WITH_BODY.map((operation) => ({ id: operation.id, operation }));

/** Every place in an example body that holds a value, with a function that puts another one there. */
function leaves(
  example: unknown,
  put: (value: unknown) => unknown = (value) => value,
): ((value: unknown) => unknown)[] {
  if (typeof example !== 'object' || example === null) return [put];
  return Object.entries(example).flatMap(([key, value]) =>
    leaves(value, (other) => {
      const copy = structuredClone(example) as Record<string, unknown>;
      copy[key] = other;
      return put(copy);
    }),
  );
}

describe.each(each)('$id', ({ operation }) => {
  const example = JSON.stringify(operation.example);

  afterAll(async () => {
    expect(await stored(t)).toEqual(before);
  });

  test('takes no body of another content type, or of none', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/jsonp',
      'text/json',
      'application/json, text/plain',
      'application/json; charset=latin1',
      'application/json;charset="UTF-16"',
      'json',
      ';',
      '',
      undefined,
    ];
    for (const type of types) {
      const sent = { rawBody: example, headers: { 'content-type': type } };
      const { status, code } = await refused(operation, sent);
      expect({ type, status, code }).toEqual({ type, status: 415, code: 'unsupported_media_type' });
    }
  });

  test('takes no body that is not a JSON object', async () => {
    const texts = [
      '',
      '{',
      '}',
      '{"a":}',
      "{'a':1}",
      '{"a":1,}',
      '{"a":1}{}',
      'undefined',
      'NaN',
      '{"a":01}',
    ];
    const values = ['null', 'true', '5', '"text"', '[]', '[{}]', `[${example}]`];
    const bytes = [
      Uint8Array.of(0),
      Uint8Array.of(0x7b, 0x00, 0x7d),
      Uint8Array.of(0x7b, 0xff, 0x7d),
    ];
    const invalidUtf8 = [
      Buffer.from('{"a":"\xff"}', 'latin1'),
      // An overlong slash, an encoded surrogate, a code point beyond the last one, a cut-off character.
      Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]),
      Buffer.from([0x22, 0xe2, 0x82, 0x22]),
      Buffer.from(example, 'utf16le'),
    ];
    for (const rawBody of [...texts, ...values, ...bytes, ...invalidUtf8]) {
      const { status, code, issues } = await refused(operation, { rawBody });
      expect({ status, code, path: issues?.[0]?.path }).toEqual({
        status: 400,
        code: 'invalid_request',
        path: 'body',
      });
    }
  });

  test('refuses unknown fields and names them', async () => {
    for (const field of [
      'surprise',
      'x'.repeat(200),
      'a\u0000b',
      '\ud800',
      'Kind',
      '',
      'toString',
    ]) {
      const body = { ...(operation.example as object), [field]: 1 };
      const { status, issues } = await refused(operation, { body });
      expect({ status, issues }).toEqual({
        status: 400,
        issues: [
          { path: 'body', message: `has unknown field ${JSON.stringify(field.slice(0, 64))}` },
        ],
      });
    }
  });

  test('refuses __proto__ and constructor.prototype, also when they are written with escapes', async () => {
    for (const key of [
      '"__proto__":{"x":1}',
      '"\\u005f_proto__":{"x":1}',
      '"constructor":{"prototype":{}}',
    ]) {
      const rawBody = example === '{}' ? `{${key}}` : `{${key},${example.slice(1)}`;
      const { status, issues } = await refused(operation, { rawBody });
      expect(status).toBe(400);
      expect(issues?.[0]?.message).toMatch('__proto__');
    }
    expect({}).not.toHaveProperty('x');
  });

  test('takes no hostile value in any field', async () => {
    const text = ['a\u0000b', '\ud800', '\udc00x', 'é'.repeat(20_000)];
    // These may be right in some fields; where the schema takes them, the feature's own tests look at them.
    const others = ['', 5, -1, 0.5, 2 ** 60, true, null, [], {}, [[]]];
    for (const put of leaves(operation.example)) {
      const bodies = [
        ...text.map(put),
        ...others.map(put).filter((body) => !operation.body?.safeParse(body).success),
      ];
      for (const body of bodies) {
        const { status } = await refused(operation, { body });
        expect(status).toBeGreaterThanOrEqual(400);
      }
    }
  });

  test('takes no body over 64 KiB, with a length or in chunks, and none that lies about its length', async () => {
    const rawBody = `{"a":"${'x'.repeat(65_536)}"}`;
    const tooLarge = { status: 413, code: 'body_too_large' };
    expect(await refused(operation, { rawBody })).toMatchObject(tooLarge);
    expect(await refused(operation, { rawBody: ' '.repeat(65_537) })).toMatchObject(tooLarge);
    const head = `${operation.method} ${pathOf(operation, scene)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${scene.master}\r\nOrigin: ${t.origin}\r\nContent-Type: application/json\r\n`;
    const size = Buffer.byteLength(rawBody).toString(16);
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${size}\r\n${rawBody}\r\n0\r\n\r\n`;
    expect(refusal(await wire(t.origin, chunked), operation)).toMatchObject(tooLarge);
    expect(refusal(await wire(t.origin, `${head}Content-Length: 9999999\r\n\r\n`))).toMatchObject(
      tooLarge,
    );
  });

  test('does not choke on 10,000 levels of nesting or on numbers beyond measure', async () => {
    const deep = [
      '['.repeat(10_000) + ']'.repeat(10_000),
      `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    ];
    for (const value of [
      ...deep,
      '['.repeat(60_000),
      '1e999',
      '-1e999',
      '9'.repeat(5_000),
      '1e-999',
    ]) {
      for (const rawBody of [value, `{"surprise":${value}}`]) {
        expect((await refused(operation, { rawBody })).status).toBe(400);
      }
      for (const put of leaves(operation.example)) {
        const rawBody = JSON.stringify(put('@@')).replace('"@@"', value);
        const { status } = await refused(operation, { rawBody });
        // 1e-999 is 0, which a number may be; what the call is about does not exist.
        if (value === '1e-999') expect([400, 404]).toContain(status);
        else expect(status).toBe(400);
      }
    }
  });
});

test('a body of exactly 64 KiB is read, white space and byte order mark included', async () => {
  const { me, room } = scene;
  const message = JSON.stringify(textMessage('x', { replyTo: room }));
  for (const rawBody of [message.padEnd(65_536, ' '), `\ufeff${message}`, `\n\t ${message}\r\n`]) {
    // It is read to the end and then refused for what it says.
    const params = { room };
    const { body } = await t.api.call('sendMessage', {
      token: me.token,
      params,
      rawBody,
      expect: 400,
    });
    expect(body.error.details?.issues).toMatchObject([{ path: 'body.replyTo' }]);
  }
});

test('at most eight problems are listed, each with its path, and values are not repeated', async () => {
  const { me } = scene;
  const extra = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`field-${i}`, 'SECRET']));
  const message = { ...textMessage('x'), mentions: Array.from({ length: 12 }, () => 'SECRET') };
  for (const body of [extra, { target: 'x', message }]) {
    const reply = await t.api.call('sendDirect', { token: me.token, body, expect: 400 });
    const issues = reply.body.error.details?.issues as { path: string; message: string }[];
    expect(issues.length).toBeLessThanOrEqual(8);
    for (const { path, message } of issues) {
      expect(path).toMatch(/^body/);
      expect(message.length).toBeGreaterThan(5);
    }
    expect(reply.text).not.toContain('SECRET');
  }
});
