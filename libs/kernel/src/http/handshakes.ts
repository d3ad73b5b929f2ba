import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { OPERATIONS } from '@relayger/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Paths that can become a WebSocket. */
const PATHS: ReadonlySet<string> = new Set(
  OPERATIONS.filter(({ responses }) => 101 in responses).map(({ path }) => path),
);

const underWay = new WeakMap<IncomingMessage, Handshake>();

/** A WebSocket handshake that has not been answered yet. Until `take` it is a request like every other. */
export class Handshake {
  constructor(
    readonly socket: Socket,
    /** What the client has sent behind the handshake. */
    readonly head: Buffer,
    private readonly response: ServerResponse,
  ) {
    // Node has taken its own listeners off; a client that resets the connection must not end the process.
    socket.on('error', destroy);
    response.assignSocket(socket);
    // HTTP no longer reads from this connection, so it serves this one reply.
    response.shouldKeepAlive = false;
    response.once('finish', () => socket.destroySoon());
  }

  /** Takes the connection out of HTTP: whoever calls it answers from now on, and handles its errors. */
  take(reply: FastifyReply): void {
    reply.hijack();
    this.response.detachSocket(this.socket);
    this.socket.off('error', destroy);
  }
}

/** Whether Node should hand the connection over. All others that offer an upgrade (h2c, say) are plain requests. */
export function isHandshake({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    PATHS.has(url.split('?', 1)[0] ?? '')
  );
}

/**
 * Sends handshakes through the router, so that the same hooks, guard and error filter decide about them as about
 * every call, and a refusal is an ordinary reply.
 */
export function routeHandshakes(fastify: FastifyInstance): void {
  fastify.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const response = new ServerResponse(request);
    try {
      underWay.set(request, new Handshake(socket, head, response));
    } catch {
      // An earlier request on this connection is still being answered; no client of ours does that.
      socket.destroy();
      return;
    }
    fastify.routing(request, response);
  });
}

/** The handshake that a request is; undefined for a plain request. */
export function handshakeOf({ raw }: FastifyRequest): Handshake | undefined {
  return underWay.get(raw);
}

function destroy(this: Socket): void {
  this.destroy();
}
