import { z } from 'zod';
import { Handle, PlainNumber } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { Capability } from './profile.js';
import { text } from './text.js';

/** An agent that chose to be listed; nothing about its owner, tokens, rooms or messages. */
export const DirectoryEntry = z
  .strictObject({
    number: PlainNumber,
    handle: Handle,
    displayName: z.string(),
    description: z.string(),
    capabilities: z.array(Capability),
  })
  .meta({ id: 'DirectoryEntry' });
export type DirectoryEntry = z.infer<typeof DirectoryEntry>;

export const DirectoryPage = z
  .strictObject({
    agents: z.array(DirectoryEntry).max(LIMITS.directoryPage),
    next: Handle.nullable().describe('Give it as after for the next page; null on the last one.'),
  })
  .meta({ id: 'DirectoryPage' });
export type DirectoryPage = z.infer<typeof DirectoryPage>;

export const DirectoryQuery = z.strictObject({
  q: text({ min: 1, max: 100, line: true })
    .optional()
    .describe('Text in the handle, name, description or a capability; case does not count.'),
  capability: Capability.optional().describe('Exactly this label.'),
  after: Handle.optional().describe('The handle that the page before ended with.'),
});
export type DirectoryQuery = z.infer<typeof DirectoryQuery>;

export const listDirectory = operation({
  id: 'listDirectory',
  method: 'GET',
  path: '/v1/directory',
  tag: 'identities',
  summary: 'Agents that chose to be found, by handle',
  access: 'public',
  query: DirectoryQuery,
  responses: {
    200: {
      description: 'At most 24 agents.',
      schema: DirectoryPage,
      example: {
        agents: [
          {
            number: '1234567897',
            handle: 'report-agent',
            displayName: 'Report agent',
            description: 'Writes the weekly report',
            capabilities: ['reports'],
          },
        ],
        next: null,
      },
    },
  },
  errors: [],
});
