import { type Sql, statement } from '../../database/sql.js';

/** Longer than an attempt can take (`ATTEMPT_MS`): only of a process that died is a mail taken over. */
const LEASE = "interval '5 minutes'";

export interface ClaimedMail {
  id: string;
  content: Buffer;
  /** Number of this attempt. It fences: once the mail has been claimed again, nothing done with it counts. */
  attempt: number;
}

// SKIP LOCKED: whoever claims at the same moment takes the next one instead of waiting for this one. A mail that
// has taken its process down at every attempt is left alone after the last.
const claim = statement<ClaimedMail>(
  'mail_claim',
  `UPDATE mail_outbox SET attempts = attempts + 1, due_at = now() + ${LEASE}
    WHERE id = (SELECT id FROM mail_outbox
                 WHERE due_at <= now() AND expires_at > now() AND attempts < $1
                 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING id, content, attempts AS attempt`,
);

/** Takes the mail that has been due the longest, if any. */
export async function claimMail(sql: Sql, maxAttempts: number): Promise<ClaimedMail | null> {
  const [row] = await sql.query(claim, [maxAttempts]);
  return row ?? null;
}
