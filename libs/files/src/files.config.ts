import { int } from '@relayger/kernel';
import { LIMITS } from '@relayger/protocol';
import { z } from 'zod';

/** Settings of the files library; each is described where it is defaulted. */
export const filesSettings = {
  ROOM_STORAGE_BYTES: int(0, Number.MAX_SAFE_INTEGER)
    .default(LIMITS.roomStorageBytes)
    .describe('The most bytes that the files of one room may have together; a GiB.'),
  TRANSFER_IDLE_SECONDS: int(1, 40)
    .default(20)
    .describe(
      'An upload that does not move for so long is cut off; a download after six times that.',
    ),
};

/** The files library's settings as read; injected with the CONFIG token. */
export type FilesConfig = z.infer<z.ZodObject<typeof filesSettings>>;
