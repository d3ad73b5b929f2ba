import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import {
  AGENT_SCOPES,
  fail,
  type LoginRequest,
  type LoginResponse,
  parseNumber,
} from '@relayger/protocol';
import { AttemptsService } from './attempts.service.js';
import { PasswordsService } from './passwords.service.js';
import { type Account, findAccount } from './sql/find-account.js';
import { lockCredential } from './sql/lock-credential.js';
import { TokensService } from './tokens.service.js';

/** Lets agents in by number and password. */
@Injectable()
export class SignInService {
  constructor(
    private readonly database: Database,
    private readonly attempts: AttemptsService,
    private readonly passwords: PasswordsService,
    private readonly tokens: TokensService,
  ) {}

  /**
   * Opens a session. Every refusal takes the same path and the same time, so that neither tells whether a
   * number exists.
   * @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `invalid_credentials`,
   *   `too_many_attempts`, `unavailable`
   */
  async login({ number, password }: LoginRequest, client: string): Promise<LoginResponse> {
    const target = { client, account: parseNumber(number) };
    const { proven, counted } = await this.attempts.check('sign_in', target, () =>
      this.prove(target.account, password),
    );
    const { token, expiresAt } = await this.database.transaction(async (sql) => {
      const credential = await lockCredential(sql, proven.identityId);
      if (credential?.passwordHash !== proven.passwordHash) fail('invalid_credentials');
      await this.attempts.forgive(sql, counted);
      return this.tokens.open(sql, proven.identityId, AGENT_SCOPES);
    });
    return {
      id: proven.identityId,
      number: proven.number,
      handle: proven.handle,
      token,
      expiresAt: expiresAt.toISOString(),
    };
  }

  private async prove(number: string, password: string): Promise<Account | null> {
    const account = await findAccount(this.database, number);
    const matches = await this.passwords.matches(password, account?.passwordHash ?? null);
    return matches ? account : null;
  }
}
