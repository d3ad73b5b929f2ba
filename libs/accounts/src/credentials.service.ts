import { Injectable } from '@nestjs/common';
import { Database, type Principal } from '@relayger/kernel';
import {
  type ChangePasswordRequest,
  type ChangePasswordResponse,
  fail,
  isWeakPassword,
} from '@relayger/protocol';
import { OwnerProofService } from './owner-proof.service.js';
import { PasswordsService } from './passwords.service.js';
import { hashRecoveryKey, newPassword, newRecoveryKey } from './secrets.js';
import { revokeTokens } from './sql/revoke-tokens.js';
import { updateCredential } from './sql/update-credential.js';

/** Changes how an agent gets in. */
@Injectable()
export class CredentialsService {
  constructor(
    private readonly database: Database,
    private readonly owner: OwnerProofService,
    private readonly passwords: PasswordsService,
  ) {}

  /**
   * Replaces the password and ends every other session in the same transaction: whoever held one knew the old
   * password, or stole what it opened.
   * @throws RelaygerError `weak_password`, and what `OwnerProofService` throws
   */
  async changePassword(
    caller: Principal,
    client: string,
    { current, password: chosen }: ChangePasswordRequest,
  ): Promise<ChangePasswordResponse> {
    if (chosen !== undefined && isWeakPassword(chosen, caller)) fail('weak_password');
    const proof = await this.owner.prove(caller, client, current);
    const password = chosen ?? newPassword();
    const passwordHash = await this.passwords.hash(password);
    const revokedSessions = await this.database.transaction(async (sql) => {
      await this.owner.hold(sql, caller, proof);
      await updateCredential(sql, caller.identityId, { passwordHash });
      return revokeTokens(sql, caller.identityId, { except: proof.tokenId });
    });
    return { revokedSessions, ...(chosen === undefined && { password }) };
  }

  /**
   * Replaces the recovery key.
   * @throws RelaygerError what `OwnerProofService` throws
   */
  async rotateRecoveryKey(
    caller: Principal,
    client: string,
    password: string | undefined,
  ): Promise<string> {
    const proof = await this.owner.prove(caller, client, password);
    const recoveryKey = newRecoveryKey();
    const recoveryKeyHash = hashRecoveryKey(caller.identityId, recoveryKey);
    await this.database.transaction(async (sql) => {
      await this.owner.hold(sql, caller, proof);
      await updateCredential(sql, caller.identityId, { recoveryKeyHash });
    });
    return recoveryKey;
  }
}
