import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { WorkQueue } from './work-queue.js';

/** OWASP's argon2id minimum, as the contract fixes it: 19 MiB, two passes, one lane; 16-byte random salts. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;
/**
 * At most four, which hold 76 MiB, and one core is left to everybody else: on two cores one at a time makes
 * 120 hashes a second, two make 190 and four 90-170, while the event loop's p99 delay goes from 4 to 15 ms
 * (measured).
 */
const AT_ONCE = Math.max(1, Math.min(4, availableParallelism() - 1));
/** About a second of hashing on two cores: whoever would wait longer is told to come back. */
const WAITING = 100;
/**
 * Digest of a random password nobody kept, with the parameters above. Verified for numbers that do not exist,
 * so that they cost exactly what known ones cost.
 */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$3bICTOQfWjrJzbPuQR/bcA$zQzl4QyHsc1/V5g16h3uoNocTHA66AtV8DDE/BqVDN0';

/** Hashes and checks passwords. Never call it inside a transaction: a connection would wait for the queue. */
@Injectable()
export class PasswordsService {
  private readonly queue = new WorkQueue({ running: AT_ONCE, waiting: WAITING });

  /** @throws RelaygerError `unavailable` when too many hashes wait */
  hash(password: string): Promise<string> {
    return this.queue.run(() => hash(password, ARGON2ID));
  }

  /**
   * Whether a password belongs to a digest. Without a digest the answer is false after the same work.
   * @throws RelaygerError `unavailable` when too many hashes wait
   */
  async matches(password: string, digest: string | null): Promise<boolean> {
    const fits = await this.queue.run(() => verify(digest ?? NOBODY, password));
    return fits && digest !== null;
  }
}
