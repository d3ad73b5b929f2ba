import { type Sql, statement } from '@relayger/kernel';
import type { Address } from '@relayger/protocol';

/** Where a direct message goes. */
export interface DirectRow {
  /** Position in the question. */
  ord: number;
  target_id: string;
  /** The conversation that sender and target already have, or null. */
  room_id: string | null;
}

// Three lookups by unique index instead of an OR over three columns, which would not use them.
const resolveDirect = statement<DirectRow>(
  'messages_resolve_direct',
  `SELECT a.ord, i.id AS target_id, r.id AS room_id
   FROM json_to_recordset($1::json) AS a(ord int, sender uuid, kind text, value text)
   CROSS JOIN LATERAL (
     SELECT id, disabled_at FROM identities WHERE a.kind = 'number' AND number = a.value
     UNION ALL SELECT id, disabled_at FROM identities WHERE a.kind = 'handle' AND handle = a.value
     UNION ALL SELECT id, disabled_at FROM identities
       WHERE a.kind = 'id' AND id = CASE WHEN a.kind = 'id' THEN a.value::uuid END
   ) AS i
   LEFT JOIN rooms r ON r.dm_low = least(a.sender, i.id) AND r.dm_high = greatest(a.sender, i.id)
   WHERE i.disabled_at IS NULL`,
);

/** Resolves addresses to identities and existing conversations; an unknown or disabled one gives null. */
export async function selectDirect(
  sql: Sql,
  asks: readonly { senderId: string; target: Address }[],
): Promise<(DirectRow | null)[]> {
  const question = asks.map(({ senderId, target }, ord) => ({ ord, sender: senderId, ...target }));
  const rows = await sql.query(resolveDirect, [JSON.stringify(question)]);
  const answers: (DirectRow | null)[] = asks.map(() => null);
  for (const row of rows) answers[row.ord] = row;
  return answers;
}
