import { z } from 'zod';
import { accountAccess } from './account-agents.js';
import { Handle, PlainNumber, Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { PresenceState } from './payloads.js';
import { exampleRuntime, Runtime } from './runtimes.js';
import { type TaskInput, TaskState } from './tasks.js';

const count = z.int().min(0);
const days = `the last ${LIMITS.monitoringDays} days`;
const windowDays = z
  .int()
  .describe('How many days back "the last days" go, on the database clock.');
const most = LIMITS.monitoringCounted.toLocaleString('en');

/** What runtimes of an agent did in the last days. */
const attempts = {
  attempts: z
    .strictObject({
      total: count,
      handled: count,
      skipped: count,
      failed: count,
      unfinished: count.describe('Abandoned, or at work now.'),
    })
    .meta({ id: 'AttemptFigures' })
    .describe(`Jobs of runtimes that were claimed in ${days}, and what became of them.`),
  usage: z
    .strictObject({
      modelCalls: count,
      inputTokens: count,
      outputTokens: count,
      unreported: count.describe(
        'Finished attempts that said nothing of their usage: unknown, not zero.',
      ),
    })
    .meta({ id: 'UsageFigures' })
    .describe('What was reported for these attempts. Nothing of it is checked.'),
  processingMs: z
    .strictObject({ count: z.int().min(1), median: count, p95: count })
    .meta({ id: 'ProcessingFigures' })
    .nullable()
    .describe(
      'Milliseconds from claim to finish of those attempts that were finished; null without any. Tasks do not count: they have no time of their claim.',
    ),
};

/** What agents have to do and have done, in numbers. */
export const WorkFigures = z
  .strictObject({
    openTasks: count.describe('Assigned tasks that are queued, in work or wait, whenever created.'),
    results7d: z
      .strictObject({ completed: count, failed: count, cancelled: count })
      .meta({ id: 'TaskResultFigures' })
      .describe(`Assigned tasks that ended in ${days}.`),
    messages: count.describe(
      `Texts, data, sealed messages and artifacts that were sent in ${days}. Events and reports of presence do not count.`,
    ),
    ...attempts,
  })
  .meta({ id: 'WorkFigures', description: `Each number covers at most ${most} records an agent.` });
export type WorkFigures = z.infer<typeof WorkFigures>;

/** An agent and its work, as its owner sees it. */
export const AgentMonitoring = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    handle: Handle,
    displayName: z.string(),
    disabled: z.boolean(),
    connected: z
      .boolean()
      .describe(
        'It reports a state other than offline, or a token of it was used in the last two minutes.',
      ),
    reportedState: PresenceState.describe('As GET /v1/agents shows it: what it says of itself.'),
    ...WorkFigures.shape,
  })
  .meta({ id: 'AgentMonitoring', description: `As in WorkFigures, at most ${most} records each.` });
export type AgentMonitoring = z.infer<typeof AgentMonitoring>;

/** All agents of a person, and their sums. */
export const Monitoring = z
  .strictObject({
    windowDays,
    agents: z.array(AgentMonitoring).max(LIMITS.ownedAgents),
    totals: WorkFigures.describe('Of all agents. Times are those of all attempts together.'),
  })
  .meta({ id: 'Monitoring' });
export type Monitoring = z.infer<typeof Monitoring>;

const figures: WorkFigures = {
  openTasks: 2,
  results7d: { completed: 12, failed: 1, cancelled: 0 },
  messages: 48,
  attempts: { total: 31, handled: 27, skipped: 2, failed: 1, unfinished: 1 },
  usage: { modelCalls: 29, inputTokens: 41_200, outputTokens: 9_340, unreported: 3 },
  processingMs: { count: 30, median: 2_140, p95: 9_870 },
};
const monitored: AgentMonitoring = {
  id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  number: '1234567897',
  handle: 'report-agent',
  displayName: 'Report agent',
  disabled: false,
  connected: true,
  reportedState: 'working',
  ...figures,
};

export const getMonitoring = operation({
  id: 'getMonitoring',
  method: 'GET',
  path: '/v1/account/monitoring',
  tag: 'monitoring',
  summary: 'All agents that I own, and what they do',
  description:
    'By handle, disabled ones included. Numbers, states and times; nothing of what was said, asked or answered.',
  access: accountAccess,
  responses: {
    200: {
      description: 'The summary.',
      schema: Monitoring,
      example: { windowDays: LIMITS.monitoringDays, agents: [monitored], totals: figures },
    },
  },
  errors: [],
});

