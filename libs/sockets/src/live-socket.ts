import {
  type Follower,
  hasScope,
  isRetryable,
  isUnavailable,
  type Logger,
  type Principal,
  parseJsonText,
  type Subscription,
  type WakeHub,
} from '@relayger/kernel';
import { PresenceUpdate, SOCKET_CLOSE } from '@relayger/protocol';
import type { RawData } from 'ws';
import type { Connection } from './connection.js';

/** What every socket works with. */
export interface SocketParts {
  hub: WakeHub;
  log: Logger;
  /** In ms, from the settings. */
  pingMs: number;
  pongMs: number;
  drainMs: number;
  report(identityId: string, state: PresenceUpdate['state']): void;
  /** Something about an identity has changed that has a socket here. */
  onIdentityWake(identityId: string): void;
}

/** A wake may be lost with the process that had it to tell; permissions end within 5 s all the same. In ms. */
const LOOK_MS = 4_000;
/** Frames of a client within a window, in ms, that are no flood: a presence changes when something happens. */
const FRAMES = 20;
const FRAMES_MS = 10_000;
/** Bytes that are handed to the network before it has taken them. */
const SLICE = 65_536;

/**
 * A WebSocket that was let in: it looks whenever it is woken, one look at a time, and holds no timer and no database
 * connection in between.
 */
export abstract class LiveSocket implements Follower {
  protected readonly subscription: Subscription;
  private ended = false;
  private looking = false;
  private lookAgain = false;
  /** The last look failed with the database; another is due. */
  private failed = false;
  private asking = false;
  private lookedAt = performance.now();
  private nextPing: number;
  private pingedAt: number | null = null;
  private writingSince: number | null = null;
  private frames = 0;
  private framesSince = 0;

  constructor(
    readonly caller: Principal,
    private readonly connection: Connection,
    private readonly parts: SocketParts,
    onGone: (socket: LiveSocket) => void,
  ) {
    this.nextPing = this.lookedAt + parts.pingMs;
    this.subscription = parts.hub.follow(this);
    this.subscription.add(`identity:${caller.identityId}`);
    connection.on('message', (data, isBinary) => this.receive(data, isBinary));
    connection.on('pong', () => {
      this.pingedAt = null;
    });
    // Whatever broke, 'close' follows.
    connection.on('error', () => {});
    connection.once('close', (code) => {
      this.stop();
      parts.log.debug({ identity: caller.identityId, code }, 'socket closed');
      onGone(this);
    });
  }

  onWake(topic?: string): void {
    if (topic?.startsWith('identity:')) this.parts.onIdentityWake(this.caller.identityId);
    this.look();
  }

  onClose(): void {
    this.end(SOCKET_CLOSE.restart, 'the server restarts');
  }

  /** Looks now, or once more when a look is under way. */
  look(): void {
    if (this.ended) return;
    this.lookAgain = true;
    if (!this.looking) void this.keepLooking();
    // A client that does not read must not keep its permission that way.
    else if (this.writingSince !== null && !this.asking) void this.askAgain();
  }

  /** What time brings: called about twice a second for all sockets together. */
  tick(now: number): void {
    if (this.ended) return;
    if (this.pingedAt !== null) {
      if (now - this.pingedAt >= this.parts.pongMs) this.connection.terminate();
    } else if (now >= this.nextPing) {
      this.pingedAt = now;
      this.nextPing = now + this.parts.pingMs;
      this.connection.ping();
    }
    if (this.writingSince !== null && now - this.writingSince >= this.parts.drainMs)
      this.end(SOCKET_CLOSE.slow, 'you did not read what was sent');
    // This process's clock says only when to ask; the database's decides.
    const expired = Date.now() >= this.caller.expiresAt.getTime();
    if (this.failed || expired || now - this.lookedAt >= LOOK_MS) this.look();
  }

  /**
   * One look: reads, asks whether the caller still may, and only then sends, so that nothing leaves that was said
   * after the permission had ended.
   * @returns whether there may be more
   */
  protected abstract step(): Promise<boolean>;

  /** Whether the caller may still be here; ends the socket when not. */
  protected async mayStay(): Promise<boolean> {
    if (await this.isPermitted()) return true;
    this.end(SOCKET_CLOSE.refused, 'your token, membership or contact has ended');
    return false;
  }

  protected abstract isPermitted(): Promise<boolean>;

  /** Sends frames in order, and waits whenever the network has not taken what it got: memory stays bounded. */
  protected async send(frames: Iterable<Buffer>, onSent?: (index: number) => void): Promise<void> {
    let waiting: Promise<void> | null = null;
    let bytes = 0;
    let index = 0;
    for (const frame of frames) {
      if (this.ended) return;
      waiting = new Promise((resolve) => {
        this.connection.send(frame, { binary: false }, () => resolve());
      });
      onSent?.(index++);
      bytes += frame.length;
      if (bytes < SLICE) continue;
      await this.written(waiting);
      waiting = null;
      bytes = 0;
    }
    if (waiting) await this.written(waiting);
  }

  /** Ends the socket, the client being told why. */
  private end(code: number, reason: string): void {
    if (this.ended) return;
    this.stop();
    this.connection.close(code, reason);
  }

  /** Nothing is told to this socket any more. */
  protected stop(): void {
    this.ended = true;
    this.subscription.end();
  }

  private async written(waiting: Promise<void>): Promise<void> {
    this.writingSince = performance.now();
    await waiting;
    this.writingSince = null;
  }

  private async keepLooking(): Promise<void> {
    this.looking = true;
    try {
      while (this.lookAgain && !this.ended) {
        this.lookAgain = false;
        this.lookedAt = performance.now();
        if (await this.step()) this.lookAgain = true;
        this.failed = false;
      }
    } catch (err) {
      // The database is away: the socket stays and looks again; its client would only come back to the same.
      this.failed = isUnavailable(err) || isRetryable(err);
      if (!this.failed) {
        this.parts.log.error({ err, identity: this.caller.identityId }, 'a socket failed');
        this.end(SOCKET_CLOSE.failed, 'something failed on the server');
      }
    } finally {
      this.looking = false;
    }
  }

  private async askAgain(): Promise<void> {
    this.asking = true;
    this.lookedAt = performance.now();
    try {
      await this.mayStay();
    } catch (err) {
      // The look that is under way meets the same failure when the client has read.
      this.parts.log.debug({ err }, 'could not ask again whether a socket may stay');
    } finally {
      this.asking = false;
    }
  }

  private receive(data: RawData, isBinary: boolean): void {
    if (this.ended) return;
    const now = performance.now();
    if (now - this.framesSince >= FRAMES_MS) {
      this.framesSince = now;
      this.frames = 0;
    }
    const update = isBinary ? null : readUpdate(data);
    if (++this.frames > FRAMES) this.end(SOCKET_CLOSE.refused, 'too many frames');
    else if (!update) this.end(SOCKET_CLOSE.refused, 'send only {"state":"…"}');
    else if (!hasScope(this.caller, 'write'))
      this.end(SOCKET_CLOSE.refused, 'needs the scope write');
    else this.parts.report(this.caller.identityId, update.state);
  }
}

function readUpdate(data: RawData): PresenceUpdate | null {
  try {
    return PresenceUpdate.parse(parseJsonText(String(data), 'frame'));
  } catch {
    return null;
  }
}
