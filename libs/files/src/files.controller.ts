import { Controller, Inject, Req, Res } from '@nestjs/common';
import {
  type ApiRequest,
  Caller,
  CONFIG,
  LOGGER,
  type Logger,
  Operation,
  Params,
  type Principal,
  Query,
  receiveBytes,
} from '@relayger/kernel';
import {
  BYTES_TYPE,
  downloadFile,
  type FileObject,
  failField,
  getFile,
  type UploadFileQuery,
  uploadFile,
} from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { contentDisposition } from './content-disposition.js';
import type { FilesConfig } from './files.config.js';
import { FilesService } from './files.service.js';
import { Transfers } from './transfers.js';
import { UploadsService } from './uploads.service.js';
import { whole } from './whole.js';

/** How much longer than an upload a download may seem to stand still. */
const DOWNLOAD_PATIENCE = 6;

@Controller()
export class FilesController {
  private readonly idleMs: number;

  constructor(
    private readonly files: FilesService,
    private readonly uploads: UploadsService,
    private readonly transfers: Transfers,
    @Inject(CONFIG) config: FilesConfig,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.idleMs = config.TRANSFER_IDLE_SECONDS * 1000;
  }

  @Operation(uploadFile)
  upload(
    @Caller() caller: Principal,
    @Query() query: UploadFileQuery,
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FileObject> {
    const { reauthorize } = request;
    if (!reauthorize) throw new Error('a call with a caller can be authorized again');
    return this.uploads.upload(caller, query, {
      size: Number(request.headers['content-length']),
      bytes: receiveBytes(request, reply, this.idleMs),
      confirm: async () => {
        // Nobody would ever learn the id of this file.
        if (reply.raw.closed) failField('request', 'was given up before it was answered');
        await reauthorize();
      },
    });
  }

  @Operation(downloadFile)
  async download(
    @Caller() caller: Principal,
    @Params() { id }: { id: string },
    @Req() request: ApiRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const ended = this.transfers.begin(caller.identityId);
    // A client that is gone already is not heard of again.
    if (reply.raw.closed) ended();
    else reply.raw.once('close', ended);
    const { file, bytes } = await this.files.open(caller, id);
    // A reader that has stopped reading would hold its place for ever.
    // What the system has taken for sending counts as sent: a slow reader is seen only when megabytes of it are gone.
    reply.raw.setTimeout(DOWNLOAD_PATIENCE * this.idleMs, () => reply.raw.destroy());
    void reply.headers({
      'content-length': file.size,
      'content-disposition': contentDisposition(file.name),
      'x-checksum-sha256': file.sha256,
      'accept-ranges': 'none',
    });
    void reply.type(BYTES_TYPE).send(
      whole(bytes, file.size, (err) => {
        this.log.error({ err, requestId: request.id, file: file.id }, 'a download broke off');
      }),
    );
  }

  @Operation(getFile)
  metadata(@Caller() caller: Principal, @Params() { id }: { id: string }): Promise<FileObject> {
    return this.files.get(caller, id);
  }
}
