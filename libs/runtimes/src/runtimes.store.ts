import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import type { Runtime, RuntimeTrigger } from '@relayger/protocol';

/** Cold reads of runtimes. */
@Injectable()
export class RuntimesStore {
  constructor(private readonly database: Database) {}

  /** The runtimes of an agent, by name. */
  async list(identityId: string): Promise<Runtime[]> {
    const rows = await this.database.prisma.runtime.findMany({
      where: { identityId },
      orderBy: { name: 'asc' },
    });
    return rows.map(toRuntime);
  }

  /** One runtime of an agent. */
  async find(identityId: string, id: string): Promise<Runtime | null> {
    const row = await this.database.prisma.runtime.findUnique({ where: { id, identityId } });
    return row && toRuntime(row);
  }
}

/** A stored runtime, whichever door it came through. */
export interface RuntimeRecordRow {
  id: string;
  name: string;
  start: string;
  triggers: string[];
  allowedSenders: string[];
  allowedRooms: string[];
  maxAttempts: number;
  maxCallsPerHour: number;
  concurrency: number;
  activeHours: number[];
  version: number;
  createdAt: Date;
}

export function toRuntime(row: RuntimeRecordRow): Runtime {
  return {
    id: row.id,
    name: row.name,
    // Checked by the table.
    from: row.start as Runtime['from'],
    policy: {
      triggers: row.triggers as RuntimeTrigger[],
      allowedSenders: row.allowedSenders,
      allowedRooms: row.allowedRooms,
      maxAttempts: row.maxAttempts,
      maxCallsPerHour: row.maxCallsPerHour,
      concurrency: row.concurrency,
      activeHoursUTC: row.activeHours,
    },
    version: row.version,
    createdAt: row.createdAt.toISOString(),
  };
}
