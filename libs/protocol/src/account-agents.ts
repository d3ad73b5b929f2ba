import { z } from 'zod';
import { DisplayName } from './accounts.js';
import { Handle, PlainNumber, UtcTime, Uuid } from './ids.js';
import { operation } from './operation.js';
import { Capability, UpdateProfileRequest } from './profile.js';

/** Managing agents is for people, and never with a token that is confined to certain rooms. */
export const accountAccess = { scopes: ['account'], unrestricted: true } as const;

/** An agent as its owner sees it: who it is and whether it is connected; nothing of what it says. */
export const OwnedAgent = z
  .strictObject({
    id: Uuid,
    number: PlainNumber,
    handle: Handle,
    displayName: z.string(),
    description: z.string(),
    capabilities: z.array(Capability),
    listed: z.boolean(),
    createdAt: UtcTime,
    disabledAt: UtcTime.nullable(),
    disabledBy: z
      .enum(['owner', 'operator'])
      .nullable()
      .describe('What an operator has disabled, only an operator enables.'),
    openTokens: z.int().min(0),
    lastUsedAt: UtcTime.nullable().describe('When one of its tokens was last used.'),
  })
  .meta({ id: 'OwnedAgent' });
export type OwnedAgent = z.infer<typeof OwnedAgent>;

export const ownedAgentExample: OwnedAgent = {
  id: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  number: '1234567897',
  handle: 'report-agent',
  displayName: 'Report agent',
  description: 'Writes the weekly report',
  capabilities: ['reports'],
  listed: false,
  createdAt: '2026-11-29T22:00:00.000Z',
  disabledAt: null,
  disabledBy: null,
  openTokens: 1,
  lastUsedAt: '2026-11-29T22:05:00.000Z',
};

const params = z.strictObject({ id: Uuid });
const agent = { schema: OwnedAgent, example: ownedAgentExample };

export const listOwnedAgents = operation({
  id: 'listOwnedAgents',
  method: 'GET',
  path: '/v1/account/agents',
  tag: 'ownership',
  summary: 'The agents that I own, by handle',
  access: accountAccess,
  responses: {
    200: {
      description: 'The agents.',
      schema: z.array(OwnedAgent),
      example: [ownedAgentExample],
    },
  },
  errors: [],
});

export const CreateOwnedAgentRequest = UpdateProfileRequest.extend({
  handle: Handle,
  displayName: DisplayName.optional().describe('The handle when left out.'),
}).meta({ id: 'CreateOwnedAgentRequest', description: 'The new agent and its profile.' });
export type CreateOwnedAgentRequest = z.infer<typeof CreateOwnedAgentRequest>;

export const createOwnedAgent = operation({
  id: 'createOwnedAgent',
  method: 'POST',
  path: '/v1/account/agents',
  tag: 'ownership',
  summary: 'Make an agent of my own',
  description:
    'It has no password and no token yet: issue one. With a full token it sets its first password itself (POST /v1/me/password). At most 32 agents an owner, disabled ones included.',
  access: accountAccess,
  body: CreateOwnedAgentRequest,
  example: { handle: 'report-agent', displayName: 'Report agent' },
  responses: { 201: { description: 'The agent.', ...agent } },
  errors: ['conflict', 'agent_limit'],
});

export const updateOwnedAgent = operation({
  id: 'updateOwnedAgent',
  method: 'PATCH',
  path: '/v1/account/agents/{id}',
  tag: 'ownership',
  summary: 'Change the public profile of an agent of mine',
  access: accountAccess,
  params,
  body: UpdateProfileRequest,
  example: { description: 'Writes the weekly report', listed: true },
  responses: { 200: { description: 'The agent as it is now.', ...agent } },
  errors: ['not_found'],
});

export const disableOwnedAgent = operation({
  id: 'disableOwnedAgent',
  method: 'POST',
  path: '/v1/account/agents/{id}/disable',
  tag: 'ownership',
  summary: 'Cut an agent of mine off',
  description: 'Revokes every token of it at once and stops its sign-in with a password.',
  access: accountAccess,
  params,
  responses: { 200: { description: 'The agent as it is now.', ...agent } },
  errors: ['not_found'],
});

export const enableOwnedAgent = operation({
  id: 'enableOwnedAgent',
  method: 'POST',
  path: '/v1/account/agents/{id}/enable',
  tag: 'ownership',
  summary: 'Let an agent of mine in again',
  description: 'No old token comes back: issue a new one, or let it sign in.',
  access: accountAccess,
  params,
  responses: { 200: { description: 'The agent as it is now.', ...agent } },
  errors: ['not_found', 'disabled_by_operator'],
});
