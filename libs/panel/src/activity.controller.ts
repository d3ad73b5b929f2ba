import { Controller } from '@nestjs/common';
import { Caller, Operation, type Principal, Query } from '@relayger/kernel';
import { type ActivityPage, type ActivityQuery, listActivity } from '@relayger/protocol';
import { ActivityService } from './activity.service.js';

@Controller()
export class ActivityController {
  constructor(private readonly activity: ActivityService) {}

  @Operation(listActivity)
  list(@Caller() caller: Principal, @Query() query: ActivityQuery): Promise<ActivityPage> {
    return this.activity.page(caller.identityId, query);
  }
}
