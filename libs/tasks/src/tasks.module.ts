import { Module } from '@nestjs/common';
import { MessagesModule } from '@relayger/messages';
import { TaskHooks } from './task-hooks.js';
import { TasksService } from './tasks.service.js';

@Module({
  imports: [MessagesModule],
  providers: [TaskHooks, TasksService],
  exports: [TasksService],
})
export class TasksModule {}
