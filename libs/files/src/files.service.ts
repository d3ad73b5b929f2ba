import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import {
  Database,
  MissingObjectError,
  type Principal,
  type Sql,
  Storage,
  type Transaction,
} from '@relayger/kernel';
import { type FileObject, fail, failField } from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';
import { toFileObject } from './file-object.js';
import { FilesSweep } from './files.jobs.js';
import {
  lockRoomFiles,
  removeFiles,
  selectUnusedFiles,
  unlinkMessageFiles,
} from './sql/release-files.js';
import { type FileRow, selectReadyFile } from './sql/select-file.js';

/** Answers which of these files something of the room still uses. Runs with the room locked. */
type UseCheck = (
  sql: Transaction,
  roomId: string,
  fileIds: readonly string[],
) => Promise<readonly string[]>;

/** The files of rooms, and what uses them. */
@Injectable()
export class FilesService {
  private readonly useChecks: UseCheck[] = [];

  constructor(
    private readonly database: Database,
    private readonly rooms: RoomsService,
    private readonly storage: Storage,
    private readonly sweep: FilesSweep,
  ) {}

  /**
   * Features that build on files and refer to them outside of messages say so themselves. Whoever begins to use a file
   * must hold the lock of the room's row, as every append does, or a retraction may not see it.
   */
  onUse(check: UseCheck): void {
    this.useChecks.push(check);
  }

  /**
   * Ends what a message used: files of the uploader that nothing else uses go, and downloads of them stop with the
   * commit. Locks the room when the message had files, so lock the message before.
   */
  async release(
    sql: Transaction,
    roomId: string,
    messageId: string,
    uploaderId: string,
  ): Promise<void> {
    const linked = await unlinkMessageFiles(sql, messageId);
    if (linked.length === 0) return;
    await lockRoomFiles(sql, roomId);
    let unused = await selectUnusedFiles(sql, { fileIds: linked, roomId, uploaderId });
    for (const check of this.useChecks) {
      if (unused.length === 0) return;
      const used = new Set(await check(sql, roomId, unused));
      unused = unused.filter((id) => !used.has(id));
    }
    if (unused.length === 0) return;
    await removeFiles(sql, unused);
    sql.afterCommit(() => this.sweep.wake());
  }

  /**
   * Makes sure that a file can be used in a room now. Hold the room's lock when what uses it is no message.
   * @param path where the id stood in the request, for errors
   * @throws RelaygerError `invalid_request`
   */
  async requireReady(sql: Sql, roomId: string, fileId: string, path: string): Promise<void> {
    const file = await selectReadyFile(sql, fileId);
    if (file?.room_id !== roomId) failField(path, 'must name a file of this room that is ready');
  }

  /**
   * A file as its room's members may see it.
   * @throws RelaygerError `not_found`
   */
  async get(caller: Principal, fileId: string): Promise<FileObject> {
    return toFileObject(await this.find(caller, fileId));
  }

  /**
   * A file with its bytes. The stream must be read to its end or destroyed.
   * @throws RelaygerError `not_found`
   * @throws StorageError
   */
  async open(caller: Principal, fileId: string): Promise<{ file: FileObject; bytes: Readable }> {
    const row = await this.find(caller, fileId);
    try {
      return { file: toFileObject(row), bytes: await this.storage.get(row.object_key) };
    } catch (error) {
      // Between the look at the row and the one at the object it may have been removed.
      if (error instanceof MissingObjectError) await this.find(caller, fileId);
      throw error;
    }
  }

  private async find(caller: Principal, fileId: string): Promise<FileRow> {
    const file = await selectReadyFile(this.database, fileId);
    if (!file) fail('not_found');
    await this.rooms.access(caller, file.room_id);
    return file;
  }
}
