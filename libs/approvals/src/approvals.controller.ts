import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal, Query } from '@relayger/kernel';
import {
  type Approval,
  type ApprovalState,
  type DecideApprovalRequest,
  decideApproval,
  getApproval,
  listApprovals,
  type RequestApprovalRequest,
  type RequestedApproval,
  requestApproval,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { ApprovalsService } from './approvals.service.js';

@Controller()
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Operation(requestApproval)
  async request(
    @Caller() caller: Principal,
    @Body() body: RequestApprovalRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RequestedApproval> {
    const { approval, repeated } = await this.approvals.request(caller, body);
    if (repeated) void reply.status(200);
    return approval;
  }

  @Operation(listApprovals)
  list(
    @Caller() caller: Principal,
    @Query() { state }: { state?: ApprovalState },
  ): Promise<Approval[]> {
    return this.approvals.list(caller, state);
  }

  @Operation(getApproval)
  get(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<Approval> {
    return this.approvals.get(caller, id);
  }

  @Operation(decideApproval)
  decide(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() body: DecideApprovalRequest,
  ): Promise<Approval> {
    return this.approvals.decide(caller, id, body);
  }
}
