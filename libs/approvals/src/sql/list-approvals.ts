import { type Sql, statement } from '@relayger/kernel';
import { type ApprovalState, LIMITS } from '@relayger/protocol';
import { type ApprovalRow, COLUMNS, STATE } from '../approval.js';

/** One side's approvals in rooms that it may read, newest first: ids are UUIDv7, so their order is that of time. */
function side(column: 'approver_id' | 'requester_id'): string {
  return `(SELECT a.* FROM approvals a
    JOIN memberships m ON m.room_id = a.room_id AND m.identity_id = $1
    JOIN rooms r ON r.id = a.room_id AND r.gate <> 'blocked'
    WHERE a.${column} = $1 AND ($2::uuid[] IS NULL OR a.room_id = ANY ($2)) AND ($3::text IS NULL OR ${STATE} = $3)
    ORDER BY a.id DESC LIMIT ${LIMITS.approvalsListed})`;
}

/** Two walks along an index instead of an OR over two columns, which would sort everything there ever was. */
const list = statement<ApprovalRow>(
  'approvals_list',
  `SELECT ${COLUMNS} FROM (${side('approver_id')} UNION ALL ${side('requester_id')}) a
   ORDER BY id DESC LIMIT ${LIMITS.approvalsListed}`,
);

/** The approvals that an identity requested or is asked for, as far as its token reaches, newest first. */
export function selectApprovals(
  sql: Sql,
  identityId: string,
  roomIds: readonly string[] | null,
  state: ApprovalState | undefined,
): Promise<ApprovalRow[]> {
  return sql.query(list, [identityId, roomIds, state ?? null]);
}
