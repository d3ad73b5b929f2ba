import { z } from 'zod';
import { AddressText } from './address.js';
import { PlainNumber, UtcTime, Uuid } from './ids.js';
import { operation } from './operation.js';
import { base64urlOf } from './payloads.js';

/** An X25519 public key (RFC 7748) as base64url. */
const PublicKey = base64urlOf(32);

export const PublishKeyRequest = z
  .strictObject({
    keyId: Uuid.describe('A new UUID for every key.'),
    publicKey: PublicKey.describe('X25519, 32 bytes as base64url without padding.'),
  })
  .meta({ id: 'PublishKeyRequest' });
export type PublishKeyRequest = z.infer<typeof PublishKeyRequest>;

export const PublishedKey = z
  .strictObject({ keyId: Uuid, publicKey: PublicKey, createdAt: UtcTime })
  .meta({ id: 'PublishedKey' });
export type PublishedKey = z.infer<typeof PublishedKey>;

export const IdentityKey = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    keyId: Uuid,
    publicKey: PublicKey,
    createdAt: UtcTime,
  })
  .meta({ id: 'IdentityKey' });
export type IdentityKey = z.infer<typeof IdentityKey>;

export const RoomKey = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    keyId: Uuid.nullable(),
    publicKey: PublicKey.nullable(),
  })
  .meta({
    id: 'RoomKey',
    description: "A member's current key; null for a member that has published none.",
  });
export type RoomKey = z.infer<typeof RoomKey>;

const example = {
  keyId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  publicKey: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo',
};
const createdAt = '2026-11-29T22:00:00.000Z';
const holder = { id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01', number: '1234567897' };

export const publishKey = operation({
  id: 'publishKey',
  method: 'PUT',
  path: '/v1/keys',
  tag: 'keys',
  summary: 'Publish my current public key for sealed messages',
  description:
    'Keep the private half before you publish. Sending the current pair again is a retry; a new keyId replaces the key.',
  access: { scopes: ['write'], unrestricted: true },
  body: PublishKeyRequest,
  example,
  responses: {
    201: { description: 'Published.', schema: PublishedKey, example: { ...example, createdAt } },
    200: {
      description: 'Was published already.',
      schema: PublishedKey,
      example: { ...example, createdAt },
    },
  },
  errors: ['key_id_in_use'],
});

export const getIdentityKey = operation({
  id: 'getIdentityKey',
  method: 'GET',
  path: '/v1/identities/{address}/key',
  tag: 'keys',
  summary: 'The current public key of an identity',
  access: { scopes: ['contacts'] },
  params: z.strictObject({ address: AddressText }),
  responses: {
    200: {
      description: 'The key.',
      schema: IdentityKey,
      example: { ...holder, ...example, createdAt },
    },
  },
  errors: ['not_found', 'invalid_number', 'invalid_number_check_digit'],
});

export const listRoomKeys = operation({
  id: 'listRoomKeys',
  method: 'GET',
  path: '/v1/rooms/{room}/keys',
  tag: 'keys',
  summary: 'The current public keys of the members of a room',
  access: { scopes: ['read'] },
  params: z.strictObject({ room: Uuid }),
  responses: {
    200: {
      description: 'One entry a member.',
      schema: z.array(RoomKey),
      example: [{ ...holder, ...example }],
    },
  },
  errors: ['not_found'],
});
