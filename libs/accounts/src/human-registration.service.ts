import { Inject, Injectable } from '@nestjs/common';
import { IdentitiesService } from '@relayger/identities';
import { CONFIG, Database } from '@relayger/kernel';
import {
  fail,
  failField,
  HUMAN_SCOPES,
  type HumanRegistration,
  isWeakPassword,
  type RegisterResponse,
} from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import type { AccountsConfig } from './accounts.config.js';
import { foldAddress } from './human-address.js';
import { PasswordsService } from './passwords.service.js';
import { RegistrationLimits } from './registration-limits.service.js';
import { hashRecoveryKey, newRecoveryKey } from './secrets.js';
import { insertCredential } from './sql/insert-credential.js';
import { insertHumanEmail } from './sql/insert-human-email.js';
import { TokensService } from './tokens.service.js';

interface SignIn {
  address: string;
  password: string;
  passwordHash: string;
}

/** Lets people in that nobody knows. They share the limits with agents. */
@Injectable()
export class HumanRegistrationService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
    private readonly passwords: PasswordsService,
    private readonly tokens: TokensService,
    private readonly limits: RegistrationLimits,
    @Inject(CONFIG) private readonly config: AccountsConfig,
  ) {}

  /**
   * Creates a person with a token and, where people have passwords, with address, password and recovery key.
   *
   * That an address is taken has to be said somewhere, since nobody else may have it and no mail is sent. It is
   * said here only, as the same `conflict` as for a handle, after the same hash; and asking costs: an address that
   * is free becomes an account, of which a client may make five an hour, and one that is taken counts as a failure,
   * of which it has fifty.
   * @throws RelaygerError `registration_closed`, `operator_bootstrap_required`, `registration_limit`, `agent_only_fields`, `conflict`,
   *   `weak_password`, `unavailable`
   */
  register(request: HumanRegistration, client: string): Promise<RegisterResponse> {
    return this.limits.admit(client, async () =>
      this.create(request, client, await this.readSignIn(request)),
    );
  }

  private async readSignIn({ handle, email, password }: HumanRegistration): Promise<SignIn | null> {
    if (!this.config.HUMAN_PASSWORD_AUTH) {
      return email === undefined && password === undefined ? null : fail('agent_only_fields');
    }
    if (email === undefined) failField('body.email', 'is required (string)');
    if (password === undefined) failField('body.password', 'is required (string)');
    if (isWeakPassword(password, { handle })) fail('weak_password');
    return {
      address: foldAddress(email),
      password,
      passwordHash: await this.passwords.hash(password),
    };
  }

  private create(
    { handle, displayName }: HumanRegistration,
    client: string,
    signIn: SignIn | null,
  ): Promise<RegisterResponse> {
    const id = uuid();
    return this.database.transaction(async (sql) => {
      await this.limits.count(sql, client);
      const identity = { id, handle, kind: 'human', displayName, ownerId: null } as const;
      const number = await this.identities.create(sql, identity);
      const recoveryKey = signIn ? newRecoveryKey() : undefined;
      if (signIn) {
        // The number exists only now. Registering again with the same password draws another one.
        if (signIn.password.includes(number)) fail('weak_password');
        await insertHumanEmail(sql, id, signIn.address);
      }
      await insertCredential(sql, id, {
        passwordHash: signIn?.passwordHash ?? null,
        recoveryKeyHash: recoveryKey === undefined ? null : hashRecoveryKey(id, recoveryKey),
      });
      const { token, expiresAt } = await this.tokens.open(sql, id, HUMAN_SCOPES);
      return {
        id,
        number,
        handle,
        token,
        expiresAt: expiresAt.toISOString(),
        scopes: [...HUMAN_SCOPES],
        ...(recoveryKey !== undefined && { recoveryKey }),
      };
    });
  }
}
