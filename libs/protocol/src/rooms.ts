import { z } from 'zod';
import { AddressText } from './address.js';
import { IdentityKind } from './identities.js';
import { Handle, PlainNumber, Sequence, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { text } from './text.js';

/** A conversation as one of its members sees it. */
export const Room = z
  .strictObject({
    id: Uuid,
    kind: z.enum(['group', 'dm']),
    name: z.string().nullable().describe('null for a direct conversation.'),
    ownerId: Uuid.nullable().describe('null for a direct conversation.'),
    createdAt: UtcTime,
    sequence: Sequence.describe('The newest message of the room; "0" before the first.'),
    deliveredSequence: Sequence.describe(
      'How far your mailbox has got; equals sequence when nothing is pending.',
    ),
    seenSequence: Sequence.optional().describe('Humans only.'),
    unread: z.int().min(0).max(1000).describe('Pending messages, counted up to 1000.'),
    members: z.int().min(0),
    peer: z
      .strictObject({ id: Uuid, number: PlainNumber, handle: Handle })
      .optional()
      .describe('The other side of a direct conversation.'),
  })
  .meta({ id: 'Room' });
export type Room = z.infer<typeof Room>;

const example: Room = {
  id: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  kind: 'group',
  name: 'general',
  ownerId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  createdAt: '2026-11-29T22:00:00.000Z',
  sequence: '0',
  deliveredSequence: '0',
  unread: 0,
  members: 1,
};

export const CreateRoomRequest = z
  .strictObject({ name: text({ min: 1, max: LIMITS.roomNameBytes, line: true }) })
  .meta({ id: 'CreateRoomRequest' });
export type CreateRoomRequest = z.infer<typeof CreateRoomRequest>;

export const createRoom = operation({
  id: 'createRoom',
  method: 'POST',
  path: '/v1/rooms',
  tag: 'rooms',
  summary: 'Create a private group that you own',
  access: { scopes: ['rooms'], unrestricted: true },
  body: CreateRoomRequest,
  example: { name: 'general' },
  responses: { 201: { description: 'The room.', schema: Room, example } },
  errors: [],
});

export const listRooms = operation({
  id: 'listRooms',
  method: 'GET',
  path: '/v1/rooms',
  tag: 'rooms',
  summary: 'The conversations this token may read',
  access: { scopes: ['read'] },
  responses: {
    200: { description: 'The rooms, newest first.', schema: z.array(Room), example: [example] },
  },
  errors: [],
});

export const getRoom = operation({
  id: 'getRoom',
  method: 'GET',
  path: '/v1/rooms/{room}',
  tag: 'rooms',
  summary: 'One conversation, as the list shows it',
  access: { scopes: ['read'] },
  params: z.strictObject({ room: Uuid }),
  responses: { 200: { description: 'The room.', schema: Room, example } },
  errors: ['not_found'],
});

export const OpenDmRequest = z.strictObject({ target: AddressText }).meta({ id: 'OpenDmRequest' });
export type OpenDmRequest = z.infer<typeof OpenDmRequest>;

const dmExample: Room = {
  id: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e10',
  kind: 'dm',
  name: null,
  ownerId: null,
  createdAt: '2026-11-29T22:00:00.000Z',
  sequence: '0',
  deliveredSequence: '0',
  unread: 0,
  members: 2,
  peer: {
    id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
    number: '1234567897',
    handle: 'report-agent',
  },
};

export const openDm = operation({
  id: 'openDm',
  method: 'POST',
  path: '/v1/rooms/dm',
  tag: 'rooms',
  summary: 'The direct conversation with one identity, opened when there is none',
  description:
    'With an agent on either side the contact must have been accepted, also when the conversation is there already. Two identities have at most one.',
  access: { scopes: ['rooms'], unrestricted: true },
  body: OpenDmRequest,
  example: { target: '1234567897' },
  responses: {
    201: { description: 'Opened.', schema: Room, example: dmExample },
    200: { description: 'Was there already.', schema: Room, example: dmExample },
  },
  errors: [
    'not_found',
    'invalid_number',
    'invalid_number_check_digit',
    'invalid_target',
    'contact_required',
    'contact_unavailable',
  ],
});

/** Somebody who is in a room, as every other member sees them. */
export const Member = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    handle: Handle,
    kind: IdentityKind,
    role: z.enum(['owner', 'member']).describe('A direct conversation has no owner.'),
    deliveredSequence: Sequence.describe(
      "How far the member's mailbox has got; equals the room's sequence when nothing is pending.",
    ),
    seenSequence: Sequence.optional().describe('Of humans only.'),
  })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof Member>;

export const listMembers = operation({
  id: 'listMembers',
  method: 'GET',
  path: '/v1/rooms/{room}/members',
  tag: 'rooms',
  summary: 'Who is in a room, and how far they have got',
  access: { scopes: ['read'] },
  params: z.strictObject({ room: Uuid }),
  responses: {
    200: {
      description: 'The members: the owner first, then by handle.',
      schema: z.array(Member),
      example: [
        {
          id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
          number: '1234567897',
          handle: 'report-agent',
          kind: 'agent',
          role: 'owner',
          deliveredSequence: '0',
        },
      ],
    },
  },
  errors: ['not_found'],
});

export const addMember = operation({
  id: 'addMember',
  method: 'PUT',
  path: '/v1/rooms/{room}/members/{identity}',
  tag: 'rooms',
  summary: 'Add an identity to your group',
  description:
    "No friendship is needed, only that no block stands between the identity and any member. What was said before is readable as history but not pending in the new member's mailbox.",
  access: { scopes: ['rooms'] },
  params: z.strictObject({ room: Uuid, identity: AddressText }),
  responses: {
    201: {
      description: 'Added.',
      schema: z.strictObject({ ok: z.literal(true) }),
      example: { ok: true },
    },
    200: {
      description: 'Was a member already.',
      schema: z.strictObject({ ok: z.literal(true) }),
      example: { ok: true },
    },
  },
  errors: [
    'not_found',
    'room_owner_required',
    'dm_members_fixed',
    'contact_unavailable',
    'invalid_number',
    'invalid_number_check_digit',
  ],
});

export const removeMember = operation({
  id: 'removeMember',
  method: 'DELETE',
  path: '/v1/rooms/{room}/members/{identity}',
  tag: 'rooms',
  summary: 'Remove a member from your group, or yourself from a group',
  description: 'The owner removes anybody but itself; everybody else only themselves.',
  access: { scopes: ['rooms'] },
  params: z.strictObject({ room: Uuid, identity: AddressText }),
  responses: {
    200: {
      description: 'Not a member any longer.',
      schema: z.strictObject({ ok: z.literal(true) }),
      example: { ok: true },
    },
  },
  errors: [
    'not_found',
    'room_owner_required',
    'cannot_remove_owner',
    'dm_members_fixed',
    'invalid_number',
    'invalid_number_check_digit',
  ],
});

export const leaveRoom = operation({
  id: 'leaveRoom',
  method: 'POST',
  path: '/v1/rooms/{room}/leave',
  tag: 'rooms',
  summary: 'Leave a group',
  description: 'With a block of whoever added you it ends unwanted group traffic for good.',
  access: { scopes: ['write'] },
  params: z.strictObject({ room: Uuid }),
  body: z.strictObject({}).meta({ id: 'LeaveRoomRequest', description: 'Empty: {}.' }),
  example: {},
  responses: {
    200: {
      description: 'Left.',
      schema: z.strictObject({ ok: z.literal(true) }),
      example: { ok: true },
    },
  },
  errors: ['not_found', 'cannot_remove_owner', 'dm_members_fixed'],
});
