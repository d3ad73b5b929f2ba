import { Injectable } from '@nestjs/common';
import { onceCommitted, type Sql, WakeHub } from '@relayger/kernel';
import { closeWebSessions, type WebSessionChoice } from './sql/close-web-sessions.js';
import { revokeAnyToken } from './sql/revoke-any-token.js';
import { revokeTokens, type TokenChoice } from './sql/revoke-tokens.js';

/**
 * The one way to end tokens and web sessions: whoever waits or listens with one of them is woken once that is
 * committed, looks again, and is turned away.
 */
@Injectable()
export class Endings {
  constructor(private readonly hub: WakeHub) {}

  /** Closes open tokens of an identity. @returns how many */
  async revokeTokens(sql: Sql, identityId: string, choice?: TokenChoice): Promise<number> {
    const revoked = await revokeTokens(sql, identityId, choice);
    if (revoked > 0) this.tell(sql, identityId);
    return revoked;
  }

  /** Revokes a token of anybody; one that has ended stays ended. @returns whose it is, or null when there is none */
  async revokeAnyToken(sql: Sql, tokenId: string): Promise<string | null> {
    const identityId = await revokeAnyToken(sql, tokenId);
    if (identityId !== null) this.tell(sql, identityId);
    return identityId;
  }

  /** Ends web sessions of a person. */
  async closeWebSessions(sql: Sql, identityId: string, choice?: WebSessionChoice): Promise<void> {
    await closeWebSessions(sql, identityId, choice);
    this.tell(sql, identityId);
  }

  /** Something that an identity had open has ended in another way. */
  tell(sql: Sql, identityId: string): void {
    onceCommitted(sql, () => this.hub.wake([`identity:${identityId}`]));
  }
}
