import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal, Query } from '@relayger/kernel';
import {
  type CreateUserRequest,
  createUser,
  listUsers,
  type UpdateUserRequest,
  type User,
  type UserPage,
  updateUser,
} from '@relayger/protocol';
import { adminActor, requireAdmin } from './actor.js';
import { UsersService } from './users.service.js';

@Controller()
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Operation(listUsers)
  list(
    @Caller() caller: Principal,
    @Query() { after, limit }: { after?: string; limit?: number },
  ): Promise<UserPage> {
    requireAdmin(caller);
    return this.users.page(after, limit);
  }

  @Operation(createUser)
  create(
    @Caller() caller: Principal,
    @Body() { reason, ...request }: CreateUserRequest,
  ): Promise<User> {
    return this.users.create(adminActor(caller, reason), request);
  }

  @Operation(updateUser)
  update(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() { reason, ...changes }: UpdateUserRequest,
  ): Promise<User> {
    return this.users.update(adminActor(caller, reason), id, changes);
  }
}
