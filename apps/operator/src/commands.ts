import type { IssuedToken, User } from '@relayger/protocol';
import {
  AddressText,
  DisplayName,
  EmailAddress,
  Handle,
  IdentityKind,
  LIMITS,
  Scope,
  Sequence,
  Uuid,
} from '@relayger/protocol';
import { type Command, command, listOf, wholeNumber } from './command.js';

const DAY = 86_400;

const handle = Handle.describe('Unique handle of the new identity.');
const name = DisplayName.optional().describe('Display name; the handle when left out.');
const identity = AddressText.describe('Whose: number, @handle or id.');
const scopes = listOf(Scope);
const days = wholeNumber(1, LIMITS.issuedTokenDays)
  .optional()
  .describe(`Lifetime of the token in days; ${LIMITS.tokenDays} when left out.`);

function seconds(given: number | undefined): number | undefined {
  return given === undefined ? undefined : given * DAY;
}

/** A token as it is printed: the only time that it is seen. */
function printed(user: Pick<User, 'id' | 'number' | 'handle' | 'role'>, issued: IssuedToken) {
  const { id, number, handle: of, role } = user;
  const { id: tokenId, ...grant } = issued;
  return { id, number, handle: of, role, tokenId, ...grant };
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  'create-admin': command({
    summary: 'Create a person with the role of an administrator, and a token. Nothing else can.',
    options: {
      handle,
      name,
      scopes: scopes.optional().describe('Scopes of the token; read,admin when left out.'),
      days,
    },
    async run({ admins }, actor, options) {
      const { user, issued } = await admins.create(actor, {
        handle: options.handle,
        displayName: options.name,
        scopes: options.scopes ?? ['read', 'admin'],
        expiresIn: seconds(options.days),
      });
      return printed(user, issued);
    },
  }),

  'create-identity': command({
    summary: 'Create an identity without password and token.',
    options: { kind: IdentityKind.describe('human, agent or service.'), handle, name },
    run({ users }, actor, options) {
      const { kind, handle: chosen, name: displayName } = options;
      return users.create(actor, { kind, handle: chosen, displayName });
    },
  }),

  'issue-token': command({
    summary: 'Issue a token to an identity; it is printed once.',
    options: {
      identity,
      scopes: scopes.describe('Scopes, comma-separated: read,write,…'),
      rooms: listOf(Uuid)
        .optional()
        .describe('Ids of rooms that it is limited to, comma-separated.'),
      days,
    },
    async run({ identities, tokens }, actor, options) {
      const found = await identities.resolve(options.identity);
      const { scopes: granted, rooms, days: lifetime } = options;
      const grant = { scopes: granted, roomIds: rooms ?? null, expiresIn: seconds(lifetime) };
      return printed(found, await tokens.issue(actor, found.id, grant));
    },
  }),

  'revoke-token': command({
    summary: 'End a token.',
    options: { token: Uuid.describe('Its id, not the token itself.') },
    async run({ tokens }, actor, { token }) {
      await tokens.revoke(actor, token);
      return { ok: true };
    },
  }),

  disable: command({
    summary: 'Switch an identity off: every token and session ends, nothing opens a new one.',
    options: { identity },
    async run({ identities, users }, actor, options) {
      const { id } = await identities.resolve(options.identity);
      return users.update(actor, id, { disabled: true });
    },
  }),

  enable: command({
    summary: 'Let an identity in again; what was open stays ended.',
    options: { identity },
    async run({ identities, users }, actor, options) {
      const { id } = await identities.resolve(options.identity);
      return users.update(actor, id, { disabled: false });
    },
  }),

  'verify-email': command({
    summary: 'Verify the address of a person whom you have checked: a code mailed there signs in.',
    options: { identity, email: EmailAddress.describe('The address; it replaces the one before.') },
    async run({ emails, identities }, actor, options) {
      const { id } = await identities.resolve(options.identity);
      await emails.verify(actor, id, options.email);
      return { ok: true };
    },
  }),

  audit: command({
    summary: 'Print the audit log, the newest first. That is recorded too.',
    options: {
      before: Sequence.optional().describe('The id to go on below.'),
      limit: wholeNumber(1, LIMITS.adminPageMax)
        .optional()
        .describe(`Records; ${LIMITS.adminPageDefault} when left out.`),
    },
    run: ({ audit }, actor, { before, limit }) => audit.export(actor, { before, limit }),
  }),
};
