import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import type { Address, IdentityKind, Profile } from '@relayger/protocol';

/** An identity as the server knows it. */
export interface IdentityRecord {
  id: string;
  number: string;
  handle: string;
  kind: IdentityKind;
  role: 'member' | 'admin';
  displayName: string;
  description: string;
  capabilities: string[];
  ownerId: string | null;
  disabledAt: Date | null;
}

const PROFILE = {
  number: true,
  handle: true,
  displayName: true,
  description: true,
  capabilities: true,
  listed: true,
} as const;

/** Cold reads and writes of identities. */
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
        role: true,
        displayName: true,
        description: true,
        capabilities: true,
        ownerId: true,
        disabledAt: true,
      },
    });
    return (
      row && { ...row, kind: row.kind as IdentityKind, role: row.role as IdentityRecord['role'] }
    );
  }

  profile(id: string): Promise<Profile> {
    return this.database.prisma.identity.findUniqueOrThrow({ where: { id }, select: PROFILE });
  }

  countOwned(ownerId: string): Promise<number> {
    return this.database.prisma.identity.count({ where: { ownerId } });
  }
}
