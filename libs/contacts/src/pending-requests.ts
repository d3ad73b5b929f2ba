import { hasScope, type Principal } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';

/** Whether a token can answer contact requests: to others their number is always 0. */
export function mayAnswerRequests(caller: Principal): boolean {
  return hasScope(caller, 'contacts') && caller.roomIds === null;
}

/**
 * A query for the identities whose request awaits an answer, newest first, to stand inside another statement: every
 * read of the mailbox and every claim answers how many there are.
 * @param identity an SQL expression for who was asked
 */
export function pendingRequesters(identity: string): string {
  return `SELECT c.peer_id FROM contacts c JOIN identities i ON i.id = c.peer_id AND i.disabled_at IS NULL
           WHERE c.identity_id = ${identity} AND c.state = 'incoming'
           ORDER BY c.requested_at DESC LIMIT ${LIMITS.pendingContactRequests}`;
}
