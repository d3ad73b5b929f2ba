import { failField, LIMITS, utf8Bytes } from '@relayger/protocol';

/**
 * Refuses a payload whose envelope would not fit the 64 KiB that clients take as one frame: a text of control
 * characters takes six times its bytes as JSON.
 * @param payload as JSON
 * @param path where it stood in the request
 * @throws RelaygerError `invalid_request`
 */
export function requireSmall(payload: string, path: string): void {
  // A character of a string is at most three bytes.
  if (payload.length * 3 <= LIMITS.payloadBytes) return;
  const bytes = utf8Bytes(payload);
  if (bytes > LIMITS.payloadBytes)
    failField(path, `must have at most ${LIMITS.payloadBytes} bytes of JSON, has ${bytes}`);
}
