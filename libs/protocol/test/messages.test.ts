import fc from 'fast-check';
import { LIMITS, MailboxItem, Message, SendMessage, utf8Bytes } from '../src/index.js';
import {
  allTypes,
  draft,
  envelope,
  ID,
  mailboxItem,
  payloads,
  sendableTypes,
  serverTypes,
} from './samples.js';

const accepted = (value: object) => SendMessage.safeParse(value).success;
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

describe('a message to send', () => {
  it.each(sendableTypes)('is %s, with every optional field or none', (type) => {
    expect(accepted(draft(type))).toBe(true);
    const {
      attention: _,
      replyTo: __,
      mentions: ___,
      rootTaskId: ____,
      ...bare
    } = draft(type) as Record<string, unknown>;
    expect(accepted(bare)).toBe(true);
  });

  it.each(serverTypes)('is never %s, which only the server makes', (type) => {
    const result = SendMessage.safeParse(draft(type));
    expect(result.error?.issues[0]).toMatchObject({
      path: ['type'],
      message: 'must be text, data, sealed, artifact or status; other types are made by the server',
    });
  });

  it('has no other type', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom('Text', 'text ', '__proto__', 'constructor')),
        (type) => {
          fc.pre(!sendableTypes.includes(type));
          expect(accepted(draft(type))).toBe(false);
        },
      ),
    );
    expect(SendMessage.safeParse('hello').error?.issues[0]?.message).toContain('expected object');
  });

  it.each(['artifact', 'status'])('carries no attention as %s', (type) => {
    expect(accepted(draft(type, { attention: { kind: 'question' } }))).toBe(false);
  });

  it.each([
    { kind: 'urgent' },
    {},
    { kind: 'question', expiresAt: '2026-11-29T22:00:00+00:00' },
    { kind: 'question', expiresAt: 'tomorrow' },
    null,
  ])('refuses the attention %j', (attention) => {
    expect(accepted(draft('text', { attention }))).toBe(false);
  });

  it.each([
    { schemaVersion: 2 },
    { schemaVersion: '1' },
    { clientMessageId: 'abc' },
    { clientMessageId: undefined },
    { replyTo: null },
    { mentions: [ID, ID] },
    { mentions: [ID.toUpperCase()] },
    { mentions: 'all' },
    { messageId: ID },
    { sequence: '1' },
    { sender: { id: ID } },
    { createdAt: '2026-11-29T22:00:00Z' },
  ])('refuses %j', (change) => {
    expect(accepted(draft('text', change))).toBe(false);
  });

  it('mentions at most 32 identities', () => {
    const ids = Array.from({ length: LIMITS.mentions + 1 }, (_, n) => id(n));
    expect(accepted(draft('text', { mentions: ids.slice(1) }))).toBe(true);
    expect(accepted(draft('text', { mentions: ids }))).toBe(false);
  });
});

describe('payloads', () => {
  const text = (payload: object) => accepted(draft('text', { payload }));
  const data = (payload: object) => accepted(draft('data', { payload }));

  it('text has 1 to 16000 bytes and at most 8 attachments', () => {
    expect(text({ text: `${'a'.repeat(15_996)}😀` })).toBe(true);
    expect(text({ text: `${'a'.repeat(15_997)}😀` })).toBe(false);
    expect(text({ text: '😀'.repeat(4000) })).toBe(true);
    expect(text({ text: '' })).toBe(false);
    const files = Array.from({ length: 9 }, (_, n) => ID.replace(/.$/, String(n)));
    expect(text({ text: 'a', attachments: files.slice(1) })).toBe(true);
    expect(text({ text: 'a', attachments: files })).toBe(false);
    expect(text({ text: 'a', attachments: [ID, ID] })).toBe(false);
    expect(text({ text: 'a', attachments: [] })).toBe(false);
  });

  it.each(['invoice', 'invoice.v1', 'a-b_c.1.x'])('data has a schema name such as %s', (schema) => {
    expect(data({ schema, data: {} })).toBe(true);
  });
  it.each(['', 'Invoice', '1a', 'a.', '.a', 'a..b', 'a b', 'a/b', 'a'.repeat(65)])(
    'data has no schema name %j',
    (schema) => {
      expect(data({ schema, data: {} })).toBe(false);
    },
  );

  it('data has a summary of 1 to 2000 bytes and an object', () => {
    expect(data({ schema: 'a', data: {}, text: 'a'.repeat(2000) })).toBe(true);
    expect(data({ schema: 'a', data: {}, text: 'a'.repeat(2001) })).toBe(false);
    expect(data({ schema: 'a', data: {}, text: '' })).toBe(false);
    expect(data({ schema: 'a' })).toBe(false);
    expect(data({ schema: 'a', data: [] })).toBe(false);
  });

  describe('sealed', () => {
    const sealed = (changes: object) =>
      accepted(draft('sealed', { payload: { ...payloads.sealed, ...changes } }));
    const recipient = { id: ID, keyId: ID, nonce: 'n'.repeat(16), wrappedKey: 'w'.repeat(64) };

    it.each([
      ['40000 bytes', 53_334, true],
      ['40001 bytes', 53_335, false],
      ['a length that base64 never has', 53_333, false],
      ['one character', 1, false],
      ['one byte', 2, true],
      ['nothing', 0, false],
    ])('takes a ciphertext of %s: %i characters, %s', (_, length, ok) => {
      expect(sealed({ ciphertext: 'c'.repeat(length) })).toBe(ok);
    });

    it.each([
      { alg: 'relayger-e2ee-v2' },
      { ephemeralKey: 'k'.repeat(42) },
      { ephemeralKey: 'k'.repeat(44) },
      { nonce: 'n'.repeat(15) },
      { nonce: 'n'.repeat(17) },
      { nonce: `${'n'.repeat(15)}=` },
      { ciphertext: 'ab+/' },
      { ciphertext: 'abc=' },
      { recipients: [] },
      { recipients: [{ ...recipient, wrappedKey: 'w'.repeat(63) }] },
      { recipients: [{ ...recipient, nonce: '' }] },
      { recipients: [{ ...recipient, keyId: 'x' }] },
    ])('refuses %j', (change) => {
      expect(sealed(change)).toBe(false);
    });

    it('has 1 to 32 recipients, and fits the body at its largest', () => {
      const all = Array.from({ length: 33 }, (_, n) => ({ ...recipient, id: id(n), keyId: id(n) }));
      const largest = { ciphertext: 'c'.repeat(53_334), recipients: all.slice(1) };
      expect(sealed(largest)).toBe(true);
      expect(sealed({ recipients: all })).toBe(false);
      const body = {
        target: ID,
        message: draft('sealed', { payload: { ...payloads.sealed, ...largest } }),
      };
      expect(utf8Bytes(JSON.stringify(body))).toBeLessThan(LIMITS.bodyBytes);
    });
  });
});

describe('a stored message', () => {
  it.each(allTypes)('can be %s, in full and in the mailbox', (type) => {
    expect(Message.parse(envelope(type))).toEqual(envelope(type));
    expect(MailboxItem.parse(mailboxItem(type))).toEqual(mailboxItem(type));
  });
});
