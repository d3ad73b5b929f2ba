import { type Sql, statement } from '@relayger/kernel';

export interface KeyRow {
  key_id: string;
  public_key: string;
  created_at: Date;
  /** True when this call stored it. */
  created: boolean;
}

// The WHERE keeps the current key when the same keyId comes with other bytes; then nothing is returned. A retry
// of the current pair changes nothing and answers the stored row.
const publish = statement<KeyRow>(
  'identities_publish_key',
  `WITH before AS MATERIALIZED (SELECT key_id, public_key FROM identity_keys WHERE identity_id = $1)
   INSERT INTO identity_keys AS k (identity_id, key_id, public_key) VALUES ($1, $2, $3)
   ON CONFLICT (identity_id) DO UPDATE SET
     key_id = excluded.key_id,
     public_key = excluded.public_key,
     created_at = CASE WHEN k.key_id = excluded.key_id THEN k.created_at ELSE excluded.created_at END
   WHERE k.key_id <> excluded.key_id OR k.public_key = excluded.public_key
   RETURNING key_id, public_key, created_at,
     NOT EXISTS (SELECT FROM before WHERE key_id = $2 AND public_key = $3) AS created`,
);

/** Stores the current key; null when its keyId is the current one with another key. */
export async function upsertKey(
  sql: Sql,
  identityId: string,
  keyId: string,
  publicKey: string,
): Promise<KeyRow | null> {
  const [row] = await sql.query(publish, [identityId, keyId, publicKey]);
  return row ?? null;
}
