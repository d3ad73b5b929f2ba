import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import type { IssuedToken, Scope, User } from '@relayger/protocol';
import { type Actor, recordAct } from './actor.js';
import { OperatorTokensService } from './operator-tokens.service.js';
import { makeAdmin } from './sql/make-admin.js';
import { UsersService } from './users.service.js';

interface NewAdmin {
  handle: string;
  displayName?: string | undefined;
  scopes: readonly Scope[];
  /** Seconds. */
  expiresIn?: number | undefined;
}

/** Makes administrators. Only the operator tool asks for it: no controller may depend on this. */
@Injectable()
export class AdminsService {
  constructor(
    private readonly database: Database,
    private readonly users: UsersService,
    private readonly tokens: OperatorTokensService,
  ) {}

  /**
   * Creates a person with the role of an administrator, and a token.
   * @throws RelaygerError `conflict`
   */
  async create(
    actor: Actor,
    { handle, displayName, scopes, expiresIn }: NewAdmin,
  ): Promise<{ user: User; issued: IssuedToken }> {
    const { id, issued } = await this.database.transaction(async (sql) => {
      const created = await this.users.createIn(sql, actor, { kind: 'human', handle, displayName });
      await makeAdmin(sql, created);
      const entry = { action: 'identity.update', subjectId: created } as const;
      await recordAct(sql, actor, { ...entry, details: { role: 'admin' } });
      const token = await this.tokens.issueIn(sql, actor, created, { scopes, expiresIn });
      return { id: created, issued: token };
    });
    return { user: await this.users.get(id), issued };
  }
}
