import { Injectable } from '@nestjs/common';
import { Database, type Principal, recordAudit, type Sql } from '@relayger/kernel';
import { fail, type IssuedToken, type Scope, type TokenInfo } from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { hashToken, newToken } from './secrets.js';
import { findOpenToken, type TokenGrant } from './sql/find-open-token.js';
import { isSessionOpen } from './sql/is-session-open.js';
import { isTokenOf } from './sql/is-token-of.js';
import { insertIssuedToken } from './sql/issue-token.js';
import { listTokens } from './sql/list-tokens.js';
import { lockCredential } from './sql/lock-credential.js';
import { moveWebSessions } from './sql/move-web-sessions.js';
import { revokeTokens } from './sql/revoke-tokens.js';
import { summarizeTokens, type TokenSummary } from './sql/summarize-tokens.js';
import { TokensService } from './tokens.service.js';

/** What a token that somebody issues is to grant. */
export interface NewGrant {
  scopes: readonly Scope[];
  roomIds: readonly string[] | null;
  /** Seconds from now, or the very moment. */
  expires: number | Date;
}

/** Tokens that are issued rather than signed in for: by owners, by operators, and by people to themselves. */
@Injectable()
export class IssuedTokensService {
  constructor(
    private readonly database: Database,
    private readonly tokens: TokensService,
  ) {}

  async list(identityId: string): Promise<TokenInfo[]> {
    const rows = await listTokens(this.database, identityId);
    return rows.map(({ createdAt, lastUsedAt, expiresAt, ...row }) => ({
      ...row,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
      expiresAt: expiresAt.toISOString(),
    }));
  }

  /** Count and last use, for those of the identities that ever had a token. */
  summarize(identityIds: readonly string[]): Promise<TokenSummary[]> {
    return summarizeTokens(this.database, identityIds);
  }

  /** An open token and what it grants; null for every other. */
  find(sql: Sql, tokenId: string): Promise<TokenGrant | null> {
    return findOpenToken(sql, tokenId);
  }

  /**
   * Issues a token inside the caller's transaction. What it may grant to whom is the caller's to decide.
   * @throws RelaygerError `identity_disabled`, `token_limit`
   */
  async issue(sql: Sql, identityId: string, grant: NewGrant): Promise<IssuedToken> {
    if (!(await lockCredential(sql, identityId))) fail('identity_disabled');
    const id = uuid();
    const token = newToken();
    const hash = hashToken(token) as Buffer;
    const expiresAt = await insertIssuedToken(sql, { id, identityId, hash, ...grant });
    if (!expiresAt) fail('token_limit');
    return {
      id,
      token,
      scopes: [...grant.scopes],
      roomIds: grant.roomIds && [...grant.roomIds],
      expiresAt: expiresAt.toISOString(),
    };
  }

  /**
   * Revokes a token of an identity; one that has ended before counts as revoked.
   * @returns false when the identity never had such a token
   */
  async revoke(sql: Sql, identityId: string, tokenId: string): Promise<boolean> {
    const revoked = await revokeTokens(sql, identityId, { only: tokenId });
    return revoked > 0 || (await isTokenOf(sql, tokenId, identityId));
  }

  /**
   * Gives a person a token in the place of the one that the call was made with: same scopes, rooms and expiry.
   * Web sessions that hang on the old one hang on the new one. A session that was opened with a password has none;
   * its person has just proven more than a token does, and gets one as after a registration.
   * @throws RelaygerError `human_only`, `unauthorized` when token or session have ended since the request began
   */
  rotateOwn(caller: Principal): Promise<IssuedToken> {
    const { identityId, kind } = caller;
    if (kind !== 'human') fail('human_only');
    return this.database.transaction(async (sql) => {
      // The lock of everything that ends sessions: otherwise a token could appear just after they had all ended.
      await lockCredential(sql, identityId);
      const issued = await (caller.tokenId === null
        ? this.openFor(sql, caller)
        : this.replace(sql, identityId, caller.tokenId));
      await recordAudit(sql, {
        actorId: identityId,
        action: 'token.rotate',
        subjectId: identityId,
        tokenId: issued.id,
        details: { replaces: caller.tokenId },
      });
      return issued;
    });
  }

  private async replace(sql: Sql, identityId: string, tokenId: string): Promise<IssuedToken> {
    const old = await findOpenToken(sql, tokenId);
    if (!old) fail('unauthorized');
    await revokeTokens(sql, identityId, { only: tokenId });
    const issued = await this.issue(sql, identityId, { ...old, expires: old.expiresAt });
    await moveWebSessions(sql, tokenId, issued.id);
    return issued;
  }

  private async openFor(
    sql: Sql,
    { identityId, sessionId, scopes }: Principal,
  ): Promise<IssuedToken> {
    if (sessionId === null || !(await isSessionOpen(sql, sessionId))) fail('unauthorized');
    const { id, token, expiresAt } = await this.tokens.open(sql, identityId, scopes);
    return { id, token, scopes: [...scopes], roomIds: null, expiresAt: expiresAt.toISOString() };
  }
}
