import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import { v7 as uuid } from 'uuid';

/** Cold writes of rooms. */
@Injectable()
export class RoomsStore {
  constructor(private readonly database: Database) {}

  /** Stores a group together with its owner's membership. */
  createGroup(name: string, ownerId: string): Promise<{ id: string; createdAt: Date }> {
    return this.database.prisma.room.create({
      data: {
        id: uuid(),
        kind: 'group',
        name,
        ownerId,
        memberships: { create: { identityId: ownerId, role: 'owner' } },
      },
      select: { id: true, createdAt: true },
    });
  }
}
