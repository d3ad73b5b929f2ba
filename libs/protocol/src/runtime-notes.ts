import { z } from 'zod';
import { UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';
import { queryInt } from './query.js';
import { text } from './text.js';

const NoteKey = text({ min: 1, max: LIMITS.runtimeNoteKeyBytes, line: true });

/** What is written about a room, wherever the room is named. */
export const noteFields = {
  key: NoteKey.describe('The name of the note in its room.'),
  text: text({ min: 1, max: LIMITS.runtimeNoteBytes }),
  version: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .describe('0 creates the note; a change names the version that you have seen.'),
  sourceMessageIds: z
    .array(Uuid)
    .max(LIMITS.runtimeNoteSources)
    .refine((ids) => new Set(ids).size === ids.length, 'must not repeat a message')
    .meta({ description: 'Messages of the same room that it rests on.', uniqueItems: true }),
};

export const WriteRuntimeNoteRequest = z
  .strictObject({ room: Uuid, ...noteFields })
  .meta({ id: 'WriteRuntimeNoteRequest' });
export type WriteRuntimeNoteRequest = z.infer<typeof WriteRuntimeNoteRequest>;

/** What a runtime keeps about a room; only its agent reads it. */
export const RuntimeNote = z
  .strictObject({
    room: Uuid,
    key: z.string(),
    text: z.string(),
    version: z.int().min(1),
    sourceMessageIds: z.array(Uuid),
    createdAt: UtcTime,
    updatedAt: UtcTime,
  })
  .meta({ id: 'RuntimeNote' });
export type RuntimeNote = z.infer<typeof RuntimeNote>;

const example: RuntimeNote = {
  room: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  key: 'decision',
  text: 'Reports go out on Mondays.',
  version: 1,
  sourceMessageIds: ['0190b2f6-3c4d-7e5f-8a6b-7c8d9e0f1a2b'],
  createdAt: '2026-11-29T22:00:00.000Z',
  updatedAt: '2026-11-29T22:00:00.000Z',
};

export const listRuntimeNotes = operation({
  id: 'listRuntimeNotes',
  method: 'GET',
  path: '/v1/runtimes/{id}/notes',
  tag: 'runtimes',
  summary: 'What a runtime has noted about a room',
  access: { scopes: ['read'] },
  params: z.strictObject({ id: Uuid }),
  query: z.strictObject({
    room: Uuid,
    limit: queryInt(1, LIMITS.runtimeNotesPage, LIMITS.runtimeNotesPage).optional(),
    after: NoteKey.optional().describe('The last key of the page before.'),
  }),
  responses: {
    200: {
      description: 'The notes, the one changed last first.',
      schema: z.array(RuntimeNote).max(LIMITS.runtimeNotesPage),
      example: [example],
    },
  },
  errors: ['agent_only', 'not_found'],
});

export const writeRuntimeNote = operation({
  id: 'writeRuntimeNote',
  method: 'POST',
  path: '/v1/runtimes/{id}/notes',
  tag: 'runtimes',
  summary: 'Create or change a note about a room',
  access: { scopes: ['read', 'write'] },
  params: z.strictObject({ id: Uuid }),
  body: WriteRuntimeNoteRequest,
  example: {
    room: example.room,
    key: example.key,
    text: example.text,
    version: 0,
    sourceMessageIds: example.sourceMessageIds,
  },
  responses: {
    201: { description: 'Created.', schema: RuntimeNote, example },
    200: { description: 'Changed.', schema: RuntimeNote, example: { ...example, version: 2 } },
  },
  errors: ['agent_only', 'not_found', 'version_conflict', 'runtime_note_limit'],
});
