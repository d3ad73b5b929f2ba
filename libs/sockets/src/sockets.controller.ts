import { Controller, Req, Res } from '@nestjs/common';
import {
  type ApiRequest,
  Caller,
  handshakeOf,
  Operation,
  type Principal,
  Query,
} from '@relayger/kernel';
import { fail, failField, openSocket } from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { accept } from './connection.js';
import { SocketsService, type Target } from './sockets.service.js';

/** RFC 6455 section 4.1: 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

@Controller()
export class SocketsController {
  constructor(private readonly sockets: SocketsService) {}

  @Operation(openSocket)
  async open(
    @Caller() caller: Principal,
    @Query() target: Target,
    @Req() request: ApiRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const handshake = handshakeOf(request);
    const { 'sec-websocket-version': version, 'sec-websocket-key': key } = request.headers;
    if (!handshake || version !== VERSION) {
      // RFC 9110 section 15.5.22 and RFC 6455 section 4.4.
      void reply.headers({ upgrade: 'websocket', 'sec-websocket-version': VERSION });
      fail('upgrade_required');
    }
    if (!KEY.test(key ?? '')) failField('header.sec-websocket-key', 'must be 16 bytes in base64');
    await this.sockets.open(caller, target, () => accept(handshake, request.raw, reply));
  }
}
