import net from 'node:net';
import type { TestAgent } from '@relayger/api/testing';

/** A connection on which a test writes what it wants, as slowly as it wants. */
export interface Wire {
  readonly socket: net.Socket;
  /** Everything that came back so far. */
  text(): string;
  /** The next reply whose status is not 100, once its body is there. */
  reply(): Promise<WireReply>;
  readonly closed: Promise<void>;
}
interface WireReply {
  status: number;
  head: string;
  text: string;
}

/** The head of an upload request; `lines` are its further headers. */
export function uploadHead(
  { token }: Pick<TestAgent, 'token'>,
  { room, name = 'wire.bin' }: { room: string; name?: string },
  lines: readonly string[],
): string {
  const all = [
    `POST /v1/files?room=${room}&name=${name} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    ...lines,
  ];
  return `${all.join('\r\n')}\r\n\r\n`;
}

/** Opens a connection and writes `head`. */
export async function connect(origin: string, head: string): Promise<Wire> {
  const socket = net.connect(Number(new URL(origin).port), '127.0.0.1');
  let received = '';
  let wake = () => {};
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    wake();
  });
  // A test that cuts a connection is not surprised by it.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve();
      wake();
    });
  });
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(head);

  const parse = (): WireReply | null => {
    const final = received.replace(/^(HTTP\/1\.1 100 [^\r]*\r\n\r\n)+/, '');
    const end = final.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const head = final.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const text = final.slice(end + 4, end + 4 + length);
    return text.length < length ? null : { status: Number(head.split(' ')[1]), head, text };
  };
  return {
    socket,
    text: () => received,
    closed,
    async reply() {
      for (;;) {
        const reply = parse();
        if (reply) return reply;
        if (socket.destroyed) throw new Error(`closed after ${JSON.stringify(received)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** One request and its reply. */
export async function wire(origin: string, request: string): Promise<WireReply> {
  const connection = await connect(origin, request);
  try {
    return await connection.reply();
  } finally {
    connection.socket.destroy();
  }
}
