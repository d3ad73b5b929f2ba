import { z } from 'zod';
import { AddressText } from './address.js';
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
