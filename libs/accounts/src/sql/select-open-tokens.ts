import { type Sql, statement } from '@relayger/kernel';

// LATERAL with LIMIT 1 as in authenticate-tokens. What a token grants never changes, so sockets ask only whether it
// is still open: before everything that they send, for all of them at once.
const select = statement<{ id: string }>(
  'accounts_select_open_tokens',
  `SELECT t.id FROM unnest($1::uuid[]) AS asked(id)
    CROSS JOIN LATERAL (SELECT * FROM access_tokens WHERE id = asked.id LIMIT 1) t
    CROSS JOIN LATERAL (SELECT disabled_at FROM identities WHERE id = t.identity_id LIMIT 1) i
    WHERE t.revoked_at IS NULL AND t.expires_at > now() AND i.disabled_at IS NULL`,
);

/** The ids of those tokens that are neither expired nor revoked nor of a disabled identity. */
export async function selectOpenTokens(sql: Sql, tokenIds: readonly string[]): Promise<string[]> {
  return (await sql.query(select, [tokenIds])).map(({ id }) => id);
}
