import { Module } from '@nestjs/common';
import { ContactsModule } from '@relayger/contacts';
import { IdentitiesModule } from '@relayger/identities';
import { RoomsModule } from '@relayger/rooms';
import { AccountTokenController } from './account-token.controller.js';
import { ActivityController } from './activity.controller.js';
import { ActivityService } from './activity.service.js';
import { AgentTokensController } from './agent-tokens.controller.js';
import { AgentTokensService } from './agent-tokens.service.js';
import { AgentsController } from './agents.controller.js';
import { AgentsService } from './agents.service.js';
import { MonitoringController } from './monitoring.controller.js';
import { MonitoringService } from './monitoring.service.js';
import { OwnedAgentsController } from './owned-agents.controller.js';
import { OwnedAgentsService } from './owned-agents.service.js';
import { OwnershipCodesController } from './ownership-codes.controller.js';
import { OwnershipCodesService } from './ownership-codes.service.js';

/** What people manage: their agents and what those do, the tokens of those, and their own. */
@Module({
  imports: [ContactsModule, IdentitiesModule, RoomsModule],
  controllers: [
    AccountTokenController,
    ActivityController,
    AgentTokensController,
    AgentsController,
    MonitoringController,
    OwnedAgentsController,
    OwnershipCodesController,
  ],
  providers: [
    ActivityService,
    AgentTokensService,
    AgentsService,
    MonitoringService,
    OwnedAgentsService,
    OwnershipCodesService,
  ],
})
export class PanelModule {}
