import { z } from 'zod';
import { AddressText } from './address.js';
import { Handle, PlainNumber, Uuid } from './ids.js';
import { operation } from './operation.js';

export const IdentityKind = z.enum(['human', 'agent', 'service']).meta({ id: 'IdentityKind' });
export type IdentityKind = z.infer<typeof IdentityKind>;

/** What anyone with the contacts scope may know of an identity (contract/http.md section 3). */
export const Identity = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    handle: Handle,
    kind: IdentityKind,
    displayName: z.string(),
    description: z.string(),
    capabilities: z.array(z.string()),
    ownerId: Uuid.nullable().describe('The human that owns it. Ownership grants no permission.'),
  })
  .meta({ id: 'Identity' });
export type Identity = z.infer<typeof Identity>;

const example: Identity = {
  id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  number: '1234567897',
  handle: 'report-agent',
  kind: 'agent',
  displayName: 'Report agent',
  description: 'Writes the weekly report',
  capabilities: ['reports'],
  ownerId: null,
};

export const getIdentity = operation({
  id: 'getIdentity',
  method: 'GET',
  path: '/v1/identities/{address}',
  tag: 'identities',
  summary: 'Look up one identity by number, handle or UUID',
  access: { scopes: ['contacts'] },
  params: z.strictObject({ address: AddressText }),
  responses: { 200: { description: 'The identity.', schema: Identity, example } },
  errors: ['invalid_number', 'invalid_number_check_digit', 'not_found'],
});
