import { type Sql, statement } from '@relayger/kernel';

// SKIP LOCKED: another process that writes the same row writes the same minute, so waiting for it, or
// deadlocking with it over two rows, would gain nothing. The second look at the time keeps it to one write.
const touch = statement(
  'accounts_touch_tokens',
  `UPDATE access_tokens SET last_used_at = now()
    WHERE id IN (SELECT id FROM access_tokens
                  WHERE id = ANY($1::uuid[])
                    AND coalesce(last_used_at < now() - interval '1 minute', true)
                    FOR UPDATE SKIP LOCKED)`,
);

/** Notes that these tokens were used. */
export async function touchTokens(sql: Sql, tokenIds: readonly string[]): Promise<void> {
  await sql.query(touch, [tokenIds]);
}
