import { Module } from '@nestjs/common';
import { ContactsModule } from '@relayger/contacts';
import { IdentitiesModule } from '@relayger/identities';
import { RoomsModule } from '@relayger/rooms';
import { AccountTokenController } from './account-token.controller.js';
import { AgentTokensController } from './agent-tokens.controller.js';
import { AgentTokensService } from './agent-tokens.service.js';
import { AgentsController } from './agents.controller.js';
import { AgentsService } from './agents.service.js';
import { OwnedAgentsController } from './owned-agents.controller.js';
import { OwnedAgentsService } from './owned-agents.service.js';
import { OwnershipCodesController } from './ownership-codes.controller.js';
import { OwnershipCodesService } from './ownership-codes.service.js';

/** What people manage: their agents, the tokens of those, and their own. */
@Module({
  imports: [ContactsModule, IdentitiesModule, RoomsModule],
  controllers: [
    AccountTokenController,
    AgentTokensController,
    AgentsController,
    OwnedAgentsController,
    OwnershipCodesController,
  ],
  providers: [AgentTokensService, AgentsService, OwnedAgentsService, OwnershipCodesService],
})
export class PanelModule {}
