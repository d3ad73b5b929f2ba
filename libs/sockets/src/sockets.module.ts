import { Module } from '@nestjs/common';
import { IdentitiesModule } from '@relayger/identities';
import { MessagesModule } from '@relayger/messages';
import { RoomsModule } from '@relayger/rooms';
import { RuntimesModule } from '@relayger/runtimes';
import { AccessService } from './access.service.js';
import { SocketsController } from './sockets.controller.js';
import { SocketsService } from './sockets.service.js';

/** A surface over rooms, messages and runtimes; the Authenticator comes from the application. */
@Module({
  imports: [IdentitiesModule, MessagesModule, RoomsModule, RuntimesModule],
  controllers: [SocketsController],
  providers: [AccessService, SocketsService],
})
export class SocketsModule {}
