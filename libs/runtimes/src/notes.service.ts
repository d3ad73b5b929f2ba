import { Injectable } from '@nestjs/common';
import { Database, type Principal, type Sql } from '@relayger/kernel';
import {
  fail,
  failField,
  LIMITS,
  type RuntimeNote,
  type WriteRuntimeNoteRequest,
} from '@relayger/protocol';
import { RoomsService } from '@relayger/rooms';
import { RuntimesService } from './runtimes.service.js';
import { lockRuntime } from './sql/lock-runtime.js';
import { type NoteDraft, type NoteRow, putNote, selectNotes } from './sql/write-note.js';

/** What runtimes keep about rooms. */
@Injectable()
export class NotesService {
  constructor(
    private readonly database: Database,
    private readonly runtimes: RuntimesService,
    private readonly rooms: RoomsService,
  ) {}

  /**
   * A page of the notes about a room, the one changed last first.
   * @throws RelaygerError `agent_only`, `not_found`
   */
  async list(
    caller: Principal,
    runtimeId: string,
    {
      room,
      limit = LIMITS.runtimeNotesPage,
      after,
    }: { room: string; limit?: number | undefined; after?: string | undefined },
  ): Promise<RuntimeNote[]> {
    await this.runtimes.get(caller, runtimeId);
    await this.requireReach(caller, room);
    return (await selectNotes(this.database, runtimeId, room, limit, after ?? null)).map(toNote);
  }

  /**
   * Creates or changes a note on its own.
   * @throws RelaygerError `agent_only`, `not_found`, `invalid_request` (sources), `version_conflict`,
   *   `runtime_note_limit`
   */
  async write(
    caller: Principal,
    runtimeId: string,
    { room, ...draft }: WriteRuntimeNoteRequest,
  ): Promise<RuntimeNote> {
    await this.runtimes.get(caller, runtimeId);
    await this.requireReach(caller, room);
    return this.database.transaction(async (sql) => {
      await lockRuntime(sql, runtimeId, caller.identityId);
      return this.writeIn(sql, runtimeId, room, draft, 'body');
    });
  }

  /**
   * Creates or changes a note inside a transaction that holds the runtime's lock and knows that the room is in reach.
   * @param path where the note stood in the request, for errors
   * @throws RelaygerError `invalid_request` (sources), `version_conflict`, `runtime_note_limit`
   */
  async writeIn(
    sql: Sql,
    runtimeId: string,
    roomId: string,
    draft: NoteDraft,
    path: string,
  ): Promise<RuntimeNote> {
    const row = await putNote(sql, runtimeId, roomId, draft);
    if (row === 'bad_sources')
      failField(`${path}.sourceMessageIds`, 'must name messages of this room');
    if (row === 'stale') fail('version_conflict');
    if (row === 'full') fail('runtime_note_limit');
    return toNote(row);
  }

  /** History can be read without the contact; what was noted about it cannot. */
  private async requireReach(caller: Principal, roomId: string): Promise<void> {
    const { gate } = await this.rooms.access(caller, roomId);
    if (gate !== 'open') fail('not_found');
  }
}

function toNote(row: NoteRow): RuntimeNote {
  return {
    room: row.room_id,
    key: row.key,
    text: row.text,
    version: row.version,
    sourceMessageIds: row.source_ids,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
