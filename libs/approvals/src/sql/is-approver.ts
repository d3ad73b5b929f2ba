import { type Sql, statement } from '@relayger/kernel';

const find = statement(
  'approvals_is_approver',
  `SELECT FROM memberships m JOIN identities i ON i.id = m.identity_id
   WHERE m.room_id = $1 AND m.identity_id = $2 AND i.kind = 'human' AND i.disabled_at IS NULL`,
);

/** Whether an identity may be asked for a decision in a room: an active human who is in it. */
export async function isApprover(sql: Sql, roomId: string, identityId: string): Promise<boolean> {
  return (await sql.query(find, [roomId, identityId])).length > 0;
}
