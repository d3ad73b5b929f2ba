import { Module } from '@nestjs/common';
import { ContactsModule } from '@relayger/contacts';
import { IdentitiesModule } from '@relayger/identities';
import { DiscoveryController } from './discovery.controller.js';
import { UsageController } from './usage.controller.js';
import { UsageService } from './usage.service.js';

@Module({
  imports: [IdentitiesModule, ContactsModule],
  controllers: [DiscoveryController, UsageController],
  providers: [UsageService],
})
export class DiscoveryModule {}
