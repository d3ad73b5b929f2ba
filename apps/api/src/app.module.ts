import { type DynamicModule, Module } from '@nestjs/common';
import { AccountsModule } from '@relayger/accounts';
import { ApprovalsModule } from '@relayger/approvals';
import { ContactsModule } from '@relayger/contacts';
import { DiscoveryModule } from '@relayger/discovery';
import { FilesModule } from '@relayger/files';
import { IdentitiesModule } from '@relayger/identities';
import { KernelModule, type KernelParts } from '@relayger/kernel';
import { MessagesModule } from '@relayger/messages';
import { OperatorModule } from '@relayger/operator';
import { PanelModule } from '@relayger/panel';
import { RoomsModule } from '@relayger/rooms';
import { RuntimesModule } from '@relayger/runtimes';
import { SocketsModule } from '@relayger/sockets';
import { TasksModule } from '@relayger/tasks';

/** Wiring only: which libraries make up the service. */
@Module({
  imports: [
    IdentitiesModule,
    AccountsModule,
    ContactsModule,
    RoomsModule,
    FilesModule,
    MessagesModule,
    TasksModule,
    ApprovalsModule,
    RuntimesModule,
    SocketsModule,
    DiscoveryModule,
    PanelModule,
    OperatorModule,
  ],
})
export class AppModule {
  static with(parts: KernelParts): DynamicModule {
    return { module: AppModule, imports: [KernelModule.with(parts)] };
  }
}
