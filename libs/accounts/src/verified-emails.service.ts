import { Injectable } from '@nestjs/common';
import type { Sql } from '@relayger/kernel';
import { foldAddress } from './human-address.js';
import { deleteEmailCodes } from './sql/delete-email-codes.js';
import { holdCredential } from './sql/hold-credential.js';
import { putRecoveryEmail } from './sql/put-recovery-email.js';

/** Verified addresses of people. They prove nothing by a code of ours: somebody has checked who they are. */
@Injectable()
export class VerifiedEmailsService {
  /** Makes an address the verified one of a person, inside the transaction of whoever answers for the check. */
  async set(sql: Sql, identityId: string, address: string): Promise<void> {
    await holdCredential(sql, identityId);
    // Those that were sent to the address before open nothing any more.
    await deleteEmailCodes(sql, identityId);
    await putRecoveryEmail(sql, identityId, foldAddress(address));
  }
}
