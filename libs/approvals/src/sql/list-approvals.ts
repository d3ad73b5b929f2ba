import { type Sql, statement } from '@relayger/kernel';
import { type ApprovalState, LIMITS } from '@relayger/protocol';
import { type ApprovalRow, COLUMNS, STATE } from '../approval.js';

/** One side's approvals in rooms that it may read, newest first: ids are UUIDv7, so their order is that of time. */
function side(column: 'approver_id' | 'requester_id', stored: string): string {
  return `(SELECT a.* FROM approvals a
    JOIN memberships m ON m.room_id = a.room_id AND m.identity_id = $1
    JOIN rooms r ON r.id = a.room_id AND r.gate <> 'blocked'
    WHERE a.${column} = $1 AND ${stored} AND ($2::uuid[] IS NULL OR a.room_id = ANY ($2))
      AND ($3::text IS NULL OR ${STATE} = $3)
    ORDER BY a.id DESC LIMIT ${LIMITS.approvalsListed})`;
}

/** Two walks along an index instead of an OR over two columns, which would sort everything there ever was. */
function listOf(name: string, stored: string) {
  return statement<ApprovalRow>(
    name,
    `SELECT ${COLUMNS} FROM (${side('approver_id', stored)} UNION ALL ${side('requester_id', stored)}) a
     ORDER BY id DESC LIMIT ${LIMITS.approvalsListed}`,
  );
}

const list = listOf('approvals_list', 'true');
// What people and agents look at again and again, so it has indexes of its own: among 100,000 that were decided the
// walk along the others takes 190 ms, this one 0.1 (measured).
const listPending = listOf('approvals_list_pending', "a.state = 'pending'");

/** The approvals that an identity requested or is asked for, as far as its token reaches, newest first. */
export function selectApprovals(
  sql: Sql,
  identityId: string,
  roomIds: readonly string[] | null,
  state: ApprovalState | undefined,
): Promise<ApprovalRow[]> {
  const found = state === 'pending' ? listPending : list;
  return sql.query(found, [identityId, roomIds, state ?? null]);
}
