import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  Batcher,
  Database,
  isUnavailable,
  mayUseRoom,
  type Principal,
  type Sql,
} from '@relayger/kernel';
import { AppenderService } from '@relayger/messages';
import {
  canonicalJson,
  type FinishRequest,
  type FinishResponse,
  fail,
  type HeartbeatRequest,
  type HeartbeatResponse,
  type Receipt,
  RelaygerError,
} from '@relayger/protocol';
import { requireAgent } from './agent-only.js';
import { NotesService } from './notes.service.js';
import {
  explainLease,
  extendLease,
  type FinishAsk,
  type FinishRow,
  finishLeases,
  type LeaseAsk,
  recordReply,
} from './sql/finish-jobs.js';
import { lockRuntime } from './sql/lock-runtime.js';

/** Leases under way: renewing them, and what became of their jobs. */
@Injectable()
export class FinishesService {
  private readonly reports: Batcher<FinishAsk, FinishRow | null>;

  constructor(
    private readonly database: Database,
    private readonly appender: AppenderService,
    private readonly notes: NotesService,
  ) {
    this.reports = new Batcher({
      run: (asks) => this.reportTogether(asks),
      maxItems: 64,
      maxRuns: 2,
      isolate: (error) => !isUnavailable(error),
    });
  }

  /** @throws RelaygerError `agent_only`, `not_found`, `lease_lost` */
  async heartbeat(
    caller: Principal,
    runtimeId: string,
    lease: HeartbeatRequest,
  ): Promise<HeartbeatResponse> {
    requireAgent(caller);
    const ask = toAsk(caller, runtimeId, lease);
    const row = await extendLease(this.database, ask);
    if (row) return { version: row.version, leaseUntil: row.lease_until.toISOString() };
    const { room_id, reachable } = (await explainLease(this.database, ask)) ?? fail('not_found');
    if (!reachable || !mayUseRoom(caller, room_id)) fail('not_found');
    fail('lease_lost');
  }

  /**
   * Stores what became of a job, with everything that goes with it, or nothing.
   * @throws RelaygerError `agent_only`, `not_found`, `lease_lost`, `idempotency_conflict`, `invalid_request` (note
   *   sources), `version_conflict`, `runtime_note_limit`
   */
  async finish(
    caller: Principal,
    runtimeId: string,
    request: FinishRequest,
  ): Promise<FinishResponse> {
    requireAgent(caller);
    const { outcome, reply, note, usage } = request;
    const ask: FinishAsk = {
      ...toAsk(caller, runtimeId, request),
      outcome,
      usage: usage ?? null,
      fingerprint: createHash('sha256')
        .update(canonicalJson({ outcome, reply, note, usage }))
        .digest('hex'),
    };
    if (reply !== undefined || note !== undefined) return this.finishWith(caller, ask, request);
    const counted = await this.reports.do(ask);
    return counted ? { ok: true } : this.settled(this.database, caller, ask);
  }

  /** Own rows first (runtime, job), then the room and the membership: the order of locks everywhere. */
  private async finishWith(
    caller: Principal,
    ask: FinishAsk,
    { reply, note }: FinishRequest,
  ): Promise<FinishResponse> {
    try {
      return await this.appender.appending(async (sql) => {
        if (note) await lockRuntime(sql, ask.runtimeId, ask.identityId);
        const [job] = await finishLeases(sql, [ask]);
        if (!job) return this.settled(sql, caller, ask);
        if (note) await this.notes.writeIn(sql, ask.runtimeId, job.room_id, note, 'body.note');
        if (reply === undefined) return { ok: true };
        const { receipt } = await this.appender.appendEvent(sql, {
          roomId: job.room_id,
          sender: { id: ask.identityId, human: false },
          type: 'text',
          payload: { text: reply },
          payloadPath: 'body.reply',
          replyTo: job.message_id,
          attention: { kind: 'response' },
          key: { clientMessageId: replyKey(ask.deliveryId), fingerprint: ask.fingerprint },
        });
        await recordReply(sql, ask, receipt);
        return { ok: true, reply: receipt };
      });
    } catch (error) {
      // The contact ended between our look at the room and the append's: the same as a moment earlier.
      if (error instanceof RelaygerError && CONTACT_ENDED.has(error.code)) fail('not_found');
      throw error;
    }
  }

  /**
   * Why a report did not count: the answer when it had been stored before, and otherwise what is wrong.
   * @throws RelaygerError `not_found`, `idempotency_conflict`, `lease_lost`
   */
  private async settled(sql: Sql, caller: Principal, ask: FinishAsk): Promise<FinishResponse> {
    const lease = (await explainLease(sql, ask)) ?? fail('not_found');
    if (!mayUseRoom(caller, lease.room_id)) fail('not_found');
    if (lease.fingerprint !== null) {
      if (lease.fingerprint !== ask.fingerprint) fail('idempotency_conflict');
      return { ok: true, ...replyOf(lease) };
    }
    if (!lease.reachable) fail('not_found');
    fail('lease_lost');
  }

  private async reportTogether(asks: FinishAsk[]): Promise<(FinishRow | null)[]> {
    const rows = new Map((await finishLeases(this.database, asks)).map((row) => [row.ord, row]));
    return asks.map((_, ord) => rows.get(ord) ?? null);
  }
}

const CONTACT_ENDED: ReadonlySet<string> = new Set(['contact_required', 'contact_unavailable']);

function toAsk(caller: Principal, runtimeId: string, lease: HeartbeatRequest): LeaseAsk {
  return {
    runtimeId,
    identityId: caller.identityId,
    roomIds: caller.roomIds,
    deliveryId: lease.deliveryId,
    owner: lease.owner,
    version: lease.version,
  };
}

function replyOf({
  room_id: room,
  reply_id: id,
  reply_seq: seq,
}: {
  room_id: string;
  reply_id: string | null;
  reply_seq: string | null;
}): { reply?: Receipt } {
  return id !== null && seq !== null ? { reply: { id, room, seq } } : {};
}

/** A UUID of version 8 (RFC 9562) that stands for the one reply of a job. */
function replyKey(deliveryId: string): string {
  const hex = createHash('sha256').update(`runtime reply ${deliveryId}`).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return [...parts, variant + hex.slice(17, 20), hex.slice(20, 32)].join('-');
}
