import { Controller, Res } from '@nestjs/common';
import {
  Caller,
  expiredSessionCookie,
  Operation,
  type Principal,
  ServiceAddress,
  sessionCookie,
} from '@relayger/kernel';
import {
  closeWebSession,
  getWebSession,
  openWebSession,
  type WebSession,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { describeSession, WebSessionsService } from './web-sessions.service.js';

/** Signing a browser in with a token, and out. */
@Controller()
export class WebSessionsController {
  constructor(
    private readonly sessions: WebSessionsService,
    private readonly address: ServiceAddress,
  ) {}

  @Operation(openWebSession)
  async open(
    @Caller() caller: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebSession> {
    const opened = await this.sessions.openWithToken(caller);
    reply.header('set-cookie', sessionCookie(this.address.origin, opened.secret, opened.expiresAt));
    return describeSession(caller, opened);
  }

  @Operation(getWebSession)
  current(@Caller() caller: Principal): WebSession {
    return this.sessions.current(caller);
  }

  @Operation(closeWebSession)
  async close(
    @Caller() caller: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ ok: true }> {
    await this.sessions.close(caller);
    reply.header('set-cookie', expiredSessionCookie(this.address.origin));
    return { ok: true };
  }
}
