import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal, Query } from '@relayger/kernel';
import {
  type ConfigureRuntimeRequest,
  configureRuntime,
  getRuntime,
  getRuntimeLog,
  getRuntimeStats,
  listRuntimes,
  type RegisterRuntimeRequest,
  type Runtime,
  type RuntimeRecord,
  type RuntimeStats,
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

  @Operation(configureRuntime)
  configure(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() body: ConfigureRuntimeRequest,
  ): Promise<Runtime> {
    return this.runtimes.configure(caller, id, body);
  }

  @Operation(getRuntimeLog)
  log(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Query() { limit }: { limit?: number },
  ): Promise<RuntimeRecord[]> {
    return this.runtimes.log(caller, id, limit);
  }

  @Operation(getRuntimeStats)
  stats(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<RuntimeStats> {
    return this.runtimes.stats(caller, id);
  }
}
