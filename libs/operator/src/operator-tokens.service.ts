import { Injectable } from '@nestjs/common';
import { IssuedTokensService } from '@relayger/accounts';
import { IdentitiesService } from '@relayger/identities';
import { Database, type Sql } from '@relayger/kernel';
import {
  type AdminTokenPage,
  fail,
  type IssuedToken,
  LIMITS,
  type Scope,
} from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';
import { type Actor, recordAct } from './actor.js';
import { requireGrantable } from './grantable.js';

const DEFAULT_LIFETIME = LIMITS.tokenDays * 86_400;

interface Grant {
  scopes: readonly Scope[];
  roomIds?: readonly string[] | null | undefined;
  /** Seconds. */
  expiresIn?: number | undefined;
}

/** Tokens of anybody, as operators manage them. */
@Injectable()
export class OperatorTokensService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
    private readonly tokens: IssuedTokensService,
    private readonly rooms: RoomsService,
  ) {}

  async page(query: {
    identityId?: string | undefined;
    before?: string | undefined;
    limit?: number | undefined;
  }): Promise<AdminTokenPage> {
    const { limit = LIMITS.adminPageDefault } = query;
    // One more than asked tells whether there is a next page.
    const found = await this.tokens.page({ ...query, limit: limit + 1 });
    const items = found.slice(0, limit);
    return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** @throws RelaygerError `not_found`, `scope_not_allowed`, `invalid_request`, `identity_disabled`, `token_limit` */
  issue(actor: Actor, identityId: string, grant: Grant): Promise<IssuedToken> {
    return this.database.transaction((sql) => this.issueIn(sql, actor, identityId, grant));
  }

  /** As `issue`, inside the caller's transaction. */
  async issueIn(sql: Sql, actor: Actor, identityId: string, grant: Grant): Promise<IssuedToken> {
    const { scopes, roomIds = null, expiresIn = DEFAULT_LIFETIME } = grant;
    requireGrantable(await this.identities.get(identityId, sql), scopes);
    if (roomIds) await this.rooms.requireJoined(sql, identityId, roomIds);
    const issued = await this.tokens.issue(sql, identityId, { scopes, roomIds, expiresIn });
    const details = { scopes, rooms: roomIds, expiresAt: issued.expiresAt };
    const entry = { action: 'token.issue', subjectId: identityId, tokenId: issued.id } as const;
    await recordAct(sql, actor, { ...entry, details });
    return issued;
  }

  /**
   * Replaces an open token; what is not said anew stays as it was.
   * @throws RelaygerError `not_found`, `scope_not_allowed`, `invalid_request`, `identity_disabled`
   */
  rotate(actor: Actor, tokenId: string, changes: Partial<Grant>): Promise<IssuedToken> {
    return this.database.transaction(async (sql) => {
      const old = await this.tokens.retire(sql, tokenId, null);
      if (!old) fail('not_found');
      const { identityId } = old;
      const { scopes = old.scopes, roomIds = old.roomIds, expiresIn } = changes;
      requireGrantable(await this.identities.get(identityId, sql), scopes);
      if (changes.roomIds) await this.rooms.requireJoined(sql, identityId, changes.roomIds);
      const expiry = expiresIn === undefined ? { until: old.expiresAt } : { expiresIn };
      const issued = await this.tokens.issue(sql, identityId, { scopes, roomIds, ...expiry });
      const details = { replaces: tokenId, scopes, rooms: roomIds, expiresAt: issued.expiresAt };
      const entry = { action: 'token.rotate', subjectId: identityId, tokenId: issued.id } as const;
      await recordAct(sql, actor, { ...entry, details });
      return issued;
    });
  }

  /** @throws RelaygerError `not_found` */
  async revoke(actor: Actor, tokenId: string): Promise<void> {
    await this.database.transaction(async (sql) => {
      const subjectId = await this.tokens.revokeAny(sql, tokenId);
      if (subjectId === null) fail('not_found');
      await recordAct(sql, actor, { action: 'token.revoke', subjectId, tokenId });
    });
  }
}
