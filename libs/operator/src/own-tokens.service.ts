import { Injectable } from '@nestjs/common';
import { IssuedTokensService } from '@relayger/accounts';
import { Database, hasScope, type Principal, recordAudit, requireScopes } from '@relayger/kernel';
import { fail, failField, type IssuedToken, type IssueTokenRequest } from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';
import { requireWithin } from './grantable.js';

/** A person's own tokens, under the same calls that administrators have for everybody's. */
@Injectable()
export class OwnTokensService {
  constructor(
    private readonly database: Database,
    private readonly tokens: IssuedTokensService,
    private readonly rooms: RoomsService,
  ) {}

  /**
   * Replaces an own token by one that grants no more: not more than the old one, and not more than the one that the
   * call was made with, so that a narrow token cannot turn itself into a wide one.
   * @throws RelaygerError `insufficient_scope`, `admin_role_required`, `not_found`, `scope_not_allowed`,
   *   `invalid_request`
   */
  rotate(caller: Principal, request: IssueTokenRequest): Promise<IssuedToken> {
    const { rotate, expiresIn, reason } = request;
    if (rotate === undefined || request.identityId !== undefined) refuseOthers(caller);
    const tokenId = rotate === 'current' ? caller.tokenId : rotate;
    // A session that was opened with a password hangs on no token.
    if (tokenId === null) fail('not_found');
    requireOwn(caller, tokenId);
    const { identityId } = caller;
    return this.database.transaction(async (sql) => {
      const old = await this.tokens.retire(sql, tokenId, identityId);
      if (!old) fail('not_found');
      const { scopes = old.scopes, roomIds = old.roomIds } = request;
      requireWithin(scopes, old.scopes);
      requireWithin(scopes, caller.scopes);
      if (roomIds !== null && old.roomIds === null) {
        await this.rooms.requireJoined(sql, identityId, roomIds);
      } else if (old.roomIds !== null && !roomIds?.every((id) => old.roomIds?.includes(id))) {
        failField('body.roomIds', 'must be among the rooms of the old token');
      }
      const grant = { scopes, roomIds, expiresIn, until: old.expiresAt };
      const issued = await this.tokens.issue(sql, identityId, grant);
      await recordAudit(sql, {
        actorId: identityId,
        action: 'token.rotate',
        subjectId: identityId,
        tokenId: issued.id,
        reason,
        details: { replaces: tokenId, scopes, rooms: roomIds, expiresAt: issued.expiresAt },
      });
      return issued;
    });
  }

  /** @throws RelaygerError `insufficient_scope`, `admin_role_required`, `not_found` */
  async revoke(caller: Principal, tokenId: string, reason: string | undefined): Promise<void> {
    requireOwn(caller, tokenId);
    const { identityId } = caller;
    await this.database.transaction(async (sql) => {
      if (!(await this.tokens.revoke(sql, identityId, tokenId))) fail('not_found');
      const entry = { action: 'token.revoke', subjectId: identityId, tokenId } as const;
      await recordAudit(sql, { ...entry, actorId: identityId, reason });
    });
  }
}

/** Any token may end or replace itself; the others of its person are a matter of the account. */
function requireOwn(caller: Principal, tokenId: string): void {
  if (caller.kind !== 'human') refuseOthers(caller);
  if (tokenId !== caller.tokenId) requireScopes(caller, ['account']);
}

function refuseOthers(caller: Principal): never {
  return hasScope(caller, 'admin')
    ? fail('admin_role_required')
    : fail('insufficient_scope', { required: ['admin'] });
}