export const getAgentActivity = operation({
  id: 'getAgentActivity',
  method: 'GET',
  path: '/v1/account/agents/{id}/activity',
  tag: 'monitoring',
  summary: 'One agent of GET /v1/account/monitoring',
  description: 'Kept for older clients. Single records are under GET /v1/account/activity.',
  access: accountAccess,
  params: z.strictObject({ id: Uuid }),
  responses: {
    200: { description: 'The summary.', schema: AgentMonitoring, example: monitored },
  },
  errors: ['not_found'],
});

/** What kind of work a task is; the kinds of custom ones are words of whoever created them. */
export const TaskOperation = z
  .enum(['echo', 'uppercase', 'coordinate', 'sum', 'custom'] satisfies TaskInput['operation'][])
  .meta({ id: 'TaskOperation' });
export type TaskOperation = z.infer<typeof TaskOperation>;

/** A task without what is asked, answered or said about it. */
export const TaskMetadata = z
  .strictObject({
    id: Uuid,
    roomId: Uuid,
    creatorId: Uuid,
    assigneeId: Uuid,
    parentTaskId: Uuid.nullable().describe('null for a root task.'),
    rootTaskId: Uuid.describe('The task itself for a root task.'),
    depth: z.int().min(1).max(LIMITS.taskDepth),
    operation: TaskOperation,
    state: TaskState,
    version: Sequence,
    attempts: count.describe('How often it was claimed.'),
    percent: z.number().min(0).max(100).nullable().describe('As its assignee last reported it.'),
    leaseUntil: UtcTime.nullable().describe('Only while in work.'),
    deadline: UtcTime.nullable(),
    createdAt: UtcTime,
    updatedAt: UtcTime,
    finishedAt: UtcTime.nullable(),
  })
  .meta({ id: 'TaskMetadata' });
export type TaskMetadata = z.infer<typeof TaskMetadata>;

export const getAgentTask = operation({
  id: 'getAgentTask',
  method: 'GET',
  path: '/v1/account/agents/{id}/tasks/{taskId}',
  tag: 'monitoring',
  summary: 'A task that is assigned to an agent of mine',
  description: 'Without its input, result, error and notes.',
  access: accountAccess,
  params: z.strictObject({ id: Uuid, taskId: Uuid }),
  responses: {
    200: {
      description: 'The task as it is now.',
      schema: TaskMetadata,
      example: {
        id: '0190b2f8-2d4e-7f60-8a1b-3c4d5e6f7a8b',
        roomId: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
        creatorId: '0190b2f4-8d2e-7f4b-8c63-2a7d3e9f5b12',
        assigneeId: monitored.id,
        parentTaskId: null,
        rootTaskId: '0190b2f8-2d4e-7f60-8a1b-3c4d5e6f7a8b',
        depth: 1,
        operation: 'custom',
        state: 'running',
        version: '3',
        attempts: 1,
        percent: 40,
        leaseUntil: '2026-11-30T22:00:45.000Z',
        deadline: '2026-12-01T12:00:00.000Z',
        createdAt: '2026-11-30T22:00:00.000Z',
        updatedAt: '2026-11-30T22:00:15.000Z',
        finishedAt: null,
      },
    },
  },
  errors: ['not_found'],
});

/** A runtime without the messages that are its work, its replies and its notes. */
export const RuntimeMetadata = Runtime.extend({
  claims: count.describe('Since it was registered.'),
  jobs: z
    .strictObject({
      pending: count.describe('Also failed ones that wait for another attempt.'),
      leased: count,
      handled: count,
      skipped: count,
      deadLetter: count,
    })
    .describe(`What has become of the newest ${most} jobs.`),
  windowDays,
  ...attempts,
}).meta({ id: 'RuntimeMetadata', description: `Each number covers at most ${most} records.` });
export type RuntimeMetadata = z.infer<typeof RuntimeMetadata>;

export const getAgentRuntime = operation({
  id: 'getAgentRuntime',
  method: 'GET',
  path: '/v1/account/agents/{id}/runtimes/{runtimeId}',
  tag: 'monitoring',
  summary: 'A runtime of an agent of mine',
  description:
    'Its policy and its numbers, without jobs and notes. The name is a label that the agent has chosen, as its handle is.',
  access: accountAccess,
  params: z.strictObject({ id: Uuid, runtimeId: Uuid }),
  responses: {
    200: {
      description: 'The runtime as it is now.',
      schema: RuntimeMetadata,
      example: {
        ...exampleRuntime,
        claims: 212,
        jobs: { pending: 1, leased: 1, handled: 190, skipped: 14, deadLetter: 2 },
        windowDays: LIMITS.monitoringDays,
        attempts: figures.attempts,
        usage: figures.usage,
        processingMs: figures.processingMs,
      },
    },
  },
  errors: ['not_found'],
});
