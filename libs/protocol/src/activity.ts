import { z } from 'zod';
import { accountAccess } from './account-agents.js';
import { ApprovalState } from './approvals.js';
import { Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { TaskOperation } from './monitoring.js';
import { operation } from './operation.js';
import { queryInt } from './query.js';
import { RuntimeUsage } from './runtime-jobs.js';
import { TaskState } from './tasks.js';

export const ActivityKind = z.enum(['task', 'message', 'runtime', 'approval']).meta({
  id: 'ActivityKind',
});
export type ActivityKind = z.infer<typeof ActivityKind>;

/** Types of messages that are what the agent itself says. */
const ActivityMessageType = z.enum(['text', 'data', 'sealed', 'artifact']);
export type ActivityMessageType = z.infer<typeof ActivityMessageType>;

const fields = {
  id: z.string().describe('Unique in the feed, and the same whenever this record is read.'),
  at: UtcTime.describe('When it happened; it never changes.'),
  agentId: Uuid,
  roomId: Uuid,
};

/** Something that happened. States are those of now. */
export const ActivityItem = z
  .discriminatedUnion('kind', [
    z
      .strictObject({
        ...fields,
        kind: z.literal('task'),
        event: z.enum(['created', 'finished']),
        taskId: Uuid,
        creatorId: Uuid,
        parentTaskId: Uuid.nullable(),
        rootTaskId: Uuid,
        operation: TaskOperation,
        state: TaskState,
      })
      .meta({ id: 'TaskActivity', description: 'A task that is assigned to the agent.' }),
    z
      .strictObject({
        ...fields,
        kind: z.literal('message'),
        event: z.literal('sent'),
        messageId: Uuid,
        sequence: Sequence,
        type: ActivityMessageType,
      })
      .meta({
        id: 'MessageActivity',
        description: 'A message of the agent. Events and reports of presence are none.',
      }),
    z
      .strictObject({
        ...fields,
        kind: z.literal('runtime'),
        event: z.literal('claimed'),
        runtimeId: Uuid,
        deliveryId: Uuid,
        version: Sequence.describe('Of the lease: tells the attempts at one job apart.'),
        messageId: Uuid.describe('The message that is the job.'),
        outcome: z
          .enum(['handled', 'skipped', 'failed'])
          .nullable()
          .describe('null: abandoned, or at work now.'),
        finishedAt: UtcTime.nullable(),
        usage: RuntimeUsage.nullable().describe('null: not reported.'),
      })
      .meta({ id: 'RuntimeActivity', description: 'An attempt at a job of a runtime.' }),
    z
      .strictObject({
        ...fields,
        kind: z.literal('approval'),
        event: z.enum(['requested', 'decided']),
        approvalId: Uuid,
        taskId: Uuid,
        approverId: Uuid,
        state: ApprovalState,
        expiresAt: UtcTime,
      })
      .meta({ id: 'ApprovalActivity', description: 'An approval that the agent has requested.' }),
  ])
  .meta({ id: 'ActivityItem' });
export type ActivityItem = z.infer<typeof ActivityItem>;

const Cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be a cursor as this feed answers it')
  .meta({
    id: 'ActivityCursor',
    description: 'Opaque. Works only for the same owner, agentId and kind.',
  });

export const ActivityPage = z
  .strictObject({
    items: z.array(ActivityItem).max(LIMITS.activityMax),
    nextCursor: Cursor.nullable().describe(
      'Goes on in the same direction. With after it is always there, for what is yet to come; otherwise null on the oldest page.',
    ),
    newestCursor: Cursor.describe('As after: what comes after the newest record of this page.'),
  })
  .meta({ id: 'ActivityPage' });
export type ActivityPage = z.infer<typeof ActivityPage>;

export const ActivityQuery = z
  .strictObject({
    agentId: Uuid.optional().describe('Only this agent of mine.'),
    kind: ActivityKind.optional(),
    limit: queryInt(1, LIMITS.activityMax, LIMITS.activityDefault).optional(),
    before: Cursor.optional().describe('Older records, the newest first.'),
    after: Cursor.optional().describe('Newer records, the oldest first. Not together with before.'),
  })
  .refine(({ before, after }) => before === undefined || after === undefined, {
    path: ['after'],
    error: 'cannot be combined with before',
  });
export type ActivityQuery = z.infer<typeof ActivityQuery>;

const roomId = '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f';
const agentId = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';
const example: ActivityPage = {
  items: [
    {
      id: '0190b2f6-4d5e-7f6a-8b7c-8d9e0f1a2b3c:sent',
      kind: 'message',
      event: 'sent',
      at: '2026-11-30T22:00:20.000Z',
      agentId,
      roomId,
      messageId: '0190b2f6-4d5e-7f6a-8b7c-8d9e0f1a2b3c',
      sequence: '2',
      type: 'text',
    },
    {
      id: '0190b2f8-2d4e-7f60-8a1b-3c4d5e6f7a8b:created',
      kind: 'task',
      event: 'created',
      at: '2026-11-30T22:00:00.000Z',
      agentId,
      roomId,
      taskId: '0190b2f8-2d4e-7f60-8a1b-3c4d5e6f7a8b',
      creatorId: '0190b2f4-8d2e-7f4b-8c63-2a7d3e9f5b12',
      parentTaskId: null,
      rootTaskId: '0190b2f8-2d4e-7f60-8a1b-3c4d5e6f7a8b',
      operation: 'custom',
      state: 'running',
    },
  ],
  nextCursor: 'AZPVrUxAAZCy-C1Of2CKGzxNXm96iwAAAAAAAAAAc2FtZSBvd25lciBhbmQgZmls',
  newestCursor: 'AZPVrZpgAZCy9k1ef2qLfI2eDxorPAAAAAAAAAAAc2FtZSBvd25lciBhbmQgZmls',
};

export const listActivity = operation({
  id: 'listActivity',
  method: 'GET',
  path: '/v1/account/activity',
  tag: 'monitoring',
  summary: 'What my agents did, record by record',
  description:
    'The newest first; with after the oldest first. Ids, states and times; nothing of what was said, asked or answered. Pages have neither gaps nor repeats: a record is shown once nothing older can appear any more, usually at once, at the latest after a minute. An agent that gets an owner brings its older records along.',
  access: accountAccess,
  query: ActivityQuery,
  responses: { 200: { description: 'A page.', schema: ActivityPage, example } },
  errors: ['not_found'],
});
