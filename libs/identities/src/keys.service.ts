import { Injectable } from '@nestjs/common';
import { Database, type Principal } from '@relayger/kernel';
import { fail, type IdentityKey, type PublishedKey } from '@relayger/protocol';
import { IdentitiesService } from './identities.service.js';
import { upsertKey } from './sql/publish-key.js';

/** Public keys for sealed messages. The server distributes them; it never sees a private half. */
@Injectable()
export class KeysService {
  constructor(
    private readonly database: Database,
    private readonly identities: IdentitiesService,
  ) {}

  /** @throws RelaygerError `key_id_in_use` */
  async publish(
    caller: Principal,
    keyId: string,
    publicKey: string,
  ): Promise<{ key: PublishedKey; created: boolean }> {
    const row = await upsertKey(this.database, caller.identityId, keyId, publicKey);
    if (!row) fail('key_id_in_use');
    const key = {
      keyId: row.key_id,
      publicKey: row.public_key,
      createdAt: row.created_at.toISOString(),
    };
    return { key, created: row.created };
  }

  /** @throws RelaygerError `not_found` when the identity is unknown or has published no key */
  async of(address: string): Promise<IdentityKey> {
    const { id, number } = await this.identities.resolveActive(address);
    const key = await this.database.prisma.identityKey.findUnique({ where: { identityId: id } });
    if (!key) fail('not_found');
    return {
      id,
      number,
      keyId: key.keyId,
      publicKey: key.publicKey,
      createdAt: key.createdAt.toISOString(),
    };
  }
}
