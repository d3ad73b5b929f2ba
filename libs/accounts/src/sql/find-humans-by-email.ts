import { type Sql, statement } from '@relayger/kernel';
import type { MailableAccount } from '../email-codes.service.js';

const find = statement<MailableAccount>(
  'accounts_find_humans_by_email',
  `SELECT i.id AS "identityId", i.number, i.handle
     FROM recovery_emails e JOIN identities i ON i.id = e.identity_id
    WHERE e.address = $1 AND i.kind = 'human' AND i.disabled_at IS NULL
    ORDER BY i.id`,
);

/** The people who have verified an address. */
export function findHumansByEmail(sql: Sql, address: string): Promise<MailableAccount[]> {
  return sql.query(find, [address]);
}
