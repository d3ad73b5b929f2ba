import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import { type AuditPage, type AuditQuery, LIMITS } from '@relayger/protocol';
import { type Actor, recordAct } from './actor.js';
import { pageAudit } from './sql/page-audit.js';

/** Reads the audit log. It is written where things are done. */
@Injectable()
export class AuditService {
  constructor(private readonly database: Database) {}

  async page({ before, limit = LIMITS.adminPageDefault }: AuditQuery): Promise<AuditPage> {
    // One more than asked tells whether there is a next page.
    const found = await pageAudit(this.database, before, limit + 1);
    const items = found.slice(0, limit).map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
    return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** As `page`, for somebody who takes the log out of the service; that is recorded too. */
  async export(actor: Actor, query: AuditQuery): Promise<AuditPage> {
    await recordAct(this.database, actor, { action: 'audit.export' });
    return this.page(query);
  }
}
