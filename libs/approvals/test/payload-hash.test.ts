import { createHash } from 'node:crypto';
import { type Approval, type ApprovalAction, approvalPayload } from '@relayger/protocol';
import { payloadHash } from '../src/payload-hash.js';

const bound = {
  taskId: '0190b2fa-7a8b-7c9d-8e0f-1a2b3c4d5e6f',
  approverId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01',
  description: 'The translation is ready; please read it before I hand it in.',
  action: { kind: 'review_result', summary: 'Three pages, German to English.' } as ApprovalAction,
  version: '1',
  expiresAt: '2026-11-29T22:10:00.000Z',
};
const hex = (of: typeof bound) => payloadHash(of).toString('hex');

test('what is hashed is known to the byte', () => {
  expect(approvalPayload(bound)).toBe(
    '{"action":{"kind":"review_result","summary":"Three pages, German to English."},' +
      '"approverId":"0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01",' +
      '"description":"The translation is ready; please read it before I hand it in.",' +
      '"expiresAt":"2026-11-29T22:10:00.000Z","taskId":"0190b2fa-7a8b-7c9d-8e0f-1a2b3c4d5e6f","version":"1"}',
  );
  expect(hex(bound)).toBe('03ab6affa416032f53a1bd24acc681249752cf1b923dfbd5fcf592a2fe978750');
});

test('texts beyond ASCII are hashed as UTF-8, not escaped', () => {
  const description = 'Prüfen – 確認 \u{1f512}\n"now"';
  const text = approvalPayload({ ...bound, description });
  expect(text).toContain('"description":"Prüfen – 確認 \u{1f512}\\n\\"now\\""');
  const digest = createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex');
  expect(hex({ ...bound, description })).toBe(digest);
});

test.each<[string, Partial<typeof bound>]>([
  ['task', { taskId: '0190b2fa-7a8b-7c9d-8e0f-1a2b3c4d5e60' }],
  ['person', { approverId: '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a02' }],
  ['description', { description: `${bound.description} ` }],
  ['summary', { action: { kind: 'review_result', summary: 'Three pages.' } }],
  ['kind', { action: { kind: 'publish_artifact', fileId: bound.taskId } }],
  ['version', { version: '2' }],
  ['expiry', { expiresAt: '2026-11-29T22:10:00.001Z' }],
])('another %s makes another hash', (_, change) => {
  expect(hex({ ...bound, ...change })).not.toBe(hex(bound));
});

test('the order of the fields and what else an approval has make none', () => {
  const { action, ...rest } = bound;
  const turned = { summary: 'Three pages, German to English.', kind: 'review_result' as const };
  const more = {
    ...rest,
    action: turned,
    state: 'pending',
    id: action.kind,
  } as unknown as Approval;
  expect(payloadHash(more)).toEqual(payloadHash(bound));
});
