import net from 'node:net';
import {
  createHttpAdapter,
  createLogger,
  kernelSettings,
  loadConfig,
  ServiceAddress,
} from '@relayger/kernel';
import type { FastifyInstance } from 'fastify';

const LIMIT = 300;

let fastify: FastifyInstance;
let port: number;
const sockets: net.Socket[] = [];
beforeAll(async () => {
  const adapter = createHttpAdapter({
    address: new ServiceAddress(loadConfig(kernelSettings, {})),
    log: createLogger('silent'),
    isStopping: () => false,
    requestMs: LIMIT,
  });
  fastify = adapter.getInstance() as unknown as FastifyInstance;
  fastify.post('/v1/echo', async ({ body }) => body);
  fastify.post('/v1/files', async () => ({ ok: true }));
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  port = (fastify.server.address() as net.AddressInfo).port;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await fastify.close();
});

/** Everything that comes back until the connection is closed, or `ms` have passed. */
function exchange(request: string, ms = 5_000): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ text, closed: true }));
    setTimeout(() => resolve({ text, closed: false }), ms).unref();
    socket.write(request);
  });
}
const head = (path: string, ...lines: string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines.join('\r\n')}\r\n\r\n`;

test('a JSON body that does not arrive in time is refused, and its connection closed', async () => {
  for (const request of [
    `${head('/v1/echo', 'Content-Length: 20')}{"half":`,
    `${head('/v1/echo', 'Transfer-Encoding: chunked')}2\r\n{"\r\n`,
    head('/v1/echo', 'Content-Length: 20', 'Expect: 100-continue'),
  ]) {
    const started = performance.now();
    const { text, closed } = await exchange(request);
    expect(closed).toBe(true);
    expect(performance.now() - started).toBeGreaterThan(LIMIT - 50);
    expect(text).toContain('400 Bad Request');
    expect(text).toContain('must arrive within 30 seconds');
  }
});

test('one that does arrive is not, and the connection goes on', async () => {
  const request = `${head('/v1/echo', 'Content-Length: 7')}{"a":1}`;
  const { text, closed } = await exchange(request, LIMIT * 2);
  expect({ text, closed }).toEqual({ text: expect.stringContaining('{"a":1}'), closed: false });
});

test('a body that was refused unread and never comes ends its connection', async () => {
  const foreign = head('/v1/echo', 'Content-Length: 20', 'Origin: https://other.example');
  const { text, closed } = await exchange(foreign);
  expect({ text, closed }).toEqual({
    text: expect.stringContaining('origin_not_allowed'),
    closed: true,
  });
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test('a body of bytes may take longer', async () => {
  const request = `${head('/v1/files', 'Content-Length: 20')}half`;
  const { text, closed } = await exchange(request, LIMIT * 3);
  expect({ text, closed }).toEqual({ text: expect.stringContaining('{"ok":true}'), closed: false });
});
