import { Injectable } from '@nestjs/common';
import { Database, hasScope, type Principal, type Sql } from '@relayger/kernel';
import { AGENT_SCOPES, fail } from '@relayger/protocol';
import { requireAgent } from './agent-only.js';
import { AttemptsService } from './attempts.service.js';
import type { Counted } from './counters.js';
import { PasswordsService } from './passwords.service.js';
import { findAccount } from './sql/find-account.js';
import { isTokenOpen } from './sql/is-token-open.js';
import { lockCredential } from './sql/lock-credential.js';

/** That the caller owns the account, as far as it was shown outside the transaction. */
export interface OwnerProof {
  /** The digest that the password was checked against; null while the account has none. */
  passwordHash: string | null;
  /** The token that the caller showed. */
  tokenId: string;
  counted: Counted;
}

/**
 * Asks for more than a token before credentials change: whoever has stolen a token must not be able to take
 * the account over with it.
 */
@Injectable()
export class OwnerProofService {
  constructor(
    private readonly database: Database,
    private readonly attempts: AttemptsService,
    private readonly passwords: PasswordsService,
  ) {}

  /**
   * Checks the password in force; a wrong one counts as a failed sign-in. While the account has none, it asks
   * for a token with every agent scope, so that a narrow token does not grow into a full sign-in.
   * @throws RelaygerError `agent_only`, `full_agent_token_required`, `invalid_credentials`,
   *   `too_many_attempts`, `unavailable`
   */
  async prove(
    caller: Principal,
    client: string,
    password: string | undefined,
  ): Promise<OwnerProof> {
    requireAgent(caller);
    const { tokenId } = caller;
    const account = await findAccount(this.database, caller.number);
    const passwordHash = account?.passwordHash ?? null;
    if (passwordHash === null) {
      // The operations refuse tokens with a room restriction before we are asked.
      if (!AGENT_SCOPES.every((scope) => hasScope(caller, scope)))
        fail('full_agent_token_required');
      return { passwordHash, tokenId, counted: [] };
    }
    if (password === undefined) fail('invalid_credentials');
    const target = { client, account: caller.number };
    const { counted } = await this.attempts.check('sign_in', target, async () =>
      (await this.passwords.matches(password, passwordHash)) ? true : null,
    );
    return { passwordHash, tokenId, counted };
  }

  /**
   * Takes the credentials for a change, if the proof still holds, and takes the attempt back.
   * @throws RelaygerError `invalid_credentials` when the password has been changed since, `unauthorized` when
   *   the caller's session has been ended since
   */
  async hold(sql: Sql, caller: Principal, proof: OwnerProof): Promise<void> {
    const credential = await lockCredential(sql, caller.identityId);
    if (credential?.passwordHash !== proof.passwordHash) fail('invalid_credentials');
    if (!(await isTokenOpen(sql, proof.tokenId))) fail('unauthorized');
    await this.attempts.forgive(sql, proof.counted);
  }
}
