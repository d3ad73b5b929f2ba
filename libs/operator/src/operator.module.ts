import { Module } from '@nestjs/common';
import { IdentitiesModule } from '@relayger/identities';
import { RoomsModule } from '@relayger/rooms';
import { AdminsService } from './admins.service.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';
import { EmailsService } from './emails.service.js';
import { OperatorTokensService } from './operator-tokens.service.js';
import { OwnTokensService } from './own-tokens.service.js';
import { TokensController } from './tokens.controller.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

/** Managing a server: over HTTP for administrators, and for the operator tool at the database. */
@Module({
  imports: [IdentitiesModule, RoomsModule],
  controllers: [AuditController, TokensController, UsersController],
  providers: [
    AdminsService,
    AuditService,
    EmailsService,
    OperatorTokensService,
    OwnTokensService,
    UsersService,
  ],
  exports: [AdminsService, AuditService, EmailsService, OperatorTokensService, UsersService],
})
export class OperatorModule {}
