import { Controller } from '@nestjs/common';
import { Caller, Operation, Params, type Principal, Query } from '@relayger/kernel';
import { getThread, type Thread } from '@relayger/protocol';
import { type ThreadPage, ThreadsService } from './threads.service.js';

@Controller()
export class ThreadsController {
  constructor(private readonly threads: ThreadsService) {}

  @Operation(getThread)
  read(
    @Caller() caller: Principal,
    @Params() { room, id }: { room: string; id: string },
    @Query() page: ThreadPage,
  ): Promise<Thread> {
    return this.threads.read(caller, room, id, page);
  }
}
