import { type Sql, statement } from '@relayger/kernel';
import type { CodePurpose } from './insert-email-code.js';

export interface EmailCode {
  id: string;
  address: string;
  hash: Buffer;
}

const list = statement<EmailCode>(
  'accounts_list_email_codes',
  `SELECT id, address, hash FROM email_codes
    WHERE identity_id = $1 AND purpose = $2 AND expires_at > now()
    ORDER BY created_at DESC, id DESC`,
);

/** The codes of an identity that can be used now, the newest first. */
export function listEmailCodes(
  sql: Sql,
  identityId: string,
  purpose: CodePurpose,
): Promise<EmailCode[]> {
  return sql.query(list, [identityId, purpose]);
}
