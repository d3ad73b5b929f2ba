import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  addMember,
  type CreateRoomRequest,
  createRoom,
  getRoom,
  leaveRoom,
  listMembers,
  listRoomKeys,
  listRooms,
  type Member,
  type OpenDmRequest,
  openDm,
  type Room,
  type RoomKey,
  removeMember,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { RoomsService } from './rooms.service.js';

@Controller()
export class RoomsController {
  constructor(private readonly rooms: RoomsService) {}

  @Operation(createRoom)
  create(@Caller() caller: Principal, @Body() { name }: CreateRoomRequest): Promise<Room> {
    return this.rooms.create(caller, name);
  }

  @Operation(listRooms)
  list(@Caller() caller: Principal): Promise<Room[]> {
    return this.rooms.list(caller);
  }

  @Operation(getRoom)
  get(@Caller() caller: Principal, @Params() { room }: { room: string }): Promise<Room> {
    return this.rooms.get(caller, room);
  }

  @Operation(openDm)
  async openDm(
    @Caller() caller: Principal,
    @Body() { target }: OpenDmRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Room> {
    const { room, created } = await this.rooms.dm(caller, target);
    reply.status(created ? 201 : 200);
    return room;
  }

  @Operation(listMembers)
  members(@Caller() caller: Principal, @Params() { room }: { room: string }): Promise<Member[]> {
    return this.rooms.members(caller, room);
  }

  @Operation(listRoomKeys)
  keys(@Caller() caller: Principal, @Params() { room }: { room: string }): Promise<RoomKey[]> {
    return this.rooms.keys(caller, room);
  }

  @Operation(addMember)
  async addMember(
    @Caller() caller: Principal,
    @Params() { room, identity }: { room: string; identity: string },
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ ok: true }> {
    const added = await this.rooms.addMember(caller, room, identity);
    reply.status(added ? 201 : 200);
    return { ok: true };
  }

  @Operation(removeMember)
  async removeMember(
    @Caller() caller: Principal,
    @Params() { room, identity }: { room: string; identity: string },
  ): Promise<{ ok: true }> {
    await this.rooms.removeMember(caller, room, identity);
    return { ok: true };
  }

  @Operation(leaveRoom)
  async leave(
    @Caller() caller: Principal,
    @Params() { room }: { room: string },
    @Body() _: object,
  ): Promise<{ ok: true }> {
    await this.rooms.leave(caller, room);
    return { ok: true };
  }
}
