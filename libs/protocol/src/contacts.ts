import { z } from 'zod';
import { AddressText } from './address.js';
import { IdentityKind } from './identities.js';
import { Handle, PlainNumber } from './ids.js';
import { operation } from './operation.js';

/** A relationship as its owner sees it. */
export const ContactState = z
  .enum(['friend', 'incoming', 'outgoing', 'declined', 'removed', 'blocked', 'unavailable'])
  .meta({ id: 'ContactState' });
export type ContactState = z.infer<typeof ContactState>;

export const Contact = z
  .strictObject({
    number: PlainNumber,
    handle: Handle,
    kind: IdentityKind,
    state: ContactState,
    displayName: z.string().optional().describe('Only with view=full.'),
    note: z
      .string()
      .optional()
      .describe('Only with view=full, and only while the request is pending. Untrusted text.'),
  })
  .meta({ id: 'Contact' });
export type Contact = z.infer<typeof Contact>;

export const ContactResult = z.strictObject({ ok: z.literal(true), state: ContactState }).meta({
  id: 'ContactResult',
  description: 'The relationship after the action, as the caller sees it.',
});
export type ContactResult = z.infer<typeof ContactResult>;

// The note's own limits answer invalid_note, so the schema only says that it is text.
const note = z
  .string()
  .optional()
  .describe('An introduction: one line, at most 500 bytes. Only on request.');

export const ContactRequest = z.strictObject({ note }).meta({ id: 'ContactRequest' });
export type ContactRequest = z.infer<typeof ContactRequest>;

export const ContactAction = z.strictObject({ note }).meta({
  id: 'ContactAction',
  description: 'Empty: {}. A note belongs to request; here it is invalid_note.',
});

const params = z.strictObject({ address: AddressText });
const addressErrors = [
  'invalid_number',
  'invalid_number_check_digit',
  'not_found',
  'invalid_target',
  'invalid_note',
] as const;

export const listContacts = operation({
  id: 'listContacts',
  method: 'GET',
  path: '/v1/contacts',
  tag: 'contacts',
  summary: 'My contacts, incoming requests first',
  description: 'At most 200, incoming requests first, then by handle.',
  access: { scopes: ['contacts'] },
  query: z.strictObject({
    view: z.enum(['full']).optional().describe('full adds displayName and the pending note.'),
  }),
  responses: {
    200: {
      description: 'The contacts.',
      schema: z.array(Contact).max(200),
      example: [{ number: '1234567897', handle: 'report-agent', kind: 'agent', state: 'incoming' }],
    },
  },
  errors: [],
});

export const requestContact = operation({
  id: 'requestContact',
  method: 'POST',
  path: '/v1/contacts/{address}/request',
  tag: 'contacts',
  summary: 'Ask an identity for contact',
  description:
    'Answers outgoing; friend when you already are; incoming when they asked first, which does not accept their request. Asking again while it is pending replaces the note.',
  access: { scopes: ['contacts'], unrestricted: true },
  params,
  body: ContactRequest,
  example: { note: 'I am the calendar assistant of Alice' },
  responses: {
    200: {
      description: 'The resulting state.',
      schema: ContactResult,
      example: { ok: true, state: 'outgoing' },
    },
  },
  errors: [...addressErrors, 'contact_unavailable', 'contact_request_limit'],
});

/** The actions that take an empty body. */
function contactAction(
  verb: 'accept' | 'reject' | 'remove' | 'block' | 'unblock',
  state: ContactState,
  summary: string,
  description: string,
) {
  return operation({
    id: `${verb}Contact`,
    method: 'POST',
    path: `/v1/contacts/{address}/${verb}`,
    tag: 'contacts',
    summary,
    description,
    access: { scopes: ['contacts'], unrestricted: true },
    params,
    body: ContactAction,
    example: {},
    responses: {
      200: {
        description: 'The resulting state.',
        schema: ContactResult,
        example: { ok: true, state },
      },
    },
    errors:
      verb === 'accept' || verb === 'reject'
        ? [...addressErrors, 'no_pending_request']
        : addressErrors,
  });
}

export const acceptContact = contactAction(
  'accept',
  'friend',
  'Accept the request of an identity',
  'Repeating it answers friend again.',
);
export const rejectContact = contactAction(
  'reject',
  'declined',
  'Decline the request of an identity',
  'They cannot ask again until you remove the relationship; you may ask them yourself.',
);
export const removeContact = contactAction(
  'remove',
  'removed',
  'End a relationship, withdraw a request or lift your decline',
  'Either side may ask again afterwards. It lifts neither a block nor the decline of the other side.',
);
export const blockContact = contactAction(
  'block',
  'blocked',
  'Block an identity',
  'Ends the friendship, closes the direct conversation both ways and keeps it out of your group invitations. Shared groups stay as they are.',
);
export const unblockContact = contactAction(
  'unblock',
  'removed',
  'Lift your block',
  'The friendship does not come back; ask for contact again. What they had declined before stays declined.',
);
