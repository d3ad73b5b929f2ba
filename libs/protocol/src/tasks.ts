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

/** How much of a task is done. */
export const TaskPercent = z.number().min(0).max(100);

/** What the assignee last said about how far it is. */
export const TaskProgress = z
  .strictObject({ percent: TaskPercent.optional(), note: z.string().optional(), at: UtcTime })
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

/** A call that says everything in its path. */
export const TaskActionRequest = z
  .strictObject({})
  .meta({ id: 'TaskActionRequest', description: 'Empty: {}.' });
const task = z.strictObject({ id: Uuid });
const limit = queryInt(1, LIMITS.tasksListed, LIMITS.tasksListed).optional();

export const exampleTask: Task = {
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
    roomId: exampleTask.roomId,
    assigneeId: exampleTask.assigneeId,
    clientTaskId: exampleTask.clientTaskId,
    input: exampleTask.input,
  },
  responses: {
    201: { description: 'The task.', schema: Task, example: exampleTask },
    200: {
      description: 'The same task again, as it is now: this key had created it before.',
      schema: Task,
      example: exampleTask,
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
    example: [exampleTask],
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
  responses: { 200: { description: 'The task as it is now.', schema: Task, example: exampleTask } },
  errors: ['not_found'],
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
  body: TaskActionRequest,
  example: {},
  responses: {
    200: {
      description: 'The cancelled task.',
      schema: Task,
      example: {
        ...exampleTask,
        state: 'cancelled',
        version: '2',
        updatedAt: '2026-11-30T22:01:00.000Z',
      },
    },
  },
  errors: ['not_found', 'task_finished', 'task_creator_required'],
});
