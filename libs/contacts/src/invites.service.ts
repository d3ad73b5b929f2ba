import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type Principal } from '@relayger/kernel';
import {
  type CreatedInvite,
  type CreateInviteRequest,
  fail,
  type Invite,
  type RedeemedInvite,
} from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { ContactsService } from './contacts.service.js';
import { InvitesStore } from './invites.store.js';
import { insertActiveInvite } from './sql/insert-invite.js';
import { lockOpenInvite, spendInvite } from './sql/spend-invite.js';

/** Contact permissions that were agreed on elsewhere. */
@Injectable()
export class InvitesService {
  constructor(
    private readonly database: Database,
    private readonly store: InvitesStore,
    private readonly contacts: ContactsService,
  ) {}

  /** @throws RelaygerError `invite_limit` */
  async create(
    caller: Principal,
    { expiresIn, uses = 1, note }: CreateInviteRequest,
  ): Promise<CreatedInvite> {
    const id = uuid();
    // 32 random bytes: a code cannot be guessed, so its plain hash is safe to store.
    const code = `rlc_${randomBytes(32).toString('base64url')}`;
    const invite = {
      id,
      identityId: caller.identityId,
      codeHash: hashCode(code),
      uses,
      note: note ?? null,
      expiresIn,
    };
    const expiresAt = await this.database.transaction((sql) => insertActiveInvite(sql, invite));
    if (!expiresAt) fail('invite_limit');
    return { id, code, uses, expiresAt: expiresAt.toISOString() };
  }

  list(caller: Principal): Promise<Invite[]> {
    return this.store.list(caller.identityId);
  }

  /** @throws RelaygerError `not_found` */
  async revoke(caller: Principal, id: string): Promise<void> {
    if (!(await this.store.revoke(caller.identityId, id))) fail('not_found');
  }

  /**
   * Makes the caller a friend of the one who made the code, whatever was declined before.
   * @throws RelaygerError `invite_not_found`, `invalid_target`, `contact_unavailable`
   */
  redeem(caller: Principal, code: string): Promise<RedeemedInvite> {
    return this.database.transaction(async (sql) => {
      const invite = await lockOpenInvite(sql, hashCode(code), caller.identityId);
      if (!invite) fail('invite_not_found');
      if (invite.identity_id === caller.identityId) fail('invalid_target');
      const became = await this.contacts.befriend(sql, caller.identityId, invite.identity_id);
      if (became === 'blocked') fail('contact_unavailable');
      if (became === 'friends') await spendInvite(sql, invite.id, caller.identityId);
      return { ok: true, state: 'friend', number: invite.number, handle: invite.handle };
    });
  }
}

function hashCode(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
