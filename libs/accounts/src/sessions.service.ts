import { Injectable } from '@nestjs/common';
import { Database, type Principal } from '@relayger/kernel';
import {
  fail,
  type Recommendation,
  type RevokeSessionsRequest,
  type Security,
} from '@relayger/protocol';
import { requireAgent } from './agent-only.js';
import { EmailService } from './email.service.js';
import { Endings } from './endings.service.js';
import { findAccount } from './sql/find-account.js';
import { isTokenOf } from './sql/is-token-of.js';
import { listSessions } from './sql/list-sessions.js';
import type { TokenChoice } from './sql/revoke-tokens.js';

/** Shows an agent how its account is protected, and ends its sessions. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly emails: EmailService,
    private readonly endings: Endings,
  ) {}

  /** @throws RelaygerError `agent_only` */
  async security(caller: Principal): Promise<Security> {
    requireAgent(caller);
    const [account, sessions, emails] = await Promise.all([
      findAccount(this.database, caller.number),
      listSessions(this.database, caller.identityId),
      this.emails.describe(caller.identityId),
    ]);
    const hasPassword = account !== null && account.passwordHash !== null;
    const hasRecoveryKey = account !== null && account.recoveryKeyHash !== null;
    const recommended: Recommendation[] = [];
    if (!hasPassword) recommended.push('password');
    if (!hasRecoveryKey) recommended.push('recovery_key');
    if (!emails.email && this.emails.available) recommended.push('recovery_email');
    return {
      number: caller.number,
      hasPassword,
      hasRecoveryKey,
      ...emails,
      sessions: sessions.map(({ id, createdAt, lastUsedAt, expiresAt }) => ({
        id,
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
        expiresAt: expiresAt.toISOString(),
        current: id === caller.tokenId,
      })),
      recommended,
    };
  }

  /** How many tokens of an identity are open. */
  async countOpen(identityId: string): Promise<number> {
    return (await listSessions(this.database, identityId)).length;
  }

  /**
   * Ends sessions of the caller. One that has ended before counts as ended: a retry after a lost reply succeeds.
   * @returns how many were open
   * @throws RelaygerError `agent_only`, `not_found` for an id that is not a session of the caller
   */
  async revoke(caller: Principal, session: RevokeSessionsRequest['session']): Promise<number> {
    requireAgent(caller);
    const { identityId, tokenId } = caller;
    const choice: TokenChoice =
      session === 'others'
        ? { except: tokenId }
        : { only: session === 'current' ? tokenId : session };
    const revoked = await this.endings.revokeTokens(this.database, identityId, choice);
    if (revoked > 0 || choice.only === undefined) return revoked;
    return (await isTokenOf(this.database, choice.only, identityId)) ? 0 : fail('not_found');
  }
}
