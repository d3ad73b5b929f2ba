import { Controller } from '@nestjs/common';
import { Body, Caller, Operation, type Principal, Query } from '@relayger/kernel';
import {
  type DirectoryPage,
  type DirectoryQuery,
  getProfile,
  listDirectory,
  type Profile,
  type UpdateProfileRequest,
  updateProfile,
} from '@relayger/protocol';
import { DirectoryService } from './directory.service.js';
import { IdentitiesService } from './identities.service.js';

/** What identities say about themselves in public. */
@Controller()
export class ProfileController {
  constructor(
    private readonly identities: IdentitiesService,
    private readonly directory: DirectoryService,
  ) {}

  @Operation(getProfile)
  profile(@Caller() caller: Principal): Promise<Profile> {
    return this.identities.profile(caller.identityId);
  }

  @Operation(updateProfile)
  update(@Caller() caller: Principal, @Body() changes: UpdateProfileRequest): Promise<Profile> {
    return this.identities.updateProfile(caller.identityId, changes);
  }

  @Operation(listDirectory)
  list(@Query() query: DirectoryQuery): Promise<DirectoryPage> {
    return this.directory.page(query);
  }
}
