import { Module } from '@nestjs/common';
import { IdentitiesController } from './identities.controller.js';
import { IdentitiesService } from './identities.service.js';
import { IdentitiesStore } from './identities.store.js';

@Module({
  controllers: [IdentitiesController],
  providers: [IdentitiesService, IdentitiesStore],
  exports: [IdentitiesService],
})
export class IdentitiesModule {}
