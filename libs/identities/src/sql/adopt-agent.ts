import { type Sql, statement } from '@relayger/kernel';

const adopt = statement<{ id: string }>(
  'identities_adopt',
  `UPDATE identities SET owner_id = $2
    WHERE id = $1 AND kind = 'agent' AND owner_id IS NULL AND disabled_at IS NULL
   RETURNING id`,
);

/** Gives an agent its owner. @returns false when it has one, or is no active agent */
export async function adoptAgent(sql: Sql, agentId: string, ownerId: string): Promise<boolean> {
  return (await sql.query(adopt, [agentId, ownerId])).length === 1;
}
