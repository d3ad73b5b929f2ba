import { z } from 'zod';
import { canonicalJson } from './canonical-json.js';
import { Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { text } from './text.js';

const access = { scopes: ['approvals'] } as const;

/** What a person is asked to agree to. */
export const ApprovalAction = z
  .discriminatedUnion('kind', [
    z
      .strictObject({
        kind: z.literal('review_result'),
        summary: text({ min: 1, max: LIMITS.approvalTextBytes }).describe(
          'The result that is to be reviewed.',
        ),
      })
      .meta({ id: 'ReviewResultAction' }),
    z
      .strictObject({
        kind: z.literal('publish_artifact'),
        fileId: Uuid.describe("A file of the task's room that is ready."),
        summary: text({ min: 1, max: LIMITS.approvalTextBytes })
          .optional()
          .describe('Where the file is to be published, and for whom.'),
      })
      .meta({ id: 'PublishArtifactAction' }),
  ])
  .meta({ id: 'ApprovalAction' });
export type ApprovalAction = z.infer<typeof ApprovalAction>;

export const PayloadHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 lowercase hexadecimal digits')
  .meta({
    id: 'PayloadHash',
    description:
      'SHA-256, in hex, of the canonical JSON (RFC 8785) of {taskId,approverId,description,action,version,expiresAt} as the approval has them.',
  });

export const ApprovalState = z.enum(['pending', 'approved', 'rejected', 'expired', 'closed']).meta({
  id: 'ApprovalState',
  description:
    'expired: nobody decided in time. closed: the task ended first, or the person could not decide any more and another approval was requested. Only pending ones can still be decided.',
});
export type ApprovalState = z.infer<typeof ApprovalState>;

export const RequestApprovalRequest = z
  .strictObject({
    taskId: Uuid,
    approverId: Uuid.describe("An active human member of the task's room."),
    description: text({ min: 1, max: LIMITS.approvalTextBytes }).describe(
      'What the person has to know in order to decide.',
    ),
    action: ApprovalAction,
    expiresIn: z
      .int()
      .min(LIMITS.approvalSecondsMin)
      .max(LIMITS.approvalSecondsMax)
      .describe('Seconds that the person has: one minute to one day.'),
    version: Sequence.describe('Of the lease on the task.'),
    leaseOwner: Uuid,
  })
  .meta({ id: 'RequestApprovalRequest' });
export type RequestApprovalRequest = z.infer<typeof RequestApprovalRequest>;

export const RequestedApproval = z
  .strictObject({
    id: Uuid,
    payloadHash: PayloadHash,
    state: z.literal('pending'),
    expiresAt: UtcTime,
  })
  .meta({ id: 'RequestedApproval' });
export type RequestedApproval = z.infer<typeof RequestedApproval>;

export const Approval = z
  .strictObject({
    id: Uuid,
    taskId: Uuid,
    roomId: Uuid,
    requesterId: Uuid,
    approverId: Uuid,
    description: z.string(),
    action: ApprovalAction,
    version: Sequence.describe('Of the lease under which it was requested.'),
    payloadHash: PayloadHash,
    state: ApprovalState,
    createdAt: UtcTime,
    expiresAt: UtcTime,
    decidedAt: UtcTime.optional().describe('Only of approved and rejected ones.'),
  })
  .meta({
    id: 'Approval',
    description: 'A decision on the record. The server executes nothing because of it.',
  });
export type Approval = z.infer<typeof Approval>;

export const DecideApprovalRequest = z
  .strictObject({
    decision: z.enum(['approve', 'reject']),
    hash: PayloadHash.describe('The payloadHash of what was reviewed.'),
  })
  .meta({ id: 'DecideApprovalRequest' });
export type DecideApprovalRequest = z.infer<typeof DecideApprovalRequest>;

/**
 * The text whose SHA-256 is the payload hash, so that everybody can compute it from what the approval says.
 * @param approval a whole one, or the six parts that are bound
 */
export function approvalPayload({
  taskId,
  approverId,
  description,
  action,
  version,
  expiresAt,
}: Pick<
  Approval,
  'taskId' | 'approverId' | 'description' | 'action' | 'version' | 'expiresAt'
>): string {
  return canonicalJson({ taskId, approverId, description, action, version, expiresAt });
}

const exampleRequest: RequestApprovalRequest = {
  taskId: '0190b2fa-7a8b-7c9d-8e0f-1a2b3c4d5e6f',
  approverId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  description: 'The translation is ready; please read it before I hand it in.',
  action: { kind: 'review_result', summary: 'Three pages, German to English.' },
  expiresIn: 600,
  version: '1',
  leaseOwner: '5c1e9a3b-7d2f-4e8a-9b6c-0d1e2f3a4b5c',
};
const exampleApproval: Approval = {
  id: '0190b2fb-8b9c-7dae-8f10-2b3c4d5e6f70',
  taskId: exampleRequest.taskId,
  roomId: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  requesterId: '0190b2f4-9e2d-7f4b-8c63-2a7d3e9f5b12',
  approverId: exampleRequest.approverId,
  description: exampleRequest.description,
  action: exampleRequest.action,
  version: '1',
  payloadHash: '03ab6affa416032f53a1bd24acc681249752cf1b923dfbd5fcf592a2fe978750',
  state: 'pending',
  createdAt: '2026-11-29T22:00:00.000Z',
  expiresAt: '2026-11-29T22:10:00.000Z',
};
const exampleRequested: RequestedApproval = {
  id: exampleApproval.id,
  payloadHash: exampleApproval.payloadHash,
  state: 'pending',
  expiresAt: exampleApproval.expiresAt,
};

export const requestApproval = operation({
  id: 'requestApproval',
  method: 'POST',
  path: '/v1/approvals',
  tag: 'approvals',
  summary: 'Ask a person to agree before the task may be completed',
  description:
    'For the assignee, under its lease. It appends an approval_request event to the room. A task has at most one pending approval: the same request again answers that one, whatever the lease is by then; another is refused until it is decided or has expired, or its approver has left the room or is disabled, which closes it. A task with a pending approval cannot be completed, nor one whose last decision was a rejection: a later request that is approved lifts that, one that expires changes nothing. What is approved is what the hash covers: for anything else request another approval. That the approver has a token with the approvals scope is not checked.',
  access,
  body: RequestApprovalRequest,
  example: exampleRequest,
  responses: {
    201: { description: 'Requested.', schema: RequestedApproval, example: exampleRequested },
    200: {
      description: 'The same approval again: it was requested before and is pending.',
      schema: RequestedApproval,
      example: exampleRequested,
    },
  },
  errors: [
    'not_found',
    'lease_lost',
    'version_conflict',
    'task_assignee_required',
    'task_finished',
    'approval_pending',
    'contact_required',
    'contact_unavailable',
  ],
});

export const listApprovals = operation({
  id: 'listApprovals',
  method: 'GET',
  path: '/v1/approvals',
  tag: 'approvals',
  summary: 'The approvals that I requested or am to decide',
  description:
    'Those in rooms that the caller is still in, the newest first, at most 100. With a state only those that are in it.',
  access,
  query: z.strictObject({ state: ApprovalState.optional() }),
  responses: {
    200: {
      description: 'The approvals, the newest first.',
      schema: z.array(Approval).max(LIMITS.approvalsListed),
      example: [exampleApproval],
    },
  },
  errors: [],
});

export const getApproval = operation({
  id: 'getApproval',
  method: 'GET',
  path: '/v1/approvals/{id}',
  tag: 'approvals',
  summary: 'An approval with its decision',
  description: 'For whoever requested it and whoever is to decide it, while in the room.',
  access,
  params: z.strictObject({ id: Uuid }),
  responses: {
    200: { description: 'The approval.', schema: Approval, example: exampleApproval },
  },
  errors: ['not_found'],
});

export const decideApproval = operation({
  id: 'decideApproval',
  method: 'POST',
  path: '/v1/approvals/{id}/decide',
  tag: 'approvals',
  summary: 'Approve or reject what was reviewed',
  description:
    'For the person it is assigned to, once. An ordinary token of a person has no approvals scope: an administrator issues one with POST /v1/tokens. It appends an approval_decision event to the room and executes nothing; the agent reads the decision with GET /v1/approvals/{id}. The lease may have been renewed or taken again since the request: the hash binds what was asked, not who works now. Once the task has ended there is nothing left to decide.',
  access,
  params: z.strictObject({ id: Uuid }),
  body: DecideApprovalRequest,
  example: { decision: 'approve', hash: exampleApproval.payloadHash },
  responses: {
    200: {
      description: 'Decided.',
      schema: Approval,
      example: { ...exampleApproval, state: 'approved', decidedAt: '2026-11-29T22:03:00.000Z' },
    },
  },
  errors: [
    'not_found',
    'approver_required',
    'approval_hash_mismatch',
    'approval_expired',
    'approval_decided',
    'approval_closed',
    'contact_required',
    'contact_unavailable',
  ],
});
