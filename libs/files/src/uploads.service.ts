import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  CONFIG,
  Database,
  LOGGER,
  type Logger,
  newObjectKey,
  type Principal,
  Storage,
  StorageError,
} from '@relayger/kernel';
import { type FileObject, fail, type UploadFileQuery } from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';
import { v7 as uuid } from 'uuid';
import { toFileObject } from './file-object.js';
import type { FilesConfig } from './files.config.js';
import { FilesSweep } from './files.jobs.js';
import { reserveUpload, type Upload } from './sql/reserve-upload.js';
import { abandonUpload, finishUpload } from './sql/settle-upload.js';
import { Transfers } from './transfers.js';

/** The body of an upload. */
export interface Incoming {
  /** How many bytes were announced. */
  size: number;
  bytes: AsyncIterable<Uint8Array>;
  /** Makes sure that the caller is still there, and that its credential is still good. */
  confirm: () => Promise<void>;
}

/** Uploads that a stopping process has cut off get this long to be undone; a sweep does the others. In ms. */
const GRACE_MS = 2_000;

/** Brings files in. No connection of the database is held while the bytes come. */
@Injectable()
export class UploadsService implements OnApplicationShutdown {
  private readonly running = new Set<Promise<unknown>>();

  constructor(
    private readonly database: Database,
    private readonly rooms: RoomsService,
    private readonly storage: Storage,
    private readonly sweep: FilesSweep,
    private readonly transfers: Transfers,
    @Inject(CONFIG) private readonly config: FilesConfig,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /**
   * Stores a file in a room. One that does not come in full leaves nothing.
   * @throws RelaygerError `not_found`, `contact_required`, `contact_unavailable`, `room_storage_exceeded`,
   *   `too_many_transfers`, `invalid_request` when the body breaks off, and what `confirm` throws
   * @throws StorageError
   */
  async upload(
    caller: Principal,
    { room, name }: UploadFileQuery,
    incoming: Incoming,
  ): Promise<FileObject> {
    const ended = this.transfers.begin(caller.identityId);
    const stored = this.store(caller, { room, name }, incoming).finally(ended);
    this.running.add(stored);
    try {
      return await stored;
    } finally {
      this.running.delete(stored);
    }
  }

  /** The connections are closed by now, so what is under way has failed and is being undone. */
  async onApplicationShutdown(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, GRACE_MS);
    await Promise.race([Promise.allSettled(this.running), late]);
    clearTimeout(timer);
  }

  private async store(
    caller: Principal,
    { room, name }: UploadFileQuery,
    { size, bytes, confirm }: Incoming,
  ): Promise<FileObject> {
    const upload: Upload = {
      id: uuid(),
      roomId: room,
      uploaderId: caller.identityId,
      name,
      size,
      objectKey: newObjectKey(),
    };
    await this.reserve(caller, upload);
    try {
      const hash = createHash('sha256');
      await this.storage.put(upload.objectKey, hashed(bytes, hash), size);
      // It took a while: the token may have ended, and the caller may have left the room or hung up.
      await confirm();
      const file = await this.database.transaction(async (sql) => {
        await this.rooms.sendAccess(caller, room, sql);
        return finishUpload(sql, upload.id, hash.digest());
      });
      return file ? toFileObject(file) : fail('unavailable', { retryAfter: 1 });
    } catch (error) {
      await this.undo(upload, error);
      throw error;
    }
  }

  private async reserve(caller: Principal, upload: Upload): Promise<void> {
    const limitBytes = this.config.ROOM_STORAGE_BYTES;
    const full = await this.database.transaction(async (sql) => {
      await this.rooms.sendAccess(caller, upload.roomId, sql);
      return reserveUpload(sql, upload, limitBytes);
    });
    if (full) fail('room_storage_exceeded', { limitBytes, ...full });
  }

  /** What cannot be undone now is done by a sweep. */
  private async undo({ id, objectKey }: Upload, reason: unknown): Promise<void> {
    try {
      // One whose last commit went through, though the answer to it was lost, keeps its object.
      if (!(await abandonUpload(this.database, id))) return;
      // A storage that has just failed may take its time to fail again; the client need not wait for that.
      if (reason instanceof StorageError) this.sweep.wake();
      else await this.sweep.collect({ id, object_key: objectKey });
    } catch (err) {
      this.log.warn({ err, file: id }, 'an upload that broke off is undone later');
    }
  }
}

async function* hashed(
  bytes: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of bytes) {
    hash.update(piece);
    yield piece;
  }
}
