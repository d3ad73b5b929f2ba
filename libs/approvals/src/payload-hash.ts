import { createHash } from 'node:crypto';
import { approvalPayload } from '@relayger/protocol';

/** SHA-256 of what an approval binds: canonical JSON (RFC 8785) as UTF-8. */
export function payloadHash(bound: Parameters<typeof approvalPayload>[0]): Buffer {
  return createHash('sha256').update(approvalPayload(bound), 'utf8').digest();
}
