import { Injectable } from '@nestjs/common';
import { IdentitiesService } from '@relayger/identities';
import { Database, onceCommitted, type Principal, type Sql, WakeHub } from '@relayger/kernel';
import {
  type Contact,
  type ContactState,
  fail,
  isLine,
  LIMITS,
  unstorable,
  utf8Bytes,
} from '@relayger/protocol';
import { type ContactVerb, decide, FRIENDS, type Relationship } from './relationship.js';
import { countOutgoing, lockAndCountOutgoing } from './sql/count-outgoing.js';
import { selectContacts } from './sql/list-contacts.js';
import { selectFriends } from './sql/list-friends.js';
import { lockRelationship } from './sql/lock-relationship.js';
import { saveRelationship } from './sql/save-relationship.js';

/** Called inside the transaction that changes a relationship. */
export type RelationshipListener = (
  sql: Sql,
  a: string,
  b: string,
  now: Relationship,
) => Promise<void>;

/** Mutual consent: who may talk to whom. */
@Injectable()
export class ContactsService {
  private readonly listeners: RelationshipListener[] = [];

  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
    private readonly hub: WakeHub,
  ) {}

  /**
   * Lets another library keep its own state in step with relationships, in the same transaction. Rooms use it
   * to open and close direct conversations; contacts know nothing of rooms.
   */
  onChange(listener: RelationshipListener): void {
    this.listeners.push(listener);
  }

  /**
   * One action of the caller towards another identity.
   * @returns the caller's state afterwards
   * @throws RelaygerError `invalid_target`, `invalid_note`, `not_found`, `no_pending_request`,
   *   `contact_unavailable`, `contact_request_limit`
   */
  async act(
    caller: Principal,
    verb: ContactVerb,
    address: string,
    note?: string,
  ): Promise<ContactState> {
    const mayCarryNote = verb === 'request';
    if (note !== undefined && (!mayCarryNote || !isNote(note))) fail('invalid_note');
    const peer = await this.identities.resolve(address);
    if (peer.id === caller.identityId) fail('invalid_target');
    if (peer.disabledAt && verb === 'request') fail('contact_unavailable');

    return this.database.transaction(async (sql) => {
      const before = await lockRelationship(sql, caller.identityId, peer.id);
      const outcome = decide(verb, before);
      if (outcome === 'unchanged') return before.mine.state;
      if ('refuse' in outcome) fail(outcome.refuse);
      const asked = outcome.ask === true && before.mine.state !== 'outgoing';
      if (
        asked &&
        (await lockAndCountOutgoing(sql, caller.identityId)) >= LIMITS.pendingContactRequests
      ) {
        fail('contact_request_limit');
      }
      await this.save(
        sql,
        caller.identityId,
        peer.id,
        outcome.to,
        outcome.ask ? (note ?? null) : null,
      );
      // A request that is repeated with another note is no news.
      if (!isSame(before, outcome.to)) this.tellBoth(sql, caller.identityId, peer.id);
      return outcome.to.mine.state;
    });
  }

  /** The identities that are friends of one. */
  friends(identityId: string): Promise<string[]> {
    return selectFriends(this.database, identityId);
  }

  /** How many requests of an identity await an answer. */
  countPending(identityId: string): Promise<number> {
    return countOutgoing(this.database, identityId);
  }

  /**
   * Makes two identities friends inside the caller's transaction, whatever was asked or declined before.
   * @returns 'blocked' when a block in either direction forbids it
   */
  async befriend(sql: Sql, a: string, b: string): Promise<'friends' | 'already' | 'blocked'> {
    const { mine, theirs } = await lockRelationship(sql, a, b);
    if (mine.state === 'blocked' || theirs.state === 'blocked') return 'blocked';
    if (mine.state === 'friend') return 'already';
    await this.save(sql, a, b, FRIENDS, null);
    this.tellBoth(sql, a, b);
    return 'friends';
  }

  /** At most 200 contacts of the caller, incoming requests first. */
  async list(caller: Principal, full: boolean): Promise<Contact[]> {
    const rows = await selectContacts(this.database, caller.identityId);
    return rows.map(({ number, handle, kind, state, display_name, note }) => ({
      number,
      handle,
      kind,
      state,
      ...(full && { displayName: display_name, ...(note !== null && { note }) }),
    }));
  }

  /**
   * The relationship of two identities, held still until the end of the transaction, so that a conversation is
   * never opened across a block that commits at the same moment.
   */
  lock(sql: Sql, a: string, b: string): Promise<Relationship> {
    return lockRelationship(sql, a, b);
  }

  private async save(
    sql: Sql,
    a: string,
    b: string,
    to: Relationship,
    note: string | null,
  ): Promise<void> {
    await saveRelationship(sql, a, b, to, note);
    for (const listener of this.listeners) await listener(sql, a, b, to);
  }

  /** Whoever waits or listens on either side looks again: at requests, and at what a block has closed. */
  private tellBoth(sql: Sql, a: string, b: string): void {
    onceCommitted(sql, () => this.hub.wake([`identity:${a}`, `identity:${b}`]));
  }
}

function isSame(a: Relationship, b: Relationship): boolean {
  return a.mine.state === b.mine.state && a.theirs.state === b.theirs.state;
}

function isNote(note: string): boolean {
  return (
    note !== '' && utf8Bytes(note) <= LIMITS.noteBytes && isLine(note) && unstorable(note) === null
  );
}
