import { Injectable } from '@nestjs/common';
import { FilesService } from '@relayger/files';
import { mayUseRoom, type Principal, type Transaction } from '@relayger/kernel';
import {
  DataPayload,
  fail,
  failField,
  LIMITS,
  RETRACTED,
  type ReviseMessageRequest,
  TextCorrection,
  type TextPayload,
} from '@relayger/protocol';
import type { z } from 'zod';
import { type Appended, AppenderService } from './appender.service.js';
import { revisionFingerprint } from './fingerprint.js';
import {
  lockOwnMessage,
  type OwnMessageRow,
  selectKey,
  stripCorrections,
  updateRevised,
} from './sql/revise-message.js';
import { searchWords } from './words.js';

/** A revision as it came in: checked, with the exact bytes of its payload and the id of its request. */
export interface RevisionDraft {
  request: ReviseMessageRequest;
  /** Empty for a retraction. */
  rawPayload: string;
  traceId: string;
}

/** Corrections and retractions of one's own messages. */
@Injectable()
export class RevisionsService {
  constructor(
    private readonly appender: AppenderService,
    private readonly files: FilesService,
  ) {}

  /**
   * Changes a message in place and appends the event that tells of it, in one transaction.
   * @returns the receipt of the event
   * @throws RelaygerError `not_found` also for messages of others, `idempotency_conflict`, `message_final`,
   *   `revision_window_closed`, `revision_limit`, `invalid_request` when the payload is not one of the message's type,
   *   `contact_required`, `contact_unavailable`
   */
  revise(
    caller: Principal,
    roomId: string,
    messageId: string,
    { request, rawPayload, traceId }: RevisionDraft,
  ): Promise<Appended> {
    if (!mayUseRoom(caller, roomId)) fail('not_found');
    const { action, clientMessageId } = request;
    const fingerprint = revisionFingerprint(action, messageId, rawPayload);
    const key = { clientMessageId, fingerprint };
    return this.appender.appending(async (sql) => {
      const hours = LIMITS.revisionHours;
      const message = await lockOwnMessage(sql, roomId, messageId, caller.identityId, hours);
      if (!message) return fail('not_found');
      const prior = await selectKey(sql, roomId, caller.identityId, key);
      if (prior && !prior.same) fail('idempotency_conflict');
      if (prior) return { receipt: { id: prior.id, room: roomId, seq: prior.seq }, repeated: true };

      const payload = revised(message, request);
      const corrections = message.revision?.count ?? 0;
      if (request.action === 'correct') {
        if (corrections >= LIMITS.corrections) fail('revision_limit');
        const words = searchWords(message.type, payload);
        const to = { state: 'corrected', count: corrections + 1, payload, words } as const;
        await updateRevised(sql, roomId, messageId, to);
      } else {
        // Its placeholder is not to be found either.
        const to = { state: 'retracted', count: corrections, payload, words: null } as const;
        await updateRevised(sql, roomId, messageId, to);
        await stripCorrections(sql, roomId, messageId);
        await this.releaseFiles(sql, roomId, messageId, caller, message);
      }
      return this.appender.appendEvent(sql, {
        roomId,
        sender: { id: caller.identityId, human: caller.kind === 'human' },
        type: 'revision',
        payload: {
          messageId,
          sequence: message.seq,
          action,
          ...(request.action === 'correct' && { payload: request.payload }),
        },
        payloadPath: 'body.payload',
        replyTo: messageId,
        key,
        traceId,
      });
    });
  }

  /** Takes the room row, so it comes behind the message's lock; without attachments there is nothing to take. */
  private async releaseFiles(
    sql: Transaction,
    roomId: string,
    messageId: string,
    caller: Principal,
    { type, payload }: OwnMessageRow,
  ): Promise<void> {
    if (type !== 'text' || !(payload as z.infer<typeof TextPayload>).attachments) return;
    await this.files.release(sql, roomId, messageId, caller.identityId);
  }
}

/**
 * The payload of a message after its revision.
 * @throws RelaygerError `message_final`, `revision_window_closed`, `invalid_request`
 */
function revised(message: OwnMessageRow, request: ReviseMessageRequest): object {
  const { type, revision, settled } = message;
  if ((type !== 'text' && type !== 'data') || revision?.state === 'retracted')
    fail('message_final');
  if (settled) fail('revision_window_closed');
  // Stored payloads were validated on their way in.
  if (type === 'text') {
    if (request.action === 'retract') return { text: RETRACTED };
    const { attachments } = message.payload as z.infer<typeof TextPayload>;
    const { text } = fitting(TextCorrection, request.payload, 'must be {text} alone');
    return { text, attachments };
  }
  const { schema } = message.payload as z.infer<typeof DataPayload>;
  if (request.action === 'retract') return { schema, data: {} };
  return fitting(
    DataPayload,
    request.payload,
    'must be a whole data payload: {schema, data, text?}',
  );
}

/** The request has one of the two shapes; which one is right depends on the message. */
function fitting<S extends z.ZodType>(schema: S, payload: unknown, problem: string): z.output<S> {
  const { success, data } = schema.safeParse(payload);
  return success ? data : failField('body.payload', problem);
}
