import { Injectable } from '@nestjs/common';
import { Database, type Sql } from '@relayger/kernel';
import { type CreateOwnedAgentRequest, fail } from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { adoptAgent } from './sql/adopt-agent.js';
import { holdOwner } from './sql/hold-owner.js';
import { insertNewIdentity } from './sql/insert-identity.js';
import { listOwned, type OwnedRecord } from './sql/list-owned.js';
import { updateProfile } from './sql/update-profile.js';

/** Which agent belongs to which person. It grants management of the agent and nothing that the agent may do. */
@Injectable()
export class OwnershipService {
  constructor(private readonly database: Database) {}

  /** The agents of a person by handle, disabled ones included. */
  list(ownerId: string): Promise<OwnedRecord[]> {
    return listOwned(this.database, ownerId);
  }

  /** @throws RelaygerError `not_found` for every agent that is not this person's */
  async get(sql: Sql, ownerId: string, id: string): Promise<OwnedRecord> {
    const [agent] = await listOwned(sql, ownerId, id);
    return agent ?? fail('not_found');
  }

  /**
   * Makes an agent of a person, inside the caller's transaction.
   * @returns its id
   * @throws RelaygerError `agent_limit`, `conflict`
   */
  async create(sql: Sql, ownerId: string, request: CreateOwnedAgentRequest): Promise<string> {
    const { handle, ...profile } = request;
    await this.takePlace(sql, ownerId);
    const id = uuid();
    const displayName = profile.displayName ?? handle;
    await insertNewIdentity(sql, { id, handle, kind: 'agent', displayName, ownerId });
    await updateProfile(sql, id, profile);
    return id;
  }

  /**
   * Gives an agent that agreed to it to a person, inside the caller's transaction.
   * @returns false when the agent has an owner or is disabled
   * @throws RelaygerError `agent_limit`
   */
  async adopt(sql: Sql, ownerId: string, agentId: string): Promise<boolean> {
    await this.takePlace(sql, ownerId);
    return adoptAgent(sql, agentId, ownerId);
  }

  private async takePlace(sql: Sql, ownerId: string): Promise<void> {
    if ((await holdOwner(sql, ownerId)).full) fail('agent_limit');
  }
}
