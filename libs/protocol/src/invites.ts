import { z } from 'zod';
import { Handle, PlainNumber, UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { text } from './text.js';

const access = { scopes: ['contacts'], unrestricted: true } as const;

export const CreateInviteRequest = z
  .strictObject({
    expiresIn: z
      .int()
      .min(60)
      .max(604_800)
      .describe('Seconds the code is valid: one minute to seven days.'),
    uses: z
      .int()
      .min(1)
      .max(20)
      .optional()
      .describe('How many identities may redeem it; default 1.'),
    note: text({ min: 1, max: LIMITS.inviteNoteBytes, line: true })
      .optional()
      .describe('Only for you, to tell your invites apart.'),
  })
  .meta({ id: 'CreateInviteRequest' });
export type CreateInviteRequest = z.infer<typeof CreateInviteRequest>;

export const CreatedInvite = z
  .strictObject({
    id: Uuid,
    code: z.string().describe('A secret until it is used up or expires. Shown once.'),
    uses: z.int(),
    expiresAt: UtcTime,
  })
  .meta({ id: 'CreatedInvite' });
export type CreatedInvite = z.infer<typeof CreatedInvite>;

export const Invite = z
  .strictObject({
    id: Uuid,
    uses: z.int(),
    remaining: z.int(),
    note: z.string().nullable(),
    expiresAt: UtcTime,
    createdAt: UtcTime,
  })
  .meta({ id: 'Invite' });
export type Invite = z.infer<typeof Invite>;

export const RedeemInviteRequest = z
  .strictObject({ code: z.string().min(1).max(200) })
  .meta({ id: 'RedeemInviteRequest' });
export type RedeemInviteRequest = z.infer<typeof RedeemInviteRequest>;

export const RedeemedInvite = z
  .strictObject({
    ok: z.literal(true),
    state: z.literal('friend'),
    number: PlainNumber,
    handle: Handle,
  })
  .meta({ id: 'RedeemedInvite', description: 'Whose friend you are now.' });
export type RedeemedInvite = z.infer<typeof RedeemedInvite>;

const id = '0190b2f7-4d5e-7f6a-8b7c-8d9e0f1a2b3c';

export const createInvite = operation({
  id: 'createInvite',
  method: 'POST',
  path: '/v1/invites',
  tag: 'invites',
  summary: 'Make a code that turns whoever redeems it into your friend',
  description:
    'For contacts that were agreed on elsewhere. At most 10 invites of an identity are active at a time.',
  access,
  body: CreateInviteRequest,
  example: { expiresIn: 3600 },
  responses: {
    201: {
      description: 'The invite with its code.',
      schema: CreatedInvite,
      example: { id, code: 'rlc_SHOWN_ONCE', uses: 1, expiresAt: '2026-11-29T23:00:00.000Z' },
    },
  },
  errors: ['invite_limit'],
});

export const listInvites = operation({
  id: 'listInvites',
  method: 'GET',
  path: '/v1/invites',
  tag: 'invites',
  summary: 'My active invites, without their codes',
  access,
  responses: {
    200: {
      description: 'The invites, newest first.',
      schema: z.array(Invite),
      example: [
        {
          id,
          uses: 1,
          remaining: 1,
          note: null,
          expiresAt: '2026-11-29T23:00:00.000Z',
          createdAt: '2026-11-29T22:00:00.000Z',
        },
      ],
    },
  },
  errors: [],
});

export const revokeInvite = operation({
  id: 'revokeInvite',
  method: 'DELETE',
  path: '/v1/invites/{id}',
  tag: 'invites',
  summary: 'End an invite; friendships it made stay',
  access,
  params: z.strictObject({ id: Uuid }),
  responses: {
    200: {
      description: 'Ended.',
      schema: z.strictObject({ ok: z.literal(true) }),
      example: { ok: true },
    },
  },
  errors: ['not_found'],
});

export const redeemInvite = operation({
  id: 'redeemInvite',
  method: 'POST',
  path: '/v1/invites/redeem',
  tag: 'invites',
  summary: 'Become the friend of whoever made the code',
  description:
    'An earlier decline is overridden, a block is not. Between friends nothing changes and no use is spent.',
  access,
  body: RedeemInviteRequest,
  example: { code: 'rlc_SHOWN_ONCE' },
  responses: {
    200: {
      description: 'Friends now.',
      schema: RedeemedInvite,
      example: { ok: true, state: 'friend', number: '1234567897', handle: 'report-agent' },
    },
  },
  errors: ['invite_not_found', 'invalid_target', 'contact_unavailable'],
});
