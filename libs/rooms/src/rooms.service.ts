import { Injectable } from '@nestjs/common';
import { ContactsService, type Relationship } from '@relayger/contacts';
import { IdentitiesService, type IdentityRecord } from '@relayger/identities';
import {
  Database,
  mayUseRoom,
  type Principal,
  requireScopes,
  type Sql,
  WakeHub,
} from '@relayger/kernel';
import {
  fail,
  failField,
  type Member,
  parseAddress,
  type Room,
  type RoomKey,
} from '@relayger/protocol';
import { RoomsStore } from './rooms.store.js';
import { insertRoomMember } from './sql/add-member.js';
import { deleteRoomMember } from './sql/delete-member.js';
import { type RoomAccess, selectRoomAccess } from './sql/get-room-access.js';
import { selectCompanions } from './sql/list-companions.js';
import { selectJoined } from './sql/list-joined.js';
import { selectMembers } from './sql/list-members.js';
import { type RoomReader, selectReadable } from './sql/list-readable.js';
import { selectRoomKeys } from './sql/list-room-keys.js';
import { type RoomRow, selectRoom, selectRooms } from './sql/list-rooms.js';
import { openDmRoom, selectDm } from './sql/open-dm.js';
import { type DmGate, isHumanOnly, setDmGate } from './sql/set-dm-gate.js';

/** Conversations and who is in them. */
@Injectable()
export class RoomsService {
  constructor(
    private readonly database: Database,
    private readonly store: RoomsStore,
    private readonly contacts: ContactsService,
    private readonly identities: IdentitiesService,
    private readonly hub: WakeHub,
  ) {
    contacts.onChange(async (sql, a, b, now) => {
      await setDmGate(sql, a, b, await gateOf(sql, a, b, now));
    });
  }

  /** A new private group that the caller owns. */
  async create(caller: Principal, name: string): Promise<Room> {
    const { id, createdAt } = await this.store.createGroup(name, caller.identityId);
    return {
      id,
      kind: 'group',
      name,
      ownerId: caller.identityId,
      createdAt: createdAt.toISOString(),
      sequence: '0',
      deliveredSequence: '0',
      ...(caller.kind === 'human' && { seenSequence: '0' }),
      unread: 0,
      members: 1,
    };
  }

  /** The conversations that the caller's token may read, newest first. */
  async list(caller: Principal): Promise<Room[]> {
    const rows = await selectRooms(this.database, caller.identityId, caller.roomIds);
    return rows.map((row) => toRoom(row, caller.kind === 'human'));
  }

  /**
   * One of these conversations.
   * @throws RelaygerError `not_found`
   */
  async get(caller: Principal, roomId: string): Promise<Room> {
    const row = mayUseRoom(caller, roomId)
      ? await selectRoom(this.database, caller.identityId, roomId)
      : null;
    return row ? toRoom(row, caller.kind === 'human') : fail('not_found');
  }

  /**
   * The members of a room, the owner first.
   * @throws RelaygerError `not_found`
   */
  async members(caller: Principal, roomId: string): Promise<Member[]> {
    await this.access(caller, roomId);
    return selectMembers(this.database, roomId);
  }

  /**
   * The direct conversation with `target`, opened when there is none.
   * @throws RelaygerError `not_found`, `invalid_number`, `invalid_number_check_digit`, and as `openDm`
   */
  async dm(caller: Principal, target: string): Promise<{ room: Room; created: boolean }> {
    const peer = await this.identities.resolveActive(target, 'body.target');
    return this.database.transaction(async (sql) => {
      const { id, created } = await this.openDm(sql, caller, peer);
      if (created) sql.afterCommit(() => this.hub.wake([`identity:${peer.id}`]));
      // Still under the lock of the pair, so no block can hide the room in between.
      const row = await selectRoom(sql, caller.identityId, id);
      if (!row) throw new Error('an open direct conversation is not to be seen');
      return { room: toRoom(row, caller.kind === 'human'), created };
    });
  }

  /**
   * The room as the caller may read it.
   * @throws RelaygerError `not_found` for rooms that do not exist, are not the caller's, are outside the
   *   token's list or lie behind a block: the four look the same
   */
  async access(caller: Principal, roomId: string): Promise<RoomAccess> {
    const access = mayUseRoom(caller, roomId)
      ? await selectRoomAccess(this.database, roomId, caller.identityId)
      : null;
    if (!access || access.gate === 'blocked') fail('not_found');
    return access;
  }

  /**
   * The room as the caller may put something into it other than by the append, which decides for itself.
   * @throws RelaygerError `not_found`, `contact_required`, `contact_unavailable`, as for sending
   */
  async sendAccess(caller: Principal, roomId: string, sql: Sql): Promise<RoomAccess> {
    const access = mayUseRoom(caller, roomId)
      ? await selectRoomAccess(sql, roomId, caller.identityId)
      : null;
    if (!access) fail('not_found');
    if (access.gate === 'blocked') fail('contact_unavailable');
    if (access.gate === 'closed') fail('contact_required');
    return access;
  }

  /** Of many questions at once: which identity may read which room, as `access` would say of membership and gate. */
  async readable(questions: readonly RoomReader[]): Promise<boolean[]> {
    return selectReadable(this.database, questions);
  }

