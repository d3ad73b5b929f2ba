import { Module } from '@nestjs/common';
import { FilesModule } from '@relayger/files';
import { MessagesModule } from '@relayger/messages';
import { RoomsModule } from '@relayger/rooms';
import { TasksModule } from '@relayger/tasks';
import { ApprovalsController } from './approvals.controller.js';
import { ApprovalsSweep } from './approvals.jobs.js';
import { ApprovalsService } from './approvals.service.js';

@Module({
  imports: [RoomsModule, MessagesModule, FilesModule, TasksModule],
  controllers: [ApprovalsController],
  providers: [ApprovalsService, ApprovalsSweep],
  exports: [ApprovalsService],
})
export class ApprovalsModule {}
