import { type Sql, statement } from '@relayger/kernel';

/** Who has switched an identity off. What an operator has switched off, the owner cannot switch on. */
export type DisabledBy = 'owner' | 'operator';

// An operator takes over what an owner has disabled, not the other way round.
const disable = statement(
  'identities_disable',
  `UPDATE identities SET disabled_at = coalesce(disabled_at, now()), disabled_by = $2
    WHERE id = $1 AND (disabled_at IS NULL OR $2 = 'operator')`,
);

const enable = statement<{ id: string }>(
  'identities_enable',
  `UPDATE identities SET disabled_at = NULL, disabled_by = NULL
    WHERE id = $1 AND (disabled_at IS NULL OR disabled_by = 'owner' OR $2 = 'operator')
   RETURNING id`,
);

export async function disableIdentity(sql: Sql, id: string, by: DisabledBy): Promise<void> {
  await sql.query(disable, [id, by]);
}

/** @returns false when an operator has disabled the identity and somebody else asks */
export async function enableIdentity(sql: Sql, id: string, by: DisabledBy): Promise<boolean> {
  return (await sql.query(enable, [id, by])).length === 1;
}
