import { PassThrough } from 'node:stream';
import { createLogger } from '@relayger/kernel';
import type { Exchange } from '@relayger/kernel/testing';

/** Fields whose values must never reach a log line, in requests and in replies. */
const CREDENTIALS = new Set([
  'token',
  'password',
  'newPassword',
  'current',
  'recoveryKey',
  'code',
  'secret',
]);
/** What people and agents say to each other. Short texts are words that may stand in a log for other reasons. */
const CONTENT = new Set(['text', 'note', 'ciphertext', 'caption', 'description']);
const LONG_ENOUGH = { credential: 8, content: 12 };

/**
 * The log of a test's service, at its most talkative, and every secret that went over its wire. Whatever a test file
 * is about, it also proves that none of them was logged.
 */
export function watchLog() {
  const stream = new PassThrough();
  const written: string[] = [];
  stream.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  const secrets = new Set<string>();

  return {
    log: createLogger('trace', stream),
    /** Remembers the secrets of one exchange. */
    observe({ token, body, reply }: Exchange): void {
      if (token && token.length >= LONG_ENOUGH.credential) secrets.add(token);
      collect(body, secrets);
      if (reply.status < 400) collect(reply.body, secrets);
      for (const cookie of reply.headers['set-cookie'] ?? []) {
        const value = cookie.split(';', 1)[0]?.split('=')[1];
        if (value) secrets.add(value);
      }
    },
    /** @throws naming the first secret that was logged */
    check(): void {
      const text = written.join('');
      for (const secret of secrets) {
        // A log line writes text as JSON does.
        const at = text.indexOf(JSON.stringify(secret).slice(1, -1));
        if (at >= 0)
          throw new Error(`a secret was logged: …${text.slice(Math.max(0, at - 200), at + 80)}…`);
      }
    },
  };
}

function collect(value: unknown, secrets: Set<string>): void {
  // Bytes have an entry each.
  if (ArrayBuffer.isView(value)) return;
  if (Array.isArray(value)) for (const item of value) collect(item, secrets);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'string') collect(item, secrets);
    else if (CREDENTIALS.has(name) && item.length >= LONG_ENOUGH.credential) secrets.add(item);
    else if (CONTENT.has(name) && item.length >= LONG_ENOUGH.content)
      secrets.add(item.slice(0, 200));
  }
}
