import { type Sql, statement } from '@relayger/kernel';
import type { CodePurpose } from './insert-email-code.js';

export interface DeletedCode {
  id: string;
  address: string;
}

/** Which codes of an identity: all of them unless narrowed down. */
export interface CodeChoice {
  purpose?: CodePurpose;
  /** Only those that were sent elsewhere. */
  notTo?: string;
}

const remove = statement<DeletedCode & { usable: boolean }>(
  'accounts_delete_email_codes',
  `DELETE FROM email_codes
    WHERE identity_id = $1 AND ($2::text IS NULL OR purpose = $2)
      AND ($3::text IS NULL OR address <> $3)
   RETURNING id, address, expires_at > now() AS usable`,
);

const removeExpired = statement<{ deleted: number }>(
  'accounts_delete_expired_email_codes',
  `WITH deleted AS (DELETE FROM email_codes WHERE expires_at <= now() RETURNING 1)
   SELECT count(*)::int AS deleted FROM deleted`,
);

/**
 * Ends codes of an identity. Of two that use one code at the same time only one finds it here.
 * @returns those that could have been used
 */
export async function deleteEmailCodes(
  sql: Sql,
  identityId: string,
  { purpose, notTo }: CodeChoice = {},
): Promise<DeletedCode[]> {
  const rows = await sql.query(remove, [identityId, purpose ?? null, notTo ?? null]);
  return rows.filter(({ usable }) => usable);
}

/** Deletes codes that nobody has used in time. */
export async function deleteExpiredEmailCodes(sql: Sql): Promise<number> {
  const [row] = await sql.query(removeExpired, []);
  return row?.deleted ?? 0;
}
