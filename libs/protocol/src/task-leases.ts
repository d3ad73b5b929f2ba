import { z } from 'zod';
import { Sequence, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { exampleTask, Task, TaskActionRequest, TaskPercent, TaskResult } from './tasks.js';
import { text } from './text.js';

const access = { scopes: ['tasks'] } as const;
const params = z.strictObject({ id: Uuid });

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
              percent: TaskPercent.optional(),
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

const lent = {
  leaseOwner: 'c0ffee00-1d2e-4f3a-8b4c-5d6e7f8091a2',
  leaseUntil: '2026-11-30T22:00:35.000Z',
};
const running: Task = {
  ...exampleTask,
  state: 'running',
  version: '2',
  ...lent,
  attempts: 1,
  updatedAt: '2026-11-30T22:00:05.000Z',
};

export const claimTask = operation({
  id: 'claimTask',
  method: 'POST',
  path: '/v1/tasks/{id}/claim',
  tag: 'tasks',
  summary: 'Take a task that is assigned to you',
  description: `The lease lasts ${LIMITS.leaseSeconds} seconds and every update renews it; send one every 10 seconds. Once it has ended the task can be claimed again, ${LIMITS.taskClaims} times in all; after the last lease it fails. A task whose lease ended while it waited for an approval can be claimed after the decision, which does not count.`,
  access,
  params,
  body: TaskActionRequest,
  example: {},
  responses: { 200: { description: 'Yours until leaseUntil.', schema: Task, example: running } },
  errors: [
    'not_found',
    'contact_required',
    'task_assignee_required',
    'task_not_claimable',
    'task_deadline_passed',
  ],
});

export const updateTask = operation({
  id: 'updateTask',
  method: 'POST',
  path: '/v1/tasks/{id}/update',
  tag: 'tasks',
  summary: 'Keep the lease, report progress, or finish',
  description: `running renews the lease for ${LIMITS.leaseSeconds} seconds; its progress is kept on the task and told to the room at most every ${LIMITS.progressEventSeconds} seconds. waiting_approval renews it too, and needs a pending approval. completed stores the result and tells the room; it is refused while an approval is pending or after it was rejected. Every update raises the version. A worker whose lease has ended changes nothing; the identical completion or failure again is answered as the first.`,
  access,
  params,
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
    'contact_required',
    'task_assignee_required',
    'task_finished',
    'lease_lost',
    'version_conflict',
    'approval_required',
    'approval_pending',
  ],
});
