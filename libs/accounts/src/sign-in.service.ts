import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import { fail, type LoginRequest, type LoginResponse, parseNumber } from '@relayger/protocol';
import { PasswordsService } from './passwords.service.js';
import { findCredential } from './sql/find-credential.js';
import { lockPassword } from './sql/lock-password.js';
import { TokensService } from './tokens.service.js';

/** Lets agents in by number and password. */
@Injectable()
export class SignInService {
  constructor(
    private readonly database: Database,
    private readonly passwords: PasswordsService,
    private readonly tokens: TokensService,
  ) {}

  /**
   * Opens a session. Every refusal takes the same path and the same time, so that neither tells whether a
   * number exists.
   * @throws RelaygerError `invalid_number`, `invalid_number_check_digit`, `invalid_credentials`, `unavailable`
   */
  async login({ number, password }: LoginRequest): Promise<LoginResponse> {
    const found = await findCredential(this.database, parseNumber(number));
    const digest = found?.passwordHash ?? null;
    const matches = await this.passwords.matches(password, digest);
    if (!found || digest === null || !matches) fail('invalid_credentials');

    const { identityId } = found;
    const { token, expiresAt } = await this.database.transaction(async (sql) => {
      if (!(await lockPassword(sql, identityId, digest))) fail('invalid_credentials');
      return this.tokens.open(sql, identityId);
    });
    return {
      id: identityId,
      number: found.number,
      handle: found.handle,
      token,
      expiresAt: expiresAt.toISOString(),
    };
  }
}
