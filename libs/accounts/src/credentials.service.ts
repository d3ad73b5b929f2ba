import { Injectable } from '@nestjs/common';
import { Database, type Principal } from '@relayger/kernel';
import {
  type ChangePasswordRequest,
  type ChangePasswordResponse,
  fail,
  isWeakPassword,
} from '@relayger/protocol';
import { Endings } from './endings.service.js';
import { passwordChanged } from './mails/password-changed.js';
import { recoveryKeyRotated } from './mails/recovery-key-rotated.js';
import { OwnerProofService } from './owner-proof.service.js';
import { PasswordsService } from './passwords.service.js';
import { hashRecoveryKey, newPassword, newRecoveryKey } from './secrets.js';
import { SecurityNotices } from './security-notices.service.js';
import { updateCredential } from './sql/update-credential.js';

/** Changes how an agent gets in. */
@Injectable()
export class CredentialsService {
  constructor(
    private readonly database: Database,
    private readonly owner: OwnerProofService,
    private readonly passwords: PasswordsService,
    private readonly notices: SecurityNotices,
    private readonly endings: Endings,
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
      const revoked = await this.endings.revokeTokens(sql, caller.identityId, {
        except: proof.tokenId,
      });
      await this.notices.tell(sql, caller.identityId, passwordChanged);
      return revoked;
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
      await this.notices.tell(sql, caller.identityId, recoveryKeyRotated);
    });
    return recoveryKey;
  }
}
