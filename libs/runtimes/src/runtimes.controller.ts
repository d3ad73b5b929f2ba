import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  getRuntime,
  listRuntimes,
  type RegisterRuntimeRequest,
  type Runtime,
  registerRuntime,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { RuntimesService } from './runtimes.service.js';

@Controller()
export class RuntimesController {
  constructor(private readonly runtimes: RuntimesService) {}

  @Operation(registerRuntime)
  async register(
    @Caller() caller: Principal,
    @Body() body: RegisterRuntimeRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Runtime> {
    const { runtime, created } = await this.runtimes.register(caller, body);
    reply.status(created ? 201 : 200);
    return runtime;
  }

  @Operation(listRuntimes)
  list(@Caller() caller: Principal): Promise<Runtime[]> {
    return this.runtimes.list(caller);
  }

  @Operation(getRuntime)
  get(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<Runtime> {
    return this.runtimes.get(caller, id);
  }
}
