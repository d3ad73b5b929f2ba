import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PresenceService } from '@relayger/identities';
import { CONFIG, LOGGER, type Logger, type Principal, WakeHub } from '@relayger/kernel';
import { FeedService } from '@relayger/messages';
import { fail, LIMITS } from '@relayger/protocol';
import { RoomsService, requireReached } from '@relayger/rooms';
import { RuntimesService } from '@relayger/runtimes';
import { AccessService } from './access.service.js';
import type { Connection } from './connection.js';
import type { LiveSocket } from './live-socket.js';
import { type RoomParts, RoomSocket } from './room-socket.js';
import { RuntimeSocket } from './runtime-socket.js';
import type { SocketsConfig } from './sockets.config.js';

/** What a client asked to listen to: exactly one of room and runtime. */
export interface Target {
  room?: string | undefined;
  after?: string | undefined;
  runtime?: string | undefined;
}

/** Makes the WebSocket out of the connection; null when the client is gone. */
type Accept = () => Connection | null;
type Open = (connection: Connection, onGone: (socket: LiveSocket) => void) => LiveSocket;

/** One timer serves all sockets: pings, slow readers, and looks that are due. In ms. */
const TICK_MS = 500;
/** How often open sockets prolong what their identities report, in ms: well within the time that a report counts. */
const PROLONG_MS = 60_000;

/** The WebSockets of this process. */
@Injectable()
export class SocketsService implements OnApplicationShutdown {
  private readonly byIdentity = new Map<string, Set<LiveSocket>>();
  private count = 0;
  private timer: NodeJS.Timeout | null = null;
  private readonly parts: RoomParts;
  /** Identities whose reports are to be prolonged, or to run out, with the next tick. */
  private readonly present = new Set<string>();
  private readonly gone = new Set<string>();
  private prolongedAt = 0;

  constructor(
    private readonly hub: WakeHub,
    private readonly rooms: RoomsService,
    private readonly runtimes: RuntimesService,
    private readonly feed: FeedService,
    private readonly presence: PresenceService,
    access: AccessService,
    @Inject(LOGGER) private readonly log: Logger,
    @Inject(CONFIG) private readonly config: SocketsConfig,
  ) {
    this.parts = {
      hub,
      log,
      feed,
      access,
      pingMs: config.SOCKET_PING_SECONDS * 1000,
      pongMs: config.SOCKET_PONG_SECONDS * 1000,
      drainMs: config.SOCKET_DRAIN_SECONDS * 1000,
      report: (identityId, state) => void presence.report(identityId, state),
      onIdentityWake: (identityId) => this.present.add(identityId),
    };
  }

  /**
   * Lets a caller listen. Until everything is checked the handshake is a request like any other.
   * @throws RelaygerError `unauthorized` without a token, `not_found`, `agent_only`, `too_many_sockets`, `unavailable`
   */
  async open(caller: Principal, { room, after, runtime }: Target, accept: Accept): Promise<void> {
    // A page of any origin can start a handshake, and the browser adds the cookie to it by itself.
    if (caller.tokenId === null || caller.sessionId !== null) fail('unauthorized');
    if (room !== undefined) {
      const { last_seq } = await this.rooms.access(caller, room);
      if (after !== undefined) requireReached(after, last_seq, 'query.after');
      return this.admit(
        caller,
        accept,
        (connection, onGone) =>
          new RoomSocket(caller, connection, this.parts, onGone, room, after ?? last_seq),
      );
    }
    if (runtime === undefined) throw new Error('the schema asks for room or runtime');
    await this.runtimes.get(caller, runtime);
    const inbox = await this.feed.inbox(caller);
    this.admit(
      caller,
      accept,
      (connection, onGone) =>
        new RuntimeSocket(caller, connection, this.parts, onGone, runtime, inbox),
    );
  }

  /** By now every socket has been told that the server restarts and is gone. */
  async onApplicationShutdown(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.notePresence();
  }

  /** Without an await, so that two handshakes cannot both take the last place. */
  private admit({ identityId }: Principal, accept: Accept, open: Open): void {
    const own = this.byIdentity.get(identityId) ?? new Set();
    if (own.size >= LIMITS.sockets) fail('too_many_sockets', { retryAfter: 5 });
    if (this.count >= this.config.SOCKETS || this.hub.isClosed)
      fail('unavailable', { retryAfter: 5 });
    const connection = accept();
    if (!connection) return;
    const socket = open(connection, (closed) => this.remove(closed));
    own.add(socket);
    this.byIdentity.set(identityId, own);
    this.count++;
    this.present.add(identityId);
    this.gone.delete(identityId);
    this.timer ??= setInterval(() => this.tick(), TICK_MS).unref();
    this.log.debug({ identity: identityId }, 'socket opened');
    socket.look();
  }

  private remove(socket: LiveSocket): void {
    const { identityId } = socket.caller;
    const own = this.byIdentity.get(identityId);
    if (!own?.delete(socket)) return;
    this.count--;
    if (own.size > 0) return;
    this.byIdentity.delete(identityId);
    this.present.delete(identityId);
    this.gone.add(identityId);
  }

  private tick(): void {
    const now = performance.now();
    for (const sockets of this.byIdentity.values()) for (const socket of sockets) socket.tick(now);
    if (now - this.prolongedAt >= PROLONG_MS) {
      this.prolongedAt = now;
      for (const identityId of this.byIdentity.keys()) this.present.add(identityId);
    }
    this.notePresence().catch((err: unknown) =>
      this.log.warn({ err }, 'could not note who has sockets'),
    );
    if (this.count > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  private async notePresence(): Promise<void> {
    const present = [...this.present];
    const gone = [...this.gone];
    this.present.clear();
    this.gone.clear();
    if (gone.length > 0) {
      await this.presence.lapse(gone);
      // Where such an identity has sockets at another process, that one says so.
      this.hub.wake(gone.map((id) => `identity:${id}`));
    }
    if (present.length > 0) await this.presence.prolong(present);
  }
}
