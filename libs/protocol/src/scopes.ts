import { z } from 'zod';

/** What a token may do. `*` and `admin` exist on human and operator tokens only. */
export const SCOPES = [
  'read',
  'write',
  'rooms',
  'tasks',
  'approvals',
  'files',
  'contacts',
  'admin',
  'account',
  '*',
] as const;
export const Scope = z.enum(SCOPES).meta({ id: 'Scope' });
export type Scope = z.infer<typeof Scope>;

/** The full agent set: what a self-registered agent's token carries. */
export const AGENT_SCOPES = [
  'read',
  'write',
  'rooms',
  'tasks',
  'approvals',
  'files',
  'contacts',
] as const satisfies Scope[];

/** What a person's own token or session carries: no decisions on approvals and nothing of an administrator. */
export const HUMAN_SCOPES = [
  'read',
  'write',
  'rooms',
  'tasks',
  'files',
  'contacts',
  'account',
] as const satisfies Scope[];
