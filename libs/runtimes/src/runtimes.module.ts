import { Module } from '@nestjs/common';
import { MessagesModule } from '@relayger/messages';
import { RoomsModule } from '@relayger/rooms';
import { ClaimsService } from './claims.service.js';
import { FinishesService } from './finishes.service.js';
import { JobsController } from './jobs.controller.js';
import { LeasesSweep } from './leases.sweep.js';
import { NotesController } from './notes.controller.js';
import { NotesService } from './notes.service.js';
import { RuntimesController } from './runtimes.controller.js';
import { RuntimesService } from './runtimes.service.js';
import { RuntimesStore } from './runtimes.store.js';

@Module({
  imports: [RoomsModule, MessagesModule],
  controllers: [RuntimesController, JobsController, NotesController],
  providers: [
    RuntimesService,
    RuntimesStore,
    ClaimsService,
    FinishesService,
    NotesService,
    LeasesSweep,
  ],
  exports: [RuntimesService],
})
export class RuntimesModule {}
