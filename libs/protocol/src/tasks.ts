import { z } from 'zod';
import { Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { SchemaName } from './payloads.js';
import { queryInt } from './query.js';
import { jsonObject, text } from './text.js';

const access = { scopes: ['tasks'] } as const;

/** What there is to do. The server stores it and runs nothing. */
export const TaskInput = z
  .discriminatedUnion(
    'operation',
    [
      z
        .strictObject({
          operation: z.enum(['echo', 'uppercase', 'coordinate']),
          text: text({ min: 1, max: LIMITS.textBytes }),
        })
        .meta({ id: 'TextTaskInput' }),
      z
        .strictObject({
          operation: z.literal('sum'),
          values: z.array(z.number()).min(1).max(LIMITS.taskValues),
        })
        .meta({ id: 'SumTaskInput' }),
      z
        .strictObject({
          operation: z.literal('custom'),
          kind: SchemaName.describe('What a worker dispatches on.'),
          title: text({ min: 1, max: LIMITS.taskTitleBytes, line: true }).describe(
            "Becomes the summary of the room's task event.",
          ),
          data: jsonObject(LIMITS.dataBytes).optional(),
          deadline: UtcTime.optional().describe(
            'Later than now; from then on the task cannot be claimed, nor claimed again after a lease has ended.',
          ),
        })
        .meta({ id: 'CustomTaskInput' }),
    ],
    {
      error: ({ code }) =>
        code === 'invalid_union'
          ? 'must have the operation echo, uppercase, coordinate, sum or custom'
          : undefined,
    },
  )
  .meta({ id: 'TaskInput' });
export type TaskInput = z.infer<typeof TaskInput>;

export const TaskState = z
  .enum(['queued', 'running', 'waiting_approval', 'completed', 'failed', 'cancelled'])
  .meta({
    id: 'TaskState',
    description:
      'The last three are final. A running task whose leaseUntil has passed can be claimed again.',
  });
export type TaskState = z.infer<typeof TaskState>;

const percent = z.number().min(0).max(100);

/** What the assignee last said about how far it is. */
export const TaskProgress = z
  .strictObject({ percent: percent.optional(), note: z.string().optional(), at: UtcTime })
  .meta({ id: 'TaskProgress' });
export type TaskProgress = z.infer<typeof TaskProgress>;

export const TaskResult = z
  .strictObject({
    text: text({ min: 1, max: LIMITS.textBytes }),
    data: jsonObject(LIMITS.dataBytes).optional(),
  })
  .meta({ id: 'TaskResult' });
export type TaskResult = z.infer<typeof TaskResult>;

export const Task = z
  .strictObject({
    id: Uuid,
    roomId: Uuid,
    creatorId: Uuid,
    assigneeId: Uuid,
    parentTaskId: Uuid.nullable().describe('null for a root task.'),
    rootTaskId: Uuid.describe('The task itself for a root task.'),
    depth: z.int().min(1).max(LIMITS.taskDepth).describe('1 for a root task.'),
    clientTaskId: Uuid,
    input: TaskInput,
    state: TaskState,
    version: Sequence.describe('Raised by every claim, update and cancellation.'),
    leaseOwner: Uuid.optional().describe(
      'The lease that you hold; only in the replies to claim and update.',
    ),
    leaseUntil: UtcTime.optional().describe(
      'When the lease ends or has ended, on the clock of the server; only while in work.',
    ),
    attempts: z.int().min(0).max(LIMITS.taskClaims).describe('How often it was claimed.'),
    progress: TaskProgress.optional(),
    result: TaskResult.optional().describe('Of a completed task.'),
    error: z.string().optional().describe('Of a failed task: why.'),
    createdAt: UtcTime,
    updatedAt: UtcTime,
  })
  .meta({ id: 'Task' });
export type Task = z.infer<typeof Task>;

export const CreateTaskRequest = z
  .strictObject({
    roomId: Uuid,
    assigneeId: Uuid.describe('The UUID of an active agent that is a member of the room.'),
    clientTaskId: Uuid.describe(
      'Your key for retries: the same key with the same content gives the same task.',
    ),
    input: TaskInput,
    parentTaskId: Uuid.optional().describe(
      'The task that this is a part of: of the same room, and leased by you.',
    ),
    parentVersion: Sequence.optional(),
    parentLeaseOwner: Uuid.optional(),
  })
  .superRefine((request, ctx) => {
    const isSubtask = request.parentTaskId !== undefined;
    for (const field of ['parentVersion', 'parentLeaseOwner'] as const) {
      if (isSubtask === (request[field] !== undefined)) continue;
      const message = isSubtask ? 'is required with parentTaskId' : 'needs a parentTaskId';
      ctx.addIssue({ code: 'custom', path: [field], message });
    }
  })
  .meta({
    id: 'CreateTaskRequest',
    description:
      'A subtask also needs the current parentVersion and parentLeaseOwner. They only prove that you hold the parent: a coordinator that was restarted finds its subtask again under a new lease.',
  });
export type CreateTaskRequest = z.infer<typeof CreateTaskRequest>;

const lease = {
  version: Sequence.describe('As the last claim or update answered it.'),
  leaseOwner: Uuid.describe('As the claim answered it.'),
};

export const UpdateTaskRequest = z
  .discriminatedUnion(
    'state',
    [
      z
        .strictObject({
          ...lease,
          state: z.literal('running'),
          progress: z
            .strictObject({
              percent: percent.optional(),
              note: text({ min: 1, max: LIMITS.progressNoteBytes }).optional(),
            })
            .refine(({ percent, note }) => percent !== undefined || note !== undefined, {
              error: 'must have a percent or a note',
            })
            .optional(),
        })
        .meta({ id: 'TaskHeartbeat' }),
      z
        .strictObject({ ...lease, state: z.literal('waiting_approval') })
        .meta({ id: 'TaskWaitsForApproval' }),
      z
        .strictObject({ ...lease, state: z.literal('completed'), result: TaskResult })
        .meta({ id: 'TaskCompletion' }),
      z
        .strictObject({
          ...lease,
          state: z.literal('failed'),
          error: text({ min: 1, max: LIMITS.taskErrorBytes }),
        })
        .meta({ id: 'TaskFailure' }),
    ],
    {
      error: ({ code }) =>
        code === 'invalid_union'
          ? 'must have the state running, waiting_approval, completed or failed'
          : undefined,
    },
  )
  .meta({ id: 'UpdateTaskRequest' });
export type UpdateTaskRequest = z.infer<typeof UpdateTaskRequest>;

const Empty = z.strictObject({}).meta({ id: 'TaskActionRequest', description: 'Empty: {}.' });
const task = z.strictObject({ id: Uuid });
const limit = queryInt(1, LIMITS.tasksListed, LIMITS.tasksListed).optional();

const queued: Task = {
  id: '0190b2f8-2d4e-7f60-8a1b-3c4d5e6f7a8b',
  roomId: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  creatorId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  assigneeId: '0190b2f4-8d2e-7f4b-8c63-2a7d3e9f5b12',
  parentTaskId: null,
  rootTaskId: '0190b2f8-2d4e-7f60-8a1b-3c4d5e6f7a8b',
  depth: 1,
  clientTaskId: '7b9c1d2e-3f4a-4b5c-8d6e-7f8091a2b3c4',
  input: {
    operation: 'custom',
    kind: 'translate.v1',
    title: 'Translate the release notes',
    data: { to: 'de' },
    deadline: '2026-12-01T12:00:00Z',
  },
  state: 'queued',
  version: '1',
  attempts: 0,
  createdAt: '2026-11-30T22:00:00.000Z',
  updatedAt: '2026-11-30T22:00:00.000Z',
};
const lent = {
  leaseOwner: 'c0ffee00-1d2e-4f3a-8b4c-5d6e7f8091a2',
  leaseUntil: '2026-11-30T22:00:35.000Z',
};
const running: Task = {
  ...queued,
  state: 'running',
  version: '2',
  ...lent,
  attempts: 1,
  updatedAt: '2026-11-30T22:00:05.000Z',
};

export const createTask = operation({
  id: 'createTask',
  method: 'POST',
  path: '/v1/tasks',
  tag: 'tasks',
  summary: 'Give an agent of a room something to do',
  description: `The room gets a task event; nothing is run by the server. A subtask is made with a parent that the caller has leased. A root has at most ${LIMITS.taskDepth} levels, ${LIMITS.treeTasks} tasks and ${LIMITS.treeMessages} messages: task, result and approval events and every message under its rootTaskId count, progress does not.`,
  access,
  body: CreateTaskRequest,
  example: {
    roomId: queued.roomId,
    assigneeId: queued.assigneeId,
    clientTaskId: queued.clientTaskId,
    input: queued.input,
  },
  responses: {
    201: { description: 'The task.', schema: Task, example: queued },
    200: {
      description: 'The same task again, as it is now: this key had created it before.',
      schema: Task,
      example: queued,
    },
  },
  errors: [
    'not_found',
    'contact_required',
    'contact_unavailable',
    'idempotency_conflict',
    'task_assignee_required',
    'task_finished',
    'task_tree_limit',
    'lease_lost',
    'version_conflict',
  ],
});

const inbox = {
  200: {
    description:
      'The tasks: those that can be claimed now first, oldest first; then those in work or waiting.',
    schema: z.array(Task).max(LIMITS.tasksListed),
    example: [queued],
  },
};
const listing =
  'Workers that share an identity should take one at random: of those that claim the same one, all but one get task_not_claimable.';

export const listTasks = operation({
  id: 'listTasks',
  method: 'GET',
  path: '/v1/tasks',
  tag: 'tasks',
  summary: 'Open tasks that are assigned to you',
  description: listing,
  access,
  query: z.strictObject({
    assignee: z.literal('me').optional().meta({ default: 'me' }),
    state: z.literal('open').optional().meta({ default: 'open' }),
    limit,
  }),
  responses: inbox,
  errors: [],
});

export const taskInbox = operation({
  id: 'taskInbox',
  method: 'GET',
  path: '/v1/tasks/inbox',
  tag: 'tasks',
  summary: 'The same as GET /v1/tasks',
  description: listing,
  access,
  query: z.strictObject({ limit }),
  responses: inbox,
  errors: [],
});

export const getTask = operation({
  id: 'getTask',
  method: 'GET',
  path: '/v1/tasks/{id}',
  tag: 'tasks',
  summary: 'One task, for every member of its room',
  access,
  params: task,
  responses: { 200: { description: 'The task as it is now.', schema: Task, example: queued } },
  errors: ['not_found'],
});

export const claimTask = operation({
  id: 'claimTask',
  method: 'POST',
  path: '/v1/tasks/{id}/claim',
  tag: 'tasks',
  summary: 'Take a task that is assigned to you',
  description: `The lease lasts ${LIMITS.leaseSeconds} seconds and every update renews it; send one every 10 seconds. Once it has ended the task can be claimed again, ${LIMITS.taskClaims} times in all; after the last lease it fails. A task whose lease ended while it waited for an approval can be claimed after the decision, which does not count.`,
  access,
  params: task,
  body: Empty,
  example: {},
  responses: { 200: { description: 'Yours until leaseUntil.', schema: Task, example: running } },
  errors: ['not_found', 'task_assignee_required', 'task_not_claimable', 'task_deadline_passed'],
});

export const updateTask = operation({
  id: 'updateTask',
  method: 'POST',
  path: '/v1/tasks/{id}/update',
  tag: 'tasks',
  summary: 'Keep the lease, report progress, or finish',
  description: `running renews the lease for ${LIMITS.leaseSeconds} seconds; its progress is kept on the task and told to the room at most every ${LIMITS.progressEventSeconds} seconds. waiting_approval renews it too, and needs a pending approval. completed stores the result and tells the room; it is refused while an approval is pending or after it was rejected. Every update raises the version. A worker whose lease has ended changes nothing; the identical completion or failure again is answered as the first.`,
  access,
  params: task,
  body: UpdateTaskRequest,
  example: {
    version: running.version,
    leaseOwner: lent.leaseOwner,
    state: 'running',
    progress: { percent: 40, note: 'Half of the chapters are done' },
  },
  responses: {
    200: {
      description: 'The task with its new version.',
      schema: Task,
      example: {
        ...running,
        version: '3',
        leaseUntil: '2026-11-30T22:00:45.000Z',
        progress: {
          percent: 40,
          note: 'Half of the chapters are done',
          at: '2026-11-30T22:00:15.000Z',
        },
        updatedAt: '2026-11-30T22:00:15.000Z',
      },
    },
  },
  errors: [
    'not_found',
    'task_assignee_required',
    'task_finished',
    'lease_lost',
    'version_conflict',
    'approval_required',
    'approval_pending',
  ],
});

export const cancelTask = operation({
  id: 'cancelTask',
  method: 'POST',
  path: '/v1/tasks/{id}/cancel',
  tag: 'tasks',
  summary: 'Cancel a task that you created, or one of your room',
  description:
    'Also while somebody works on it, whose next update is then refused with task_finished. Its open subtasks are cancelled with it. Cancelling a cancelled task answers it as it is.',
  access,
  params: task,
  body: Empty,
  example: {},
  responses: {
    200: {
      description: 'The cancelled task.',
      schema: Task,
      example: {
        ...queued,
        state: 'cancelled',
        version: '2',
        updatedAt: '2026-11-30T22:01:00.000Z',
      },
    },
  },
  errors: ['not_found', 'task_finished', 'task_creator_required'],
});
