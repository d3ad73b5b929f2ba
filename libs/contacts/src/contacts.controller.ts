import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal, Query } from '@relayger/kernel';
import {
  acceptContact,
  blockContact,
  type Contact,
  type ContactResult,
  listContacts,
  rejectContact,
  removeContact,
  requestContact,
  unblockContact,
} from '@relayger/protocol';
import { ContactsService } from './contacts.service.js';
import type { ContactVerb } from './relationship.js';

interface To {
  address: string;
}
interface Noted {
  note?: string;
}

@Controller()
export class ContactsController {
  constructor(private readonly contacts: ContactsService) {}

  @Operation(listContacts)
  list(@Caller() caller: Principal, @Query() { view }: { view?: 'full' }): Promise<Contact[]> {
    return this.contacts.list(caller, view === 'full');
  }

  @Operation(requestContact)
  request(
    @Caller() caller: Principal,
    @Params() to: To,
    @Body() body: Noted,
  ): Promise<ContactResult> {
    return this.act(caller, 'request', to, body);
  }

  @Operation(acceptContact)
  accept(
    @Caller() caller: Principal,
    @Params() to: To,
    @Body() body: Noted,
  ): Promise<ContactResult> {
    return this.act(caller, 'accept', to, body);
  }

  @Operation(rejectContact)
  reject(
    @Caller() caller: Principal,
    @Params() to: To,
    @Body() body: Noted,
  ): Promise<ContactResult> {
    return this.act(caller, 'reject', to, body);
  }

  @Operation(removeContact)
  remove(
    @Caller() caller: Principal,
    @Params() to: To,
    @Body() body: Noted,
  ): Promise<ContactResult> {
    return this.act(caller, 'remove', to, body);
  }

  @Operation(blockContact)
  block(
    @Caller() caller: Principal,
    @Params() to: To,
    @Body() body: Noted,
  ): Promise<ContactResult> {
    return this.act(caller, 'block', to, body);
  }

  @Operation(unblockContact)
  unblock(
    @Caller() caller: Principal,
    @Params() to: To,
    @Body() body: Noted,
  ): Promise<ContactResult> {
    return this.act(caller, 'unblock', to, body);
  }

  private async act(
    caller: Principal,
    verb: ContactVerb,
    to: To,
    { note }: Noted,
  ): Promise<ContactResult> {
    return { ok: true, state: await this.contacts.act(caller, verb, to.address, note) };
  }
}