  /**
   * Adds an identity to the caller's group.
   * @returns true when it was not a member before
   * @throws RelaygerError `not_found`, `dm_members_fixed`, `room_owner_required`, `contact_unavailable`
   */
  async addMember(caller: Principal, roomId: string, address: string): Promise<boolean> {
    const access = await this.access(caller, roomId);
    if (access.kind === 'dm') fail('dm_members_fixed');
    // Before the address is looked at: who may not add members must not learn which addresses exist.
    if (access.owner_id !== caller.identityId) fail('room_owner_required');
    const identity = await this.identities.resolveActive(address, 'params.identity');
    const outcome = await this.database.transaction((sql) =>
      insertRoomMember(sql, roomId, identity.id),
    );
    if (outcome === 'blocked') fail('contact_unavailable');
    if (outcome === 'added') this.hub.wake([`identity:${identity.id}`]);
    return outcome === 'added';
  }

  /**
   * Removes a member: the owner anybody else, everybody themselves.
   * @throws RelaygerError `not_found`, `dm_members_fixed`, `room_owner_required`, `cannot_remove_owner`
   */
  async removeMember(caller: Principal, roomId: string, address: string): Promise<void> {
    const access = await this.access(caller, roomId);
    if (access.kind === 'dm') fail('dm_members_fixed');
    const isOwner = access.owner_id === caller.identityId;
    // Who may not remove others must not learn which addresses exist: only its own are looked at.
    if (!isOwner && !isOwnAddress(caller, address)) fail('room_owner_required');
    const { id } = await this.identities.resolve(address, 'params.identity');
    if (id === access.owner_id) fail('cannot_remove_owner');
    await this.endMembership(roomId, id);
  }

  /** @throws RelaygerError `not_found`, `dm_members_fixed`, `cannot_remove_owner` */
  async leave(caller: Principal, roomId: string): Promise<void> {
    const access = await this.access(caller, roomId);
    if (access.kind === 'dm') fail('dm_members_fixed');
    if (access.owner_id === caller.identityId) fail('cannot_remove_owner');
    await this.endMembership(roomId, caller.identityId);
  }

  private async endMembership(roomId: string, identityId: string): Promise<void> {
    const ended = await this.database.transaction((sql) =>
      deleteRoomMember(sql, roomId, identityId),
    );
    if (!ended) fail('not_found');
    this.hub.wake([`identity:${identityId}`]);
  }

  /**
   * The current public keys of a room's members.
   * @throws RelaygerError `not_found`
   */
  async keys(caller: Principal, roomId: string): Promise<RoomKey[]> {
    await this.access(caller, roomId);
    return selectRoomKeys(this.database, roomId);
  }

  /**
   * Makes sure that a token's list has only rooms that its identity is in. One that does not exist and one that it
   * is not in are the same to whoever issues the token.
   * @throws RelaygerError `invalid_request`
   */
  async requireJoined(sql: Sql, identityId: string, roomIds: readonly string[]): Promise<void> {
    const joined = new Set(await selectJoined(sql, identityId, roomIds));
    const missing = roomIds.findIndex((id) => !joined.has(id));
    if (missing >= 0) failField(`body.roomIds[${missing}]`, 'must be a room of the identity');
  }

  /** Everybody who is in a room with the caller, the caller among them, as far as its token reaches. */
  companions(caller: Principal): Promise<string[]> {
    return selectCompanions(this.database, caller.identityId, caller.roomIds);
  }

  /** The direct conversation of two identities, whatever stands between them; null when they have none. */
  findDm(a: string, b: string): Promise<string | null> {
    return selectDm(this.database, a, b);
  }

  /**
   * The direct conversation with another identity, opened when there is none, inside the caller's transaction.
   * @throws RelaygerError `invalid_target`, `contact_required`, `contact_unavailable`, and for a new
   *   conversation `insufficient_scope`, `room_restricted_token`
   */
  async openDm(
    sql: Sql,
    caller: Principal,
    peer: IdentityRecord,
  ): Promise<{ id: string; created: boolean }> {
    if (peer.id === caller.identityId) fail('invalid_target');
    requireScopes(caller, ['rooms']);
    if (caller.roomIds !== null) fail('room_restricted_token');
    const relationship = await this.contacts.lock(sql, caller.identityId, peer.id);
    const gate = await gateOf(sql, caller.identityId, peer.id, relationship);
    if (gate === 'blocked') fail('contact_unavailable');
    if (gate === 'closed') fail('contact_required');
    return openDmRoom(sql, caller.identityId, peer.id);
  }
}

/** What a relationship means for the direct conversation: an agent on either side needs friendship. */
async function gateOf(
  sql: Sql,
  a: string,
  b: string,
  { mine, theirs }: Relationship,
): Promise<DmGate> {
  if (mine.state === 'blocked' || theirs.state === 'blocked') return 'blocked';
  if (mine.state === 'friend') return 'open';
  return (await isHumanOnly(sql, a, b)) ? 'open' : 'closed';
}

/** Whether an address, in whatever spelling, is the caller's own. */
function isOwnAddress(caller: Principal, address: string): boolean {
  const { kind, value } = parseAddress(address, 'params.identity');
  return value === { number: caller.number, handle: caller.handle, id: caller.identityId }[kind];
}

function toRoom(row: RoomRow, human: boolean): Room {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    ownerId: row.owner_id,
    createdAt: row.created_at.toISOString(),
    sequence: row.last_seq,
    deliveredSequence: row.delivered_seq,
    ...(human && { seenSequence: row.seen_seq }),
    unread: row.unread,
    members: row.members,
    ...(row.peer_id !== null &&
      row.peer_number !== null &&
      row.peer_handle !== null && {
        peer: { id: row.peer_id, number: row.peer_number, handle: row.peer_handle },
      }),
  };
}
