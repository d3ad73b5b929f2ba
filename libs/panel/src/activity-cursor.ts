import { createHash } from 'node:crypto';
import { type ActivityKind, failField } from '@relayger/protocol';
import type { Position } from './sql/page-activity.js';

/** What a cursor belongs to. */
export interface Feed {
  ownerId: string;
  /** Null for all agents of the owner. */
  agentId: string | null;
  /** Null for all kinds. */
  kind: ActivityKind | null;
}

/** Milliseconds since 1970 (6 bytes), id (16), number (8) and a digest of the feed (18). */
const BYTES = 48;
const TAG_AT = 30;

/**
 * A position in a feed, as text. The digest tells a client that it has mixed cursors up. It is no protection and needs
 * no secret: a position that somebody makes up leads nowhere but into the feed that the request may read anyway.
 */
export function writeCursor(feed: Feed, { at, id, nth }: Position): string {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUIntBE(at.getTime(), 0, 6);
  bytes.write(id.replaceAll('-', ''), 6, 'hex');
  bytes.writeBigInt64BE(BigInt(nth), 22);
  tagOf(feed).copy(bytes, TAG_AT);
  return bytes.toString('base64url');
}

/**
 * @param path where the cursor stood, for the error
 * @throws RelaygerError `invalid_request` for anything that this feed has not answered
 */
export function readCursor(feed: Feed, text: string, path: string): Position {
  const bytes = Buffer.from(text, 'base64url');
  const isOurs = bytes.length === BYTES && bytes.subarray(TAG_AT).equals(tagOf(feed));
  if (!isOurs || bytes.toString('base64url') !== text)
    failField(path, 'must be a cursor of this feed: of the same owner, agentId and kind');
  const id = bytes.toString('hex', 6, 22);
  return {
    at: new Date(bytes.readUIntBE(0, 6)),
    id: id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    nth: bytes.readBigInt64BE(22).toString(),
  };
}

function tagOf({ ownerId, agentId, kind }: Feed): Buffer {
  const text = JSON.stringify(['activity', ownerId, agentId, kind]);
  return createHash('sha256')
    .update(text)
    .digest()
    .subarray(0, BYTES - TAG_AT);
}
