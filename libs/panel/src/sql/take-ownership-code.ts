import { type Sql, statement } from '@relayger/kernel';

// The DELETE waits for whoever redeems the same code at the moment, and then finds nothing. A code ends with the
// token that made it: otherwise a thief could turn a stolen token into ownership after the agent has recovered. The
// token is held, so that a revocation that commits at this moment is either seen or comes after the claim.
const take = statement<{ identity_id: string }>(
  'panel_take_ownership_code',
  `WITH token AS MATERIALIZED (
     SELECT t.id FROM access_tokens t JOIN ownership_codes c ON c.token_id = t.id
     WHERE c.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > now()
     FOR SHARE OF t
   )
   DELETE FROM ownership_codes c USING token
   WHERE c.hash = $1 AND c.token_id = token.id AND c.expires_at > now()
   RETURNING c.identity_id`,
);

/** Uses a code up. @returns the agent that made it, or null for a code that does not work */
export async function takeOwnershipCode(sql: Sql, hash: Buffer): Promise<string | null> {
  const [row] = await sql.query(take, [hash]);
  return row?.identity_id ?? null;
}
