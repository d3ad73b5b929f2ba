import { int } from '@relayger/kernel';
import { z } from 'zod';

/** Settings of the sockets library; each is described where it is defaulted. */
export const socketsSettings = {
  SOCKETS: int(1, 1_000_000).default(10_000).describe('Most WebSockets of one process.'),
  SOCKET_PING_SECONDS: int(1, 60)
    .default(15)
    .describe('How often a WebSocket is pinged; less than what proxies in between allow.'),
  SOCKET_PONG_SECONDS: int(1, 60)
    .default(5)
    .describe('How long a pong may take before the connection counts as dead.'),
  SOCKET_DRAIN_SECONDS: int(1, 300)
    .default(10)
    .describe('How long a client may leave 64 KiB of a WebSocket unread before it is dropped.'),
};

/** The sockets library's settings as read; injected with the CONFIG token. */
export type SocketsConfig = z.infer<z.ZodObject<typeof socketsSettings>>;
