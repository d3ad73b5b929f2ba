import { Module } from '@nestjs/common';
import { DirectoryService } from './directory.service.js';
import { IdentitiesController } from './identities.controller.js';
import { IdentitiesService } from './identities.service.js';
import { IdentitiesStore } from './identities.store.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { OwnershipService } from './ownership.service.js';
import { PresenceService } from './presence.service.js';
import { ProfileController } from './profile.controller.js';

@Module({
  controllers: [IdentitiesController, KeysController, ProfileController],
  providers: [
    DirectoryService,
    IdentitiesService,
    IdentitiesStore,
    KeysService,
    OwnershipService,
    PresenceService,
  ],
  exports: [IdentitiesService, OwnershipService, PresenceService],
})
export class IdentitiesModule {}
