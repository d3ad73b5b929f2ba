import { Injectable } from '@nestjs/common';
import { Database, type Principal, recordAudit, type Sql } from '@relayger/kernel';
import { type AdminToken, fail, type IssuedToken, type TokenInfo } from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { Endings } from './endings.service.js';
import { hashToken, newToken } from './secrets.js';
import { findOpenToken, type TokenGrant } from './sql/find-open-token.js';
import { holdCredential } from './sql/hold-credential.js';
import { isSessionOpen } from './sql/is-session-open.js';
import { isTokenOf } from './sql/is-token-of.js';
import { insertIssuedToken, type NewIssuedToken } from './sql/issue-token.js';
import { listTokens, type TokenRow } from './sql/list-tokens.js';
import { lockCredential } from './sql/lock-credential.js';
import { moveWebSessions } from './sql/move-web-sessions.js';
import { pageTokens, type TokenPage } from './sql/page-tokens.js';
import { summarizeTokens, type TokenSummary } from './sql/summarize-tokens.js';
import { TokensService } from './tokens.service.js';

/** What a token that somebody issues is to grant, and until when: at least one of the two is given. */
type NewGrant = Pick<NewIssuedToken, 'scopes' | 'roomIds' | 'expiresIn' | 'until'>;

/** Tokens that are issued rather than signed in for: by owners, by operators, and by people to themselves. */
@Injectable()
export class IssuedTokensService {
  constructor(
    private readonly database: Database,
    private readonly tokens: TokensService,
    private readonly endings: Endings,
  ) {}

  async list(identityId: string): Promise<TokenInfo[]> {
    return (await listTokens(this.database, identityId)).map(describe);
  }

  /** Open tokens of the whole server, the newest first; for operators. */
  async page(page: TokenPage): Promise<AdminToken[]> {
    return (await pageTokens(this.database, page)).map(describe);
  }

  /** Count and last use, for those of the identities that ever had a token. */
  summarize(identityIds: readonly string[]): Promise<TokenSummary[]> {
    return summarizeTokens(this.database, identityIds);
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
   * Ends a token that another is to take the place of, inside the caller's transaction.
   * @param identityId null for a token of anybody
   * @returns what it granted; null when it was not open, or not of this identity
   */
  async retire(sql: Sql, tokenId: string, identityId: string | null): Promise<TokenGrant | null> {
    const grant = await findOpenToken(sql, tokenId);
    if (!grant || (identityId !== null && grant.identityId !== identityId)) return null;
    // The lock of everything that opens and ends sessions. Whoever held it may have replaced the same token.
    await holdCredential(sql, grant.identityId);
    const revoked = await this.endings.revokeTokens(sql, grant.identityId, { only: tokenId });
    return revoked === 1 ? grant : null;
  }

  /**
   * Revokes a token of an identity; one that has ended before counts as revoked.
   * @returns false when the identity never had such a token
   */
  async revoke(sql: Sql, identityId: string, tokenId: string): Promise<boolean> {
    const revoked = await this.endings.revokeTokens(sql, identityId, { only: tokenId });
    return revoked > 0 || (await isTokenOf(sql, tokenId, identityId));
  }

  /** Revokes a token of anybody, for operators. @returns whose it is, or null when there is none */
  revokeAny(sql: Sql, tokenId: string): Promise<string | null> {
    return this.endings.revokeAnyToken(sql, tokenId);
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
      // Otherwise a token could appear just after all had been ended.
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
    const old = await this.retire(sql, tokenId, identityId);
    if (!old) fail('unauthorized');
    const issued = await this.issue(sql, identityId, {
      scopes: old.scopes,
      roomIds: old.roomIds,
      until: old.expiresAt,
    });
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

function describe<Row extends TokenRow>({ createdAt, lastUsedAt, expiresAt, ...row }: Row) {
  return {
    ...row,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt.toISOString(),
  };
}
