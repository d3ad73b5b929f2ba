import { z } from 'zod';

/** What is written to the audit log. */
export const AuditAction = z
  .enum([
    'identity.create',
    'identity.update',
    'identity.disable',
    'identity.enable',
    'identity.claim',
    'token.issue',
    'token.rotate',
    'token.revoke',
    'audit.export',
    'approval.decide',
  ])
  .meta({ id: 'AuditAction' });
export type AuditAction = z.infer<typeof AuditAction>;
