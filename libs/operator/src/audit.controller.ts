import { Controller } from '@nestjs/common';
import { Caller, Operation, type Principal, Query } from '@relayger/kernel';
import { type AuditPage, type AuditQuery, listAudit } from '@relayger/protocol';
import { requireAdmin } from './actor.js';
import { AuditService } from './audit.service.js';

@Controller()
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Operation(listAudit)
  list(@Caller() caller: Principal, @Query() query: AuditQuery): Promise<AuditPage> {
    requireAdmin(caller);
    return this.audit.page(query);
  }
}
