import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal, Query } from '@relayger/kernel';
import {
  type CreateTaskRequest,
  cancelTask,
  claimTask,
  createTask,
  getTask,
  listTasks,
  type Task,
  taskInbox,
  type UpdateTaskRequest,
  updateTask,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { TaskCreationService } from './task-creation.service.js';
import { TaskLeasesService } from './task-leases.service.js';
import { TasksService } from './tasks.service.js';

@Controller()
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly creation: TaskCreationService,
    private readonly leases: TaskLeasesService,
  ) {}

  @Operation(createTask)
  async create(
    @Caller() caller: Principal,
    @Body() body: CreateTaskRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Task> {
    const { task, repeated } = await this.creation.create(caller, body);
    if (repeated) void reply.status(200);
    return task;
  }

  @Operation(listTasks)
  list(@Caller() caller: Principal, @Query() { limit }: { limit?: number }): Promise<Task[]> {
    return this.tasks.inbox(caller, limit);
  }

  @Operation(taskInbox)
  inbox(@Caller() caller: Principal, @Query() { limit }: { limit?: number }): Promise<Task[]> {
    return this.tasks.inbox(caller, limit);
  }

  @Operation(getTask)
  get(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<Task> {
    return this.tasks.get(caller, id);
  }

  @Operation(claimTask)
  claim(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() _: object,
  ): Promise<Task> {
    return this.leases.claim(caller, id);
  }

  @Operation(updateTask)
  update(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() body: UpdateTaskRequest,
  ): Promise<Task> {
    return this.leases.update(caller, id, body);
  }

  @Operation(cancelTask)
  cancel(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() _: object,
  ): Promise<Task> {
    return this.tasks.cancel(caller, id);
  }
}
