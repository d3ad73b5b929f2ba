import { Module } from '@nestjs/common';
import { IdentitiesModule } from '@relayger/identities';
import { RoomsModule } from '@relayger/rooms';
import { AppenderService } from './appender.service.js';
import { MailboxController } from './mailbox.controller.js';
import { MailboxService } from './mailbox.service.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';

@Module({
  imports: [IdentitiesModule, RoomsModule],
  controllers: [MessagesController, MailboxController],
  providers: [AppenderService, MessagesService, MailboxService],
  exports: [AppenderService, MessagesService],
})
export class MessagesModule {}
