import { createHash } from 'node:crypto';
import type { SendMessage } from '@relayger/protocol';

/**
 * What one clientMessageId stands for (contract/http.md section 6): the payload's raw bytes and everything else
 * that the sender chose. Reordered keys or other white space inside the payload are other content.
 * @param rawPayload the payload exactly as it stood in the request
 * @returns SHA-256 in hex
 */
export function fingerprint(message: SendMessage, rawPayload: string): string {
  const attention = 'attention' in message ? message.attention : undefined;
  const rest = [
    message.type,
    message.replyTo,
    message.mentions ?? [],
    message.rootTaskId,
    attention,
  ];
  return hash(rawPayload, rest);
}

/**
 * What one clientMessageId stands for when it revises a message. No message can have it: none is sent as `revision`.
 * @param rawPayload the payload exactly as it stood in the request; empty for a retraction
 * @returns SHA-256 in hex
 */
export function revisionFingerprint(
  action: 'correct' | 'retract',
  messageId: string,
  rawPayload: string,
): string {
  return hash(rawPayload, ['revision', action, messageId]);
}

function hash(rawPayload: string, rest: readonly unknown[]): string {
  // The length first, so that no payload can be shifted into what follows it.
  return createHash('sha256')
    .update(`${rawPayload.length}:${rawPayload}`)
    .update(JSON.stringify(rest))
    .digest('hex');
}
