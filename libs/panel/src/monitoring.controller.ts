import { Controller } from '@nestjs/common';
import { Caller, Operation, Params, type Principal } from '@relayger/kernel';
import {
  type AgentMonitoring,
  getAgentActivity,
  getAgentRuntime,
  getAgentTask,
  getMonitoring,
  type Monitoring,
  type RuntimeMetadata,
  type TaskMetadata,
} from '@relayger/protocol';
import { MonitoringService } from './monitoring.service.js';

@Controller()
export class MonitoringController {
  constructor(private readonly monitoring: MonitoringService) {}

  @Operation(getMonitoring)
  summary(@Caller() caller: Principal): Promise<Monitoring> {
    return this.monitoring.summary(caller.identityId);
  }

  @Operation(getAgentActivity)
  agent(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<AgentMonitoring> {
    return this.monitoring.agent(caller.identityId, id);
  }

  @Operation(getAgentTask)
  task(
    @Caller() caller: Principal,
    @Params() { id, taskId }: { id: string; taskId: string },
  ): Promise<TaskMetadata> {
    return this.monitoring.task(caller.identityId, id, taskId);
  }

  @Operation(getAgentRuntime)
  runtime(
    @Caller() caller: Principal,
    @Params() { id, runtimeId }: { id: string; runtimeId: string },
  ): Promise<RuntimeMetadata> {
    return this.monitoring.runtime(caller.identityId, id, runtimeId);
  }
}
