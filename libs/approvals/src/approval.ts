import type { Approval, ApprovalAction, ApprovalState } from '@relayger/protocol';

/** An approval as the database has it. */
export interface ApprovalRow {
  id: string;
  task_id: string;
  room_id: string;
  requester_id: string;
  approver_id: string;
  description: string;
  action: ApprovalAction;
  version: string;
  expires_in: number;
  payload_hash: Buffer;
  /** Expired ones are told apart when they are read, whether or not the sweep has been there. */
  state: ApprovalState;
  created_at: Date;
  expires_at: Date;
  decided_at: Date | null;
}

/** One state for what has run out, before and after the sweep. Not now(): the transaction may have waited for the task. */
export const STATE = `CASE WHEN state = 'pending' AND expires_at <= clock_timestamp() THEN 'expired' ELSE state END`;

/** The columns of an `ApprovalRow`. */
export const COLUMNS = `id, task_id, room_id, requester_id, approver_id, description, action, version, expires_in, payload_hash,
       ${STATE} AS state, created_at, expires_at, decided_at`;

/** An approval as the contract has it. */
export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    taskId: row.task_id,
    roomId: row.room_id,
    requesterId: row.requester_id,
    approverId: row.approver_id,
    description: row.description,
    action: row.action,
    version: row.version,
    payloadHash: row.payload_hash.toString('hex'),
    state: row.state,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    ...(row.decided_at !== null && { decidedAt: row.decided_at.toISOString() }),
  };
}
