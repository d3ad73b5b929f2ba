import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  getIdentityKey,
  type IdentityKey,
  type PublishedKey,
  type PublishKeyRequest,
  publishKey,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { KeysService } from './keys.service.js';

@Controller()
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Operation(publishKey)
  async publish(
    @Caller() caller: Principal,
    @Body() { keyId, publicKey }: PublishKeyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PublishedKey> {
    const { key, created } = await this.keys.publish(caller, keyId, publicKey);
    reply.status(created ? 201 : 200);
    return key;
  }

  @Operation(getIdentityKey)
  get(@Params() { address }: { address: string }): Promise<IdentityKey> {
    return this.keys.of(address);
  }
}
