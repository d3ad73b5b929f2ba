import { Module } from '@nestjs/common';
import { DirectoryService } from './directory.service.js';
import { IdentitiesController } from './identities.controller.js';
import { IdentitiesService } from './identities.service.js';
import { IdentitiesStore } from './identities.store.js';
import { ProfileController } from './profile.controller.js';

@Module({
  controllers: [IdentitiesController, ProfileController],
  providers: [DirectoryService, IdentitiesService, IdentitiesStore],
  exports: [IdentitiesService],
})
export class IdentitiesModule {}
