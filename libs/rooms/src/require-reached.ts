import { failField } from '@relayger/protocol';

/**
 * Refuses a sequence that the room has not reached: a cursor of another room, or of a database from before a restore.
 * Waiting for it silently would miss everything until then.
 * @param newest the room's `last_seq`
 * @param path where the sequence stood in the request
 * @throws RelaygerError `invalid_request`
 */
export function requireReached(sequence: string, newest: string, path: string): void {
  if (BigInt(sequence) > BigInt(newest)) failField(path, `is above the newest message, ${newest}`);
}
