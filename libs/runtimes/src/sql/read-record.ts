import { type Sql, statement } from '@relayger/kernel';
import type { RuntimeRecord } from '@relayger/protocol';
import { canWorkIn, JOB_STATE } from './is-work.js';

interface RecordRow {
  id: string;
  message_id: string;
  room_id: string;
  seq: string;
  state: RuntimeRecord['state'];
  attempts: number;
  lease_until: Date;
  reply_id: string | null;
  reply_seq: string | null;
  created_at: Date;
  updated_at: Date;
}

// Backwards along runtime_deliveries_runtime_id_position_idx. Only one attempt of a job can have stored a reply.
const readLog = statement<RecordRow>(
  'runtimes_read_log',
  `SELECT d.id, d.message_id, d.room_id, d.seq, ${JOB_STATE} AS state, d.attempts, d.due_at AS lease_until,
          t.reply_id, t.reply_seq, d.created_at, d.updated_at
   FROM runtimes rt
   JOIN runtime_deliveries d ON d.runtime_id = rt.id
   LEFT JOIN runtime_attempts t ON t.delivery_id = d.id AND t.reply_id IS NOT NULL
   WHERE rt.id = $1 AND ($3::uuid[] IS NULL OR d.room_id = ANY ($3)) AND ${canWorkIn('$2', 'd.room_id')}
   ORDER BY d.position DESC LIMIT $4`,
);

export interface StatsRow {
  claims: string;
  model_calls: string;
  input_tokens: string;
  output_tokens: string;
  unreported: string;
  unfinished: string;
}

const readStats = statement<StatsRow>(
  'runtimes_read_stats',
  `SELECT count(*) AS claims, coalesce(sum(model_calls), 0) AS model_calls,
          coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
          count(*) FILTER (WHERE finished_at IS NOT NULL AND model_calls IS NULL) AS unreported,
          count(*) FILTER (WHERE finished_at IS NULL) AS unfinished
   FROM runtime_attempts WHERE runtime_id = $1`,
);

/** The newest jobs of a runtime, as far as the identity and its token reach. */
export async function selectLog(
  sql: Sql,
  runtimeId: string,
  identityId: string,
  roomIds: readonly string[] | null,
  limit: number,
): Promise<RuntimeRecord[]> {
  const rows = await sql.query(readLog, [runtimeId, identityId, roomIds, limit]);
  return rows.map((row) => ({
    deliveryId: row.id,
    messageId: row.message_id,
    room: row.room_id,
    seq: row.seq,
    state: row.state,
    attempts: row.attempts,
    ...(row.state === 'leased' && { leaseUntil: row.lease_until.toISOString() }),
    ...(row.reply_id !== null &&
      row.reply_seq !== null && {
        reply: { id: row.reply_id, room: row.room_id, seq: row.reply_seq },
      }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }));
}

/** Totals over all attempts of a runtime. */
export async function selectStats(sql: Sql, runtimeId: string): Promise<StatsRow> {
  const [row] = await sql.query(readStats, [runtimeId]);
  if (!row) throw new Error('an aggregate has a row');
  return row;
}
