import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import type { Invite } from '@relayger/protocol';

/** Cold paths of invites. */
@Injectable()
export class InvitesStore {
  constructor(private readonly database: Database) {}

  /** The active invites of an identity, newest first. */
  async list(identityId: string): Promise<Invite[]> {
    const rows = await this.database.prisma.invite.findMany({
      where: { identityId, revokedAt: null, remaining: { gt: 0 }, expiresAt: { gt: new Date() } },
      select: {
        id: true,
        uses: true,
        remaining: true,
        note: true,
        expiresAt: true,
        createdAt: true,
      },
      // The id is a UUIDv7: it orders those of one millisecond.
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return rows.map((row) => ({
      ...row,
      expiresAt: row.expiresAt.toISOString(),
      createdAt: row.createdAt.toISOString(),
    }));
  }

  /** @returns false when the identity has no such invite that is still open */
  async revoke(identityId: string, id: string): Promise<boolean> {
    const { count } = await this.database.prisma.invite.updateMany({
      where: { id, identityId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    return count > 0;
  }
}
