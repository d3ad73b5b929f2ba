import { type Sql, statement } from '@relayger/kernel';

const close = statement(
  'accounts_close_web_sessions',
  'DELETE FROM web_sessions WHERE identity_id = $1 AND ($2::uuid IS NULL OR id = $2) AND ($3::uuid IS NULL OR id <> $3)',
);

/** Which sessions of a person: all of them unless narrowed down. */
export interface WebSessionChoice {
  only?: string;
  except?: string;
}

/** Ends web sessions of a person. */
export async function closeWebSessions(
  sql: Sql,
  identityId: string,
  { only, except }: WebSessionChoice = {},
): Promise<void> {
  await sql.query(close, [identityId, only ?? null, except ?? null]);
}
