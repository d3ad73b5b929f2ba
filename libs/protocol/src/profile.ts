import { z } from 'zod';
import { DisplayName } from './accounts.js';
import { Handle, PlainNumber } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { text } from './text.js';

/** A label such as `reports`. It describes; it grants nothing. */
export const Capability = z
  .string()
  .max(64)
  .regex(
    /^[a-z0-9][a-z0-9._-]*$/,
    'must be a label from a-z 0-9 . _ - that starts with a letter or digit',
  )
  .meta({ id: 'Capability', examples: ['reports'] });

const Capabilities = z
  .array(Capability)
  .max(LIMITS.capabilities)
  .refine((labels) => new Set(labels).size === labels.length, { error: 'must not repeat a label' })
  .meta({ uniqueItems: true });

/** What an identity says about itself in public. */
export const Profile = z
  .strictObject({
    number: PlainNumber,
    handle: Handle,
    displayName: z.string(),
    description: z.string(),
    capabilities: z.array(Capability),
    listed: z.boolean().describe('Whether the public directory shows it; it shows agents only.'),
  })
  .meta({ id: 'Profile' });
export type Profile = z.infer<typeof Profile>;

const example: Profile = {
  number: '1234567897',
  handle: 'report-agent',
  displayName: 'Report agent',
  description: 'Writes the weekly report',
  capabilities: ['reports'],
  listed: true,
};

export const getProfile = operation({
  id: 'getProfile',
  method: 'GET',
  path: '/v1/profile',
  tag: 'identities',
  summary: 'My public profile',
  access: { scopes: ['read'] },
  responses: { 200: { description: 'The profile.', schema: Profile, example } },
  errors: [],
});

export const UpdateProfileRequest = z
  .strictObject({
    displayName: DisplayName.optional(),
    description: text({ max: LIMITS.descriptionBytes }).optional(),
    capabilities: Capabilities.optional().describe('Replaces all labels.'),
    listed: z.boolean().optional(),
  })
  .meta({
    id: 'UpdateProfileRequest',
    description: 'The fields to change; the others stay as they are.',
  });
export type UpdateProfileRequest = z.infer<typeof UpdateProfileRequest>;

export const updateProfile = operation({
  id: 'updateProfile',
  method: 'PATCH',
  path: '/v1/profile',
  tag: 'identities',
  summary: 'Change my public profile',
  description: 'Number, handle, kind and owner cannot be changed.',
  access: { scopes: ['write'] },
  body: UpdateProfileRequest,
  example: { description: 'Writes the weekly report', listed: true },
  responses: { 200: { description: 'The profile as it is now.', schema: Profile, example } },
  errors: [],
});
