import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  type ClaimResponse,
  CONTACT_REQUESTS_HEADER,
  claimRuntimeJob,
  type FinishRequest,
  type FinishResponse,
  finishRuntimeJob,
  type HeartbeatRequest,
  type HeartbeatResponse,
  heartbeatRuntimeJob,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { ClaimsService } from './claims.service.js';
import { FinishesService } from './finishes.service.js';

@Controller()
export class JobsController {
  constructor(
    private readonly claims: ClaimsService,
    private readonly finishes: FinishesService,
  ) {}

  @Operation(claimRuntimeJob)
  async claim(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() _: object,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ClaimResponse> {
    const { delivery, contactRequests } = await this.claims.claim(caller, id);
    reply.header(CONTACT_REQUESTS_HEADER, contactRequests);
    return { delivery };
  }

  @Operation(heartbeatRuntimeJob)
  heartbeat(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() body: HeartbeatRequest,
  ): Promise<HeartbeatResponse> {
    return this.finishes.heartbeat(caller, id, body);
  }

  @Operation(finishRuntimeJob)
  finish(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() body: FinishRequest,
  ): Promise<FinishResponse> {
    return this.finishes.finish(caller, id, body);
  }
}
