import { z } from 'zod';
import { adminAccess, pageLimit } from './admin-users.js';
import { AuditAction } from './audit-actions.js';
import { Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';

/** Who managed what, when and why. */
export const AuditRecord = z
  .strictObject({
    id: Sequence,
    at: UtcTime,
    actorId: Uuid.nullable().describe('null: an operator at the database.'),
    action: AuditAction,
    subjectId: Uuid.nullable().describe('The identity that it was done to.'),
    tokenId: Uuid.nullable(),
    reason: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'AuditRecord', description: 'No secret and no message is in it.' });
export type AuditRecord = z.infer<typeof AuditRecord>;

export const AuditPage = z
  .strictObject({
    items: z.array(AuditRecord).max(LIMITS.adminPageMax),
    next: Sequence.nullable().describe(
      'Give it as before for the next page; null on the last one.',
    ),
  })
  .meta({ id: 'AuditPage' });
export type AuditPage = z.infer<typeof AuditPage>;

export const AuditQuery = z.strictObject({
  before: Sequence.optional().describe('The id that the page before ended with.'),
  limit: pageLimit,
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export const listAudit = operation({
  id: 'listAudit',
  method: 'GET',
  path: '/v1/audit',
  tag: 'admin',
  summary: 'The audit log, the newest first',
  access: adminAccess,
  query: AuditQuery,
  responses: {
    200: {
      description: 'A page.',
      schema: AuditPage,
      example: {
        items: [
          {
            id: '42',
            at: '2026-11-29T22:00:00.000Z',
            actorId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
            action: 'identity.disable',
            subjectId: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
            tokenId: null,
            reason: 'spam, ticket 4711',
            details: null,
          },
        ],
        next: null,
      },
    },
  },
  errors: ['admin_role_required'],
});
