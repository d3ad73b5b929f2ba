import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import type { Address, IdentityKind } from '@relayger/protocol';

/** An identity as the server knows it. */
export interface IdentityRecord {
  id: string;
  number: string;
  handle: string;
  kind: IdentityKind;
  displayName: string;
  description: string;
  capabilities: string[];
  ownerId: string | null;
  disabledAt: Date | null;
}

/** Cold reads of identities. */
@Injectable()
export class IdentitiesStore {
  constructor(private readonly database: Database) {}

  async find(address: Address): Promise<IdentityRecord | null> {
    const row = await this.database.prisma.identity.findFirst({
      where: { [address.kind]: address.value },
      select: {
        id: true,
        number: true,
        handle: true,
        kind: true,
        displayName: true,
        description: true,
        capabilities: true,
        ownerId: true,
        disabledAt: true,
      },
    });
    return row && { ...row, kind: row.kind as IdentityKind };
  }
}
