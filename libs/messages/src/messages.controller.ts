import { Controller, Req, Res } from '@nestjs/common';
import {
  type ApiRequest,
  Body,
  Caller,
  Operation,
  Params,
  type Principal,
  Query,
  rawMember,
} from '@relayger/kernel';
import {
  getMessage,
  listMessages,
  type Message,
  type Receipt,
  type SendDirectRequest,
  type SendMessage,
  sendDirect,
  sendMessage,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { type Draft, MessagesService, type Sent } from './messages.service.js';

type View = { view?: 'receipt' | 'full' };

@Controller()
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Operation(sendDirect)
  async sendDirect(
    @Caller() caller: Principal,
    @Query() { view = 'receipt' }: View,
    @Body() { target, message }: SendDirectRequest,
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Receipt | Message> {
    const sent = await this.messages.sendDirect(
      caller,
      target,
      draft(message, request, ['message']),
    );
    return answer(sent, view, reply);
  }

  @Operation(sendMessage)
  async send(
    @Caller() caller: Principal,
    @Params() { room }: { room: string },
    @Query() { view = 'full' }: View,
    @Body() message: SendMessage,
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Receipt | Message> {
    return answer(await this.messages.send(caller, room, draft(message, request, [])), view, reply);
  }

  @Operation(getMessage)
  get(
    @Caller() caller: Principal,
    @Params() { room, id }: { room: string; id: string },
  ): Promise<Message> {
    return this.messages.get(caller, room, id);
  }

  @Operation(listMessages)
  history(
    @Caller() caller: Principal,
    @Params() { room }: { room: string },
    @Query() page: { after?: string; before?: string; limit?: number },
  ): Promise<Message[]> {
    return this.messages.history(caller, room, page);
  }
}

function draft(message: SendMessage, request: ApiRequest, path: string[]): Draft {
  const rawPayload = rawMember(request.rawBody ?? '', [...path, 'payload']);
  if (rawPayload === undefined) throw new Error('a validated message has no payload');
  return { message, rawPayload, traceId: request.id, path: ['body', ...path].join('.') };
}

async function answer(
  sent: Sent,
  view: 'receipt' | 'full',
  reply: FastifyReply,
): Promise<Receipt | Message> {
  if (sent.repeated) void reply.status(200);
  return view === 'full' ? sent.envelope() : sent.receipt;
}
