import { type Sql, statement, violatedConstraint } from '@relayger/kernel';
import { fail } from '@relayger/protocol';

const insert = statement(
  'accounts_insert_human_email',
  'INSERT INTO human_emails (identity_id, address) VALUES ($1, $2)',
);

/**
 * Stores the address that a new person signs in with.
 * @throws RelaygerError `conflict` when another person has it. A taken handle answers the same, so the reply does
 *   not tell which of the two it was.
 */
export async function insertHumanEmail(
  sql: Sql,
  identityId: string,
  address: string,
): Promise<void> {
  try {
    await sql.query(insert, [identityId, address]);
  } catch (error) {
    if (violatedConstraint(error) === 'human_emails_address_key') fail('conflict');
    throw error;
  }
}
