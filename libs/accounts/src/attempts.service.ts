import { Injectable } from '@nestjs/common';
import { Database, type Sql } from '@relayger/kernel';
import { fail } from '@relayger/protocol';
import { type Counted, type Counter, counter, countIn, takeBack, usedUp } from './counters.js';
import { WorkQueue } from './work-queue.js';

/** Failed attempts an hour (contract/http.md section 2). */
const PER_NUMBER_AND_CLIENT = 10;
const PER_CLIENT = 100;
const PER_NUMBER = 1000;
const HOUR = 3600;

/**
 * What is guessed at: a password, a recovery key, a mailed code for one of these or for a new address. Signing in
 * and recovering are counted apart: a guesser of passwords does not close the way back in.
 */
export type AttemptKind =
  | 'sign_in'
  | 'sign_in_code'
  | 'recovery'
  | 'recovery_code'
  | 'verification';

/** Who tries to get in where. */
export interface Target {
  /** An IPv4 address or an IPv6 /64 block. */
  client: string;
  /**
   * The number, or the address of a person. Whether anybody has it or not, it is counted alike, so that the limits
   * do not tell.
   */
  account: string;
}

function countersFor(kind: AttemptKind, { client, account }: Target): Counter[] {
  // By code or otherwise it is one way in, and one way back in, with one limit a client.
  const way = kind.replace(/_code$/, '');
  const counters = [
    counter([way, 'number and client', account, client], PER_NUMBER_AND_CLIENT, HOUR),
    counter([way, 'client', client], PER_CLIENT, HOUR),
  ];
  // A recovery key has 119 bits and needs no limit from all clients together. With one, anybody with enough
  // addresses could close an owner's last way in. Passwords and codes have one each: guesses at the one lock the
  // other for nobody.
  if (kind !== 'recovery') counters.push(counter([kind, 'number', account], PER_NUMBER, HOUR));
  return counters;
}

/** Limits guesses at secrets. */
@Injectable()
export class AttemptsService {
  /**
   * Attempts on one number wait for its row. Two at a time keep a flood of them from holding every connection
   * of the pool, and a thousand waiting are a second or two.
   */
  private readonly queue = new WorkQueue({ running: 2, waiting: 1000 });

  constructor(private readonly database: Database) {}

  /**
   * Lets a secret be checked if the limits allow. The attempt is counted before the check, so that concurrent
   * guesses cannot exceed a limit by one; it stays counted when `prove` answers null.
   * @returns what was proven, and what was counted: the caller takes that back (`forgive`) in the transaction
   *   that lets the owner in
   * @throws RelaygerError `too_many_attempts`, `unavailable`, and `refusal` for a wrong secret
   */
  async check<T>(
    kind: AttemptKind,
    target: Target,
    prove: () => Promise<T | null>,
    refusal: 'invalid_credentials' | 'invalid_code' = 'invalid_credentials',
  ): Promise<{ proven: T; counted: Counted }> {
    const counted = await this.queue.run(() => this.count(countersFor(kind, target)));
    let proven: T | null;
    try {
      proven = await prove();
    } catch (error) {
      // Nothing was guessed wrong: the queue of hashes was full, the database away, or the secret was right
      // and something else was not.
      await takeBack(this.database, counted);
      throw error;
    }
    return proven === null ? fail(refusal) : { proven, counted };
  }

  /** Takes an attempt back that turned out right. */
  forgive(sql: Sql, counted: Counted): Promise<void> {
    return takeBack(sql, counted);
  }

  private async count(counters: readonly Counter[]): Promise<Counted> {
    const locked = await usedUp(this.database, counters);
    if (locked !== null) fail('too_many_attempts', { retryAfter: locked });
    return this.database.transaction(async (sql) => {
      const { counted, retryAfter } = await countIn(sql, counters);
      return retryAfter === null ? counted : fail('too_many_attempts', { retryAfter });
    });
  }
}
