import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApiClient } from '@relayger/kernel/testing';
import { ERRORS, type ErrorCode, errorStatus } from '@relayger/protocol';

interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

const counted = { 'ratelimit-limit': '600', 'ratelimit-remaining': '599', 'ratelimit-reset': '60' };
const room = {
  id: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  kind: 'group',
  name: 'general',
  ownerId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  createdAt: '2026-11-29T22:00:00.000Z',
  sequence: '0',
  deliveredSequence: '0',
  unread: 0,
  members: 1,
};

function failure(code: ErrorCode, details?: object): Answer {
  const error = {
    code,
    message: ERRORS[code].message,
    requestId: 'r1',
    ...(details && { details }),
  };
  return { status: errorStatus(code), body: { error }, headers: counted };
}

/** A server that answers whatever the test says, to see what the client notices. */
let server: Server;
let answer: Answer;
let seen: IncomingMessage & { text?: string };
let api: ReturnType<typeof createApiClient>;

beforeAll(async () => {
  // What this server says is not what ours can.
  delete process.env.RELAYGER_CONTRACT_LOG;
  server = createServer((request, response) => {
    seen = request;
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      seen.text = text;
      response.writeHead(answer.status, {
        'content-type': 'application/json; charset=utf-8',
        'x-content-type-options': 'nosniff',
        ...answer.headers,
      });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = createApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterAll(async () => {
  api.close();
  await new Promise((resolve) => server.close(resolve));
});

const create = (expected: 201 | 403 = 201) =>
  api.call('createRoom', { token: 't', body: { name: 'general' }, expect: expected });

describe('a call of the contract', () => {
  it('sends token, body, query and encoded parameters, and gives the typed body', async () => {
    answer = { status: 201, body: room, headers: counted };
    const created = await api.call('createRoom', {
      token: 't',
      body: { name: 'general' },
      expect: 201,
    });
    expect(created.body.name satisfies string | null).toBe('general');
    expect(seen.headers.authorization).toBe('Bearer t');
    expect(seen.text).toBe('{"name":"general"}');

    answer = failure('not_found');
    const failed = await api.call('addMember', {
      token: 't',
      params: { room: room.id, identity: '@a/b c' },
      expect: 404,
    });
    expect(failed.body.error.code satisfies ErrorCode).toBe('not_found');
    expect(seen.url).toBe(`/v1/rooms/${room.id}/members/%40a%2Fb%20c`);

    answer = { status: 200, body: [], headers: { ...counted, 'relayger-contact-requests': '0' } };
    await api.call('readMailbox', {
      token: 't',
      query: { wait: 5, consume: '1', limit: undefined },
      expect: 200,
    });
    expect(seen.url).toBe('/v1/mailbox?wait=5&consume=1');
  });

  it.each<[string, Answer, RegExp]>([
    [
      'another status',
      failure('insufficient_scope', { required: ['rooms'] }),
      /status 403, expected 201/,
    ],
    [
      'an undocumented status',
      { status: 202, body: {}, headers: counted },
      /202 is not documented/,
    ],
    [
      'an unknown field',
      { status: 201, body: { ...room, extra: 1 }, headers: counted },
      /additional properties/,
    ],
    [
      'a missing field',
      { status: 201, body: { ...room, members: undefined }, headers: counted },
      /'members'/,
    ],
    ['no rate limit headers', { status: 201, body: room }, /RateLimit-Remaining is missing/],
    [
      'no nosniff',
      { status: 201, body: room, headers: { ...counted, 'x-content-type-options': '' } },
      /nosniff/,
    ],
    [
      'another content type',
      { status: 201, body: 'x', headers: { ...counted, 'content-type': 'text/html' } },
      /content-type is text\/html/,
    ],
  ])('notices %s', async (_, wrong, message) => {
    answer = wrong;
    await expect(create()).rejects.toThrow(message);
  });

  it.each<[string, Answer, RegExp]>([
    [
      'a code of other operations',
      failure('human_only'),
      /human_only is not documented for createRoom/,
    ],
    ['missing details', failure('insufficient_scope'), /required property 'details'/],
    ['details without need', failure('room_restricted_token', { a: 1 }), /additional properties/],
    [
      'a code with another status',
      { ...failure('not_found'), status: 403 },
      /403 with not_found, which is 404/,
    ],
    ['no error body', { status: 403, body: {}, headers: counted }, /createRoom/],
  ])('notices a failure with %s', async (_, wrong, message) => {
    answer = wrong;
    await expect(create(403)).rejects.toThrow(message);
  });

  it('wants documented headers and an equal Retry-After', async () => {
    answer = { status: 200, body: [], headers: { ...counted, 'relayger-contact-requests': '101' } };
    await expect(api.call('readMailbox', { token: 't', expect: 200 })).rejects.toThrow(/is 101/);
    answer = failure('rate_limited', { retryAfter: 7 });
    answer.headers = { ...counted, 'retry-after': '6' };
    await expect(api.call('listRooms', { token: 't', expect: 429 })).rejects.toThrow(
      /is 6, details say 7/,
    );
  });

  it('wants no rate limit headers from failures that come before the token is known', async () => {
    answer = { ...failure('unauthorized'), headers: { 'www-authenticate': 'Bearer' } };
    await api.call('listRooms', { token: 'wrong', expect: 401 });
    answer = { ...failure('invalid_request', { issues: [] }), headers: {} };
    await api.call('createRoom', { token: 't', rawBody: '{', expect: 400 });
    await expect(api.call('createRoom', { token: 't', body: {}, expect: 400 })).rejects.toThrow(
      /RateLimit/,
    );
  });
});

describe('a raw call', () => {
  it('sends path and headers as they are, and checks failures only', async () => {
    answer = failure('method_not_allowed');
    const reply = await api.raw('PATCH', '/v1/rooms/../x?a=%zz', {
      rawBody: '[',
      headers: { 'Content-Type': 'text/plain', origin: 'https://elsewhere.example' },
      expect: 405,
    });
    expect(reply.status).toBe(405);
    expect(seen.url).toBe('/v1/rooms/../x?a=%zz');
    expect(seen.headers).toMatchObject({
      'content-type': 'text/plain',
      origin: 'https://elsewhere.example',
    });

    answer = { status: 404, body: { statusCode: 404 } };
    await expect(api.raw('GET', '/nowhere')).rejects.toThrow(/without a code/);
    answer = { status: 503, body: { ready: false, database: 'down', listening: false } };
    await api.raw('GET', '/readyz', { expect: 503 });
  });
});
