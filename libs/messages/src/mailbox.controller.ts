import { Controller, Req, Res } from '@nestjs/common';
import {
  type ApiRequest,
  Body,
  Caller,
  Operation,
  Params,
  type Principal,
  Query,
} from '@relayger/kernel';
import {
  type AckRequest,
  type AckResponse,
  ackRoom,
  CONTACT_REQUESTS_HEADER,
  type MailboxItem,
  readMailbox,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { MailboxService } from './mailbox.service.js';

@Controller()
export class MailboxController {
  constructor(private readonly mailbox: MailboxService) {}

  @Operation(readMailbox)
  async read(
    @Caller() caller: Principal,
    @Query() query: { limit?: number; wait?: number; consume?: boolean },
    @Req() { reauthorize }: ApiRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MailboxItem[]> {
    if (!reauthorize) throw new Error('a call with a caller can be authorized again');
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    // The client may have hung up while its token was looked at; then there is no further event.
    if (reply.raw.destroyed) gone.abort();
    const { items, contactRequests } = await this.mailbox.read(caller, query, {
      gone: gone.signal,
      reauthorize,
    });
    reply.header(CONTACT_REQUESTS_HEADER, contactRequests);
    return items;
  }

  @Operation(ackRoom)
  ack(
    @Caller() caller: Principal,
    @Params() { room }: { room: string },
    @Body() body: AckRequest,
  ): Promise<AckResponse> {
    return this.mailbox.ack(caller, room, body);
  }
}
