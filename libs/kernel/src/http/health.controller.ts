import { Controller, Res } from '@nestjs/common';
import { getHealth, getReadiness, type Health, type Readiness } from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { Database } from '../database/database.js';
import { statement } from '../database/sql.js';
import { WakeHub } from '../wake/wake-hub.js';
import { WakeTransport } from '../wake/wake-transport.js';
import { Operation } from './operation.decorator.js';

const ping = statement('ping', 'SELECT 1');

@Controller()
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly hub: WakeHub,
    private readonly transport: WakeTransport,
  ) {}

  @Operation(getHealth)
  health(): Health {
    return { ok: true };
  }

  @Operation(getReadiness)
  async readiness(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const database = await this.database.query(ping, []).then(
      () => 'up' as const,
      () => 'down' as const,
    );
    const { listening } = this.transport;
    const ready = database === 'up' && listening && !this.hub.isClosed;
    if (!ready) reply.status(503);
    return { ready, database, listening };
  }
}
