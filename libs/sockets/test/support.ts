import { once } from 'node:events';
import type { TestAgent, TestApi } from '@relayger/api/testing';
import type { Message } from '@relayger/protocol';
import { type ClientOptions, WebSocket } from 'ws';

/** The headers of a handshake, for calls that are refused before they become one. */
export const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

const PATIENCE_MS = 10_000;

/** A real client, and everything that it got. */
export class Client {
  readonly frames: string[] = [];
  readonly closed: Promise<{ code: number; reason: string; at: number }>;
  pings = 0;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data, isBinary) => {
      if (isBinary) throw new Error('a binary frame');
      this.frames.push(String(data));
    });
    socket.on('ping', () => {
      this.pings++;
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) =>
        resolve({ code, reason: String(reason), at: performance.now() }),
      );
    });
  }

  /** Resolves when the socket is open. */
  static async open(
    origin: string,
    { token }: Pick<TestAgent, 'token'>,
    query: string,
    options: ClientOptions = {},
  ): Promise<Client> {
    const url = `${origin.replace('http:', 'ws:').replace('localhost', '127.0.0.1')}/v1/ws?${query}`;
    const headers = { authorization: `Bearer ${token}`, ...options.headers };
    const client = new Client(new WebSocket(url, { ...options, headers }));
    await once(client.socket, 'open');
    return client;
  }

  /** The messages so far. */
  get messages(): Message[] {
    return this.frames.map((frame) => JSON.parse(frame) as Message);
  }

  get sequences(): number[] {
    return this.messages.map(({ sequence }) => Number(sequence));
  }

  /** Resolves once there are as many frames. */
  until(count: number): Promise<void> {
    return until(
      () => this.frames.length >= count,
      () => `${this.frames.length} of ${count} frames`,
    );
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

/** Waits for a condition. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  describe: () => string = () => 'the condition does not hold',
): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await condition()); ) {
    if (performance.now() > deadline) throw new Error(`after ${PATIENCE_MS} ms: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Listens to a room. */
export function listen(
  t: Pick<TestApi, 'origin'>,
  who: Pick<TestAgent, 'token'>,
  room: string,
  after?: string | number,
  options?: ClientOptions,
): Promise<Client> {
  const query = after === undefined ? `room=${room}` : `room=${room}&after=${after}`;
  return Client.open(t.origin, who, query, options);
}

/** Listens to a runtime of the agent; registers one. */
export async function listenToRuntime(
  t: Pick<TestApi, 'api' | 'origin'>,
  who: TestAgent,
  name = 'worker',
): Promise<Client> {
  return Client.open(t.origin, who, `runtime=${await runtimeOf(t, who, name)}`);
}

export async function runtimeOf(
  { api }: Pick<TestApi, 'api'>,
  { token }: Pick<TestAgent, 'token'>,
  name = 'worker',
): Promise<string> {
  const { body } = await api.raw('POST', '/v1/runtimes', { token, body: { name, from: 'now' } });
  return (body as { id: string }).id;
}
