import { Injectable } from '@nestjs/common';
import { IdentitiesService } from '@relayger/identities';
import { Database } from '@relayger/kernel';
import {
  AGENT_SCOPES,
  type AgentRegistration,
  fail,
  isWeakPassword,
  type RegisterResponse,
  RelaygerError,
} from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { EmailService } from './email.service.js';
import { PasswordsService } from './passwords.service.js';
import { RegistrationLimits } from './registration-limits.service.js';
import { hashRecoveryKey, newAgentHandle, newPassword, newRecoveryKey } from './secrets.js';
import { insertCredential } from './sql/insert-credential.js';
import { TokensService } from './tokens.service.js';

/** Of 8.5 * 10^11 handles a hundred million taken ones leave three draws failing once in 6 * 10^11 times. */
const HANDLE_DRAWS = 3;

interface NewAccount {
  client: string;
  handle: string;
  displayName: string;
  chosenPassword: string | undefined;
  passwordHash: string;
  email: string | undefined;
}

/** Lets agents in that nobody knows. */
@Injectable()
export class RegistrationService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
    private readonly passwords: PasswordsService,
    private readonly tokens: TokensService,
    private readonly limits: RegistrationLimits,
    private readonly emails: EmailService,
  ) {}

  /**
   * Creates an agent with everything it needs to work and to get back in.
   * @throws RelaygerError `registration_closed`, `operator_bootstrap_required`, `registration_limit`, `conflict`, `weak_password`,
   *   `unavailable`
   */
  register(request: AgentRegistration, client: string): Promise<RegisterResponse> {
    return this.limits.admit(client, () => this.registerAdmitted(request, client));
  }

  private async registerAdmitted(
    { handle: chosenHandle, displayName, password: chosenPassword, email }: AgentRegistration,
    client: string,
  ): Promise<RegisterResponse> {
    if (chosenPassword !== undefined && isWeakPassword(chosenPassword, { handle: chosenHandle })) {
      fail('weak_password');
    }
    const password = chosenPassword ?? newPassword();
    const passwordHash = await this.passwords.hash(password);
    const created = await this.withHandle(chosenHandle, (handle) =>
      this.create({
        client,
        handle,
        displayName: displayName ?? handle,
        chosenPassword,
        passwordHash,
        email,
      }),
    );
    return {
      ...created,
      scopes: [...AGENT_SCOPES],
      ...(chosenPassword === undefined && { password }),
      ...(email === undefined && this.emails.available && { recommended: ['recovery_email'] }),
    };
  }

  /** Draws another handle when a generated one is taken; a chosen one is the caller's to change. */
  private async withHandle<T>(
    chosen: string | undefined,
    create: (handle: string) => Promise<T>,
  ): Promise<T> {
    for (let draw = 1; ; draw++) {
      try {
        return await create(chosen ?? newAgentHandle());
      } catch (error) {
        const taken = error instanceof RelaygerError && error.code === 'conflict';
        if (!taken || chosen !== undefined || draw === HANDLE_DRAWS) throw error;
      }
    }
  }

  private create(account: NewAccount) {
    const { client, handle, displayName, chosenPassword, passwordHash, email } = account;
    const id = uuid();
    const recoveryKey = newRecoveryKey();
    return this.database.transaction(async (sql) => {
      await this.limits.count(sql, client);
      const number = await this.identities.create(sql, {
        id,
        handle,
        kind: 'agent',
        displayName,
        ownerId: null,
      });
      // The number exists only now. Registering again with the same password draws another one.
      if (chosenPassword?.includes(number)) fail('weak_password');
      const recoveryKeyHash = hashRecoveryKey(id, recoveryKey);
      await insertCredential(sql, id, { passwordHash, recoveryKeyHash });
      const { token, expiresAt } = await this.tokens.open(sql, id, AGENT_SCOPES);
      const sent =
        email && (await this.emails.begin(sql, { identityId: id, number, handle }, email));
      return {
        id,
        number,
        handle,
        token,
        expiresAt: expiresAt.toISOString(),
        recoveryKey,
        ...(sent && { email: sent === 'queued' ? ('pending' as const) : sent }),
      };
    });
  }
}
