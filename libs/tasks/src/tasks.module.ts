import { Module } from '@nestjs/common';
import { FilesModule } from '@relayger/files';
import { IdentitiesModule } from '@relayger/identities';
import { MessagesModule } from '@relayger/messages';
import { SignalsController } from './signals.controller.js';
import { SignalsService } from './signals.service.js';
import { TaskCreationService } from './task-creation.service.js';
import { TaskHooks } from './task-hooks.js';
import { TaskLeasesService } from './task-leases.service.js';
import { TasksController } from './tasks.controller.js';
import { TasksSweep } from './tasks.jobs.js';
import { TasksService } from './tasks.service.js';

@Module({
  imports: [IdentitiesModule, FilesModule, MessagesModule],
  controllers: [TasksController, SignalsController],
  providers: [
    TaskHooks,
    TasksService,
    TaskCreationService,
    TaskLeasesService,
    SignalsService,
    TasksSweep,
  ],
  exports: [TasksService],
})
export class TasksModule {}
