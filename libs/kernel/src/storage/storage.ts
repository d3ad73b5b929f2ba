import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';

/**
 * Where the bytes of files are. An object is there in full or not at all, whatever happens while it is written.
 * Objects are never changed, so keys are never used twice.
 */
export abstract class Storage {
  /**
   * Stores an object of exactly `size` bytes. It is durable when this resolves; when it rejects there is none, or one
   * that `delete` removes.
   * @param bytes read as fast as they can be stored; where it throws, its error is thrown on as it is
   * @throws StorageError when it cannot be stored now
   */
  abstract put(key: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void>;

  /**
   * Opens an object. The stream must be read to its end or destroyed.
   * @throws MissingObjectError, StorageError
   */
  abstract get(key: string): Promise<Readable>;

  /**
   * Removes an object; one that is not there is removed already.
   * @throws StorageError
   */
  abstract delete(key: string): Promise<void>;

  /** Removes what processes that died left of unfinished objects. Safe to call at any time, by several at once. */
  abstract tidy(): Promise<void>;

  /** Gives up connections. What is under way is cut off. */
  abstract close(): void;
}

/** The storage cannot do this now: full, away or misconfigured. Callers are told to come back. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError';
}

/** There is no object under this key, though there should be one. */
export class MissingObjectError extends StorageError {
  override readonly name = 'MissingObjectError';
}

const KEY = /^[0-9a-f]{48}$/;

/** A new object key: random, so that nothing that a client says or knows leads to an object. */
export function newObjectKey(): string {
  return randomBytes(24).toString('hex');
}

/** @throws when a key is not one of ours; on a disk it becomes part of a path */
export function requireObjectKey(key: string): void {
  if (!KEY.test(key)) throw new Error('this is no object key');
}
