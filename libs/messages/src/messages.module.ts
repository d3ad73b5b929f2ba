import { Module } from '@nestjs/common';
import { FilesModule } from '@relayger/files';
import { IdentitiesModule } from '@relayger/identities';
import { RoomsModule } from '@relayger/rooms';
import { AppenderService } from './appender.service.js';
import { FeedService } from './feed.service.js';
import { MailboxController } from './mailbox.controller.js';
import { MailboxService } from './mailbox.service.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';
import { RevisionsController } from './revisions.controller.js';
import { RevisionsService } from './revisions.service.js';
import { SearchController } from './search.controller.js';
import { SearchService } from './search.service.js';
import { ThreadsController } from './threads.controller.js';
import { ThreadsService } from './threads.service.js';

@Module({
  imports: [IdentitiesModule, RoomsModule, FilesModule],
  controllers: [
    MessagesController,
    MailboxController,
    RevisionsController,
    SearchController,
    ThreadsController,
  ],
  providers: [
    AppenderService,
    FeedService,
    MessagesService,
    MailboxService,
    RevisionsService,
    SearchService,
    ThreadsService,
  ],
  exports: [AppenderService, FeedService, MessagesService],
})
export class MessagesModule {}
