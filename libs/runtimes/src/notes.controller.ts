import { Controller, Res } from '@nestjs/common';
import { Body, Caller, Operation, Params, type Principal, Query } from '@relayger/kernel';
import {
  listRuntimeNotes,
  type RuntimeNote,
  type WriteRuntimeNoteRequest,
  writeRuntimeNote,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { NotesService } from './notes.service.js';

@Controller()
export class NotesController {
  constructor(private readonly notes: NotesService) {}

  @Operation(listRuntimeNotes)
  list(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Query() query: { room: string; limit?: number; after?: string },
  ): Promise<RuntimeNote[]> {
    return this.notes.list(caller, id, query);
  }

  @Operation(writeRuntimeNote)
  async write(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Body() body: WriteRuntimeNoteRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RuntimeNote> {
    const note = await this.notes.write(caller, id, body);
    reply.status(body.version === 0 ? 201 : 200);
    return note;
  }
}
