import { type Sql, statement } from '@relayger/kernel';
import type { ApprovalAction } from '@relayger/protocol';

/** An approval to store; its hash covers the time at which it expires. */
export interface NewApproval {
  id: string;
  taskId: string;
  roomId: string;
  requesterId: string;
  approverId: string;
  description: string;
  action: ApprovalAction;
  version: string;
  /** Seconds. */
  expiresIn: number;
  expiresAt: Date;
  payloadHash: Buffer;
}

// Rounded down as the column would be, or the time that is hashed is not the one that is stored.
const readExpiry = statement<{ at: Date }>(
  'approvals_read_expiry',
  `SELECT date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $1) AS at`,
);

const insert = statement(
  'approvals_insert',
  `INSERT INTO approvals (id, task_id, room_id, requester_id, approver_id, description, action, version, expires_in,
                          expires_at, payload_hash, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp())`,
);

/** When something that is requested now expires, on the database's clock. */
export async function expiryIn(sql: Sql, seconds: number): Promise<Date> {
  const [row] = await sql.query(readExpiry, [seconds]);
  if (!row) throw new Error('the database has no clock');
  return row.at;
}

/** Stores a pending approval. The caller holds the task and has made sure that it has no other. */
export async function insertApproval(sql: Sql, approval: NewApproval): Promise<void> {
  await sql.query(insert, [
    approval.id,
    approval.taskId,
    approval.roomId,
    approval.requesterId,
    approval.approverId,
    approval.description,
    JSON.stringify(approval.action),
    approval.version,
    approval.expiresIn,
    approval.expiresAt,
    approval.payloadHash,
  ]);
}
