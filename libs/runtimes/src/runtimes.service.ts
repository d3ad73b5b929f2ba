import { Injectable } from '@nestjs/common';
import { Database, type Principal } from '@relayger/kernel';
import {
  type ConfigureRuntimeRequest,
  fail,
  LIMITS,
  type RegisterRuntimeRequest,
  type Runtime,
  type RuntimeRecord,
  type RuntimeStats,
} from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { requireAgent } from './agent-only.js';
import { isSamePolicy, wholePolicy } from './policy.js';
import { RuntimesStore, toRuntime } from './runtimes.store.js';
import { isBusy, replacePolicy } from './sql/change-policy.js';
import { selectByName } from './sql/find-runtime.js';
import { insertNewRuntime, lockRegistrations } from './sql/insert-runtime.js';
import { lockRuntime } from './sql/lock-runtime.js';
import { selectLog, selectStats } from './sql/read-record.js';

/** Durable consumers: which there are, and what they take as work. */
@Injectable()
export class RuntimesService {
  constructor(
    private readonly database: Database,
    private readonly store: RuntimesStore,
  ) {}

  /**
   * Registers a runtime, or answers the one of this name.
   * @throws RelaygerError `agent_only`, `runtime_configuration_conflict`, `runtime_limit`
   */
  async register(
    caller: Principal,
    { name, from, policy: given }: RegisterRuntimeRequest,
  ): Promise<{ runtime: Runtime; created: boolean }> {
    requireAgent(caller);
    const { identityId } = caller;
    const policy = wholePolicy(given);
    return this.database.transaction(async (sql) => {
      await lockRegistrations(sql, identityId);
      const row = await selectByName(sql, identityId, name);
      if (row) {
        const runtime = toRuntime(row);
        if (runtime.from !== from || !isSamePolicy(runtime.policy, policy))
          fail('runtime_configuration_conflict');
        return { runtime, created: false };
      }
      const id = uuid();
      const createdAt = await insertNewRuntime(sql, { id, identityId, name, start: from, policy });
      if (!createdAt) fail('runtime_limit');
      const runtime = { id, name, from, policy, version: 1, createdAt: createdAt.toISOString() };
      return { runtime, created: true };
    });
  }

  /** @throws RelaygerError `agent_only` */
  async list(caller: Principal): Promise<Runtime[]> {
    requireAgent(caller);
    return this.store.list(caller.identityId);
  }

  /**
   * One runtime of the caller.
   * @throws RelaygerError `agent_only`, `not_found`
   */
  async get(caller: Principal, id: string): Promise<Runtime> {
    requireAgent(caller);
    return (await this.store.find(caller.identityId, id)) ?? fail('not_found');
  }

  /**
   * Gives a runtime a new policy.
   * @throws RelaygerError `agent_only`, `not_found`, `version_conflict`, `runtime_busy`
   */
  async configure(
    caller: Principal,
    id: string,
    { version, policy }: ConfigureRuntimeRequest,
  ): Promise<Runtime> {
    requireAgent(caller);
    await this.database.transaction(async (sql) => {
      const current = await lockRuntime(sql, id, caller.identityId);
      if (current === null) fail('not_found');
      if (current !== version) fail('version_conflict');
      if (await isBusy(sql, id)) fail('runtime_busy');
      await replacePolicy(sql, id, wholePolicy(policy));
    });
    return this.get(caller, id);
  }

  /**
   * The newest jobs and what has become of them, in rooms that the caller can work in.
   * @throws RelaygerError `agent_only`, `not_found`
   */
  async log(
    caller: Principal,
    id: string,
    limit: number = LIMITS.runtimeLogDefault,
  ): Promise<RuntimeRecord[]> {
    await this.get(caller, id);
    return selectLog(this.database, id, caller.identityId, caller.roomIds, limit);
  }

  /**
   * What workers have reported.
   * @throws RelaygerError `agent_only`, `not_found`
   */
  async stats(caller: Principal, id: string): Promise<RuntimeStats> {
    await this.get(caller, id);
    const row = await selectStats(this.database, id);
    return {
      claims: Number(row.claims),
      reportedModelCalls: Number(row.model_calls),
      reportedInputTokens: Number(row.input_tokens),
      reportedOutputTokens: Number(row.output_tokens),
      unreported: Number(row.unreported),
      unfinished: Number(row.unfinished),
    };
  }
}
