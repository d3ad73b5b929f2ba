import type { IncomingMessage } from 'node:http';
import type { Handshake } from '@relayger/kernel';
import { LIMITS, SOCKET_CLOSE } from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { WebSocket, WebSocketServer } from 'ws';

/** What the WebSocket layer itself finds wrong with a frame: protocol, kind of data, text, size. */
const VIOLATIONS = new Set([1002, 1003, 1007, 1009]);
/** How long a client has to answer a close frame, in ms; then the connection is cut. */
const CLOSE_MS = 3_000;

/** The server's end of a WebSocket. */
export class Connection extends WebSocket {
  /** The contract has one code for every violation, because it tells clients to stop. */
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code !== undefined && VIOLATIONS.has(code) ? SOCKET_CLOSE.refused : code, reason);
  }
}

const options = {
  noServer: true,
  clientTracking: false,
  // Compression would cost each socket some 300 KiB, and lets secrets be guessed from lengths.
  perMessageDeflate: false,
  maxPayload: LIMITS.socketFrameBytes,
  closeTimeout: CLOSE_MS,
  WebSocket: Connection,
};
const server = new WebSocketServer(options);

/**
 * Answers a handshake whose headers have been checked.
 * @returns null when the client has gone away meanwhile
 */
export function accept(
  handshake: Handshake,
  request: IncomingMessage,
  reply: FastifyReply,
): Connection | null {
  // Neither is spoken here, and what is malformed in them is no reason to refuse.
  delete request.headers['sec-websocket-protocol'];
  delete request.headers['sec-websocket-extensions'];
  const lines = Object.entries(reply.getHeaders()).map(([name, value]) => `${name}: ${value}`);
  const addHeaders = (headers: string[]) => void headers.push(...lines);
  let connection: Connection | null = null;
  handshake.take(reply);
  server.on('headers', addHeaders);
  server.handleUpgrade(request, handshake.socket, handshake.head, (opened) => {
    connection = opened;
  });
  server.off('headers', addHeaders);
  return connection;
}
