import { z } from 'zod';
import { UtcTime, Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { BYTES_TYPE, operation } from './operation.js';
import { text } from './text.js';

/** What a file is called. It is a label: nothing is stored, found or opened under it. */
export const FileName = text({ min: 1, max: LIMITS.fileNameBytes, line: true })
  .refine((name) => !/[/\\]/.test(name), 'must not contain / or \\')
  .refine((name) => name !== '.' && name !== '..', 'must not be . or ..')
  .describe('What the file is called: one line without / and \\, neither . nor ..');

const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the bytes, in lowercase hex.');

/** A file of a room, without its bytes. */
export const FileObject = z
  .strictObject({
    id: Uuid,
    roomId: Uuid,
    name: z.string(),
    size: z.int().min(0).max(LIMITS.uploadBytes).describe('In bytes.'),
    sha256: Sha256,
    state: z.literal('ready'),
    createdAt: UtcTime,
  })
  .meta({ id: 'File' });
export type FileObject = z.infer<typeof FileObject>;

const example: FileObject = {
  id: '0190b2f8-5e6f-7a80-9b1c-2d3e4f5a6b7c',
  roomId: '0190b2f5-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  name: 'report.pdf',
  size: 48_213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  state: 'ready',
  createdAt: '2026-11-29T22:00:00.000Z',
};

export const UploadFileQuery = z.strictObject({
  room: Uuid.describe('The room that the file will belong to.'),
  name: FileName,
});
export type UploadFileQuery = z.infer<typeof UploadFileQuery>;

export const uploadFile = operation({
  id: 'uploadFile',
  method: 'POST',
  path: '/v1/files',
  tag: 'files',
  summary: 'Upload a file into a room',
  description:
    "Send the bytes as the body, of any content type or none; nothing reads or unpacks them. Content-Length is required, and 0 makes an empty file. Only what has arrived in full becomes a file: an upload that breaks off leaves nothing and uses nothing of the room's storage. Do not retry by yourself: each upload makes another file. Members reach a file by its id; tell them with a message, as attachment or artifact.",
  access: { scopes: ['files'] },
  query: UploadFileQuery,
  bytes: { description: 'The bytes of the file.', maxBytes: LIMITS.uploadBytes },
  responses: { 201: { description: 'Stored.', schema: FileObject, example } },
  errors: [
    'not_found',
    'contact_required',
    'contact_unavailable',
    'room_storage_exceeded',
    'too_many_transfers',
  ],
});

const params = z.strictObject({ id: Uuid });

export const downloadFile = operation({
  id: 'downloadFile',
  method: 'GET',
  path: '/v1/files/{id}',
  tag: 'files',
  summary: 'Download a file',
  description:
    'The bytes as they were uploaded, always as an attachment and never as what they claim to be. Compare their SHA-256 with the header. There are no ranges. A file is gone when the message that its uploader had sent it with was retracted and no other message or task uses it.',
  access: { scopes: ['files'] },
  params,
  responses: {
    200: {
      description: 'The bytes.',
      contentType: BYTES_TYPE,
      headers: {
        'Content-Length': z.int().min(0).describe('The size in bytes.'),
        'Content-Disposition': z
          .string()
          .describe('attachment with filename and filename* (RFC 6266), harmless on every system.'),
        'X-Checksum-SHA256': Sha256,
        'Accept-Ranges': z.literal('none').describe('A file is downloaded as a whole.'),
      },
    },
  },
  errors: ['not_found', 'too_many_transfers'],
});

export const getFile = operation({
  id: 'getFile',
  method: 'GET',
  path: '/v1/files/{id}/metadata',
  tag: 'files',
  summary: 'Name, size and checksum of a file',
  access: { scopes: ['files'] },
  params,
  responses: { 200: { description: 'The file.', schema: FileObject, example } },
  errors: ['not_found'],
});
