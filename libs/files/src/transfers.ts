import { Injectable } from '@nestjs/common';
import { fail, LIMITS } from '@relayger/protocol';

/** Each holds a connection, some buffers, and a file or a connection to the storage. */
const PER_PROCESS = 128;
/**
 * The more there are, the fewer may one identity hold, so that a few that hold theirs for long leave room for everybody
 * else: 8 while less than a quarter is taken, then 4, 2 and 1.
 */
const shareOf = (total: number) => LIMITS.transfers >> Math.floor((4 * total) / PER_PROCESS);
/** When to come back, in seconds. */
const RETRY_AFTER = 1;

/** The uploads and downloads that are under way in this process. */
@Injectable()
export class Transfers {
  private readonly counts = new Map<string, number>();
  private total = 0;

  /**
   * Lets a transfer begin.
   * @returns what must be called when it has ended, however it ended
   * @throws RelaygerError `too_many_transfers`, or `unavailable` when the process has enough of everybody's
   */
  begin(identityId: string): () => void {
    const count = this.counts.get(identityId) ?? 0;
    if (this.total < PER_PROCESS && count >= shareOf(this.total))
      fail('too_many_transfers', { retryAfter: RETRY_AFTER });
    if (this.total >= PER_PROCESS) fail('unavailable', { retryAfter: RETRY_AFTER });
    this.counts.set(identityId, count + 1);
    this.total++;
    return () => {
      this.total--;
      const left = (this.counts.get(identityId) ?? 1) - 1;
      if (left > 0) this.counts.set(identityId, left);
      else this.counts.delete(identityId);
    };
  }
}
