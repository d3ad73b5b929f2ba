import { Module } from '@nestjs/common';
import { ContactsModule } from '@relayger/contacts';
import { IdentitiesModule } from '@relayger/identities';
import { RoomsController } from './rooms.controller.js';
import { RoomsService } from './rooms.service.js';
import { RoomsStore } from './rooms.store.js';

@Module({
  imports: [IdentitiesModule, ContactsModule],
  controllers: [RoomsController],
  providers: [RoomsService, RoomsStore],
  exports: [RoomsService],
})
export class RoomsModule {}
