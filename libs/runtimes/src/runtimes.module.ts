import { Module } from '@nestjs/common';
import { RuntimesController } from './runtimes.controller.js';
import { RuntimesService } from './runtimes.service.js';
import { RuntimesStore } from './runtimes.store.js';

@Module({
  controllers: [RuntimesController],
  providers: [RuntimesService, RuntimesStore],
  exports: [RuntimesService],
})
export class RuntimesModule {}
