import { Module } from '@nestjs/common';
import { IdentitiesModule } from '@relayger/identities';
import { ContactsController } from './contacts.controller.js';
import { ContactsService } from './contacts.service.js';
import { InvitesController } from './invites.controller.js';
import { InvitesService } from './invites.service.js';
import { InvitesStore } from './invites.store.js';

@Module({
  imports: [IdentitiesModule],
  controllers: [ContactsController, InvitesController],
  providers: [ContactsService, InvitesService, InvitesStore],
  exports: [ContactsService],
})
export class ContactsModule {}
