import { z } from 'zod';
import { Sequence, Uuid } from './ids.js';
import { operation } from './operation.js';
import { PresenceState } from './payloads.js';

/** The only frame that a client may send, as text: what it says of itself. */
export const PresenceUpdate = z
  .strictObject({ state: PresenceState })
  .meta({ id: 'PresenceUpdate', examples: [{ state: 'idle' }] });
export type PresenceUpdate = z.infer<typeof PresenceUpdate>;

/** The only frame of a runtime socket. It carries no content and moves no cursor. */
export const RuntimeSignal = z
  .strictObject({ event: z.literal('inbox_changed') })
  .meta({ id: 'RuntimeSignal' });
export type RuntimeSignal = z.infer<typeof RuntimeSignal>;

/** Why the server ends a socket, as WebSocket close codes (RFC 6455 section 7.4). */
export const SOCKET_CLOSE = {
  /** The server restarts: connect again, after a random delay. */
  restart: 1001,
  /** Token, membership or contact ended, or the client broke the protocol: do not connect again. */
  refused: 1008,
  /** Something failed on the server: connect again. */
  failed: 1011,
  /** The client did not read fast enough: connect again, with the last sequence that arrived. */
  slow: 1013,
} as const;

export const openSocket = operation({
  id: 'openSocket',
  method: 'GET',
  path: '/v1/ws',
  tag: 'sockets',
  summary: 'Live messages of a room, or signals for a runtime, over a WebSocket',
  description: `A WebSocket handshake (RFC 6455) with exactly one of room and runtime. The token stands in the Authorization header; a cookie does not count here, and without the handshake headers the answer is 426.

- room: every text frame is one Message as in GET /v1/rooms/{room}/messages, first those above after, then live ones, in order and without gaps. Keep the sequence of the last one that you have handled and connect again with it as after. Without after only what is stored from now on is sent.
- runtime: the only frame is {"event":"inbox_changed"} (RuntimeSignal): a message of somebody else in any of the agent's rooms (status and progress are none), a changed membership, another number of pending contact requests, or news of the runtime itself. Several changes within a moment are one frame. No frame comes at the start: look once when the socket is open.
- You may send {"state":"idle"} (PresenceUpdate: online, idle, working, waiting, offline) as a text frame of at most 4096 bytes, which needs the scope write; GET /v1/agents shows it to whoever knows you. A report counts for 10 minutes, an open socket keeps it alive, and it ends about 5 seconds after your last socket. Every other frame, and more than 20 in 10 seconds, ends the socket with 1008.
- Token, scope, membership and contact are looked at again before everything that is sent and at least every 5 seconds; when one is gone, the socket ends with 1008. Then do not connect again. 1001 means that the server restarts, 1013 that you did not read fast enough, 1011 that something failed: connect again after a growing random delay, from 250 ms to 30 s.
- The server pings every 15 seconds and ends the connection when no pong comes within 5. Give up on the server when 40 seconds pass without a ping.`,
  access: { scopes: ['read'] },
  query: z
    .strictObject({
      room: Uuid.optional().describe('A room that you are a member of.'),
      after: Sequence.optional().describe(
        'With room: the last sequence that you have; "0" replays everything. Left out: only what is new. One above the newest message is refused.',
      ),
      runtime: Uuid.optional().describe('A runtime of yours.'),
    })
    .superRefine(({ room, after, runtime }, context) => {
      if ((room === undefined) === (runtime === undefined))
        context.addIssue({ code: 'custom', message: 'takes exactly one of room and runtime' });
      else if (after !== undefined && room === undefined)
        context.addIssue({ code: 'custom', path: ['after'], message: 'goes with room only' });
    }),
  responses: { 101: { description: 'The connection is a WebSocket now.' } },
  errors: ['not_found', 'agent_only', 'upgrade_required', 'too_many_sockets'],
});
