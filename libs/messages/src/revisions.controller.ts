import { Controller, Req, Res } from '@nestjs/common';
import {
  type ApiRequest,
  Body,
  Caller,
  Operation,
  Params,
  type Principal,
  rawMember,
} from '@relayger/kernel';
import { type Receipt, type ReviseMessageRequest, reviseMessage } from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { RevisionsService } from './revisions.service.js';

@Controller()
export class RevisionsController {
  constructor(private readonly revisions: RevisionsService) {}

  @Operation(reviseMessage)
  async revise(
    @Caller() caller: Principal,
    @Params() { room, id }: { room: string; id: string },
    @Body() request: ReviseMessageRequest,
    @Req() { rawBody = '', id: traceId }: ApiRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Receipt> {
    const rawPayload = request.action === 'correct' ? rawMember(rawBody, ['payload']) : '';
    if (rawPayload === undefined) throw new Error('a validated correction has no payload');
    const draft = { request, rawPayload, traceId };
    const { receipt, repeated } = await this.revisions.revise(caller, room, id, draft);
    if (repeated) void reply.status(200);
    return receipt;
  }
}
