import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.js';
import type { Logger } from '../log/logger.js';
import { isUnavailable } from './failures.js';
import type { Sql, Statement, Transaction } from './sql.js';

export type { PrismaClient } from '../generated/prisma/client.js';

/** How long a request waits for a free connection before it is told to come back, in ms. */
const CONNECT_TIMEOUT = 5_000;
/** No statement of ours runs for long; one that does is stuck behind a lock or a dead peer. In ms. */
const STATEMENT_TIMEOUT = 15_000;

interface DatabaseOptions {
  url: string;
  pool: number;
  log: Logger;
}

async function runOn<Row extends pg.QueryResultRow>(
  client: pg.PoolClient,
  statement: Statement<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await client.query<Row>({
    name: statement.name,
    text: statement.text,
    values: values as unknown[],
  });
  return result.rows;
}

/** Every door to PostgreSQL: named statements, transactions and Prisma over one shared pool. */
export class Database implements Sql {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly url: string;

  constructor({ url, pool, log }: DatabaseOptions) {
    this.url = url;
    this.pool = new pg.Pool({
      connectionString: url,
      max: pool,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      statement_timeout: STATEMENT_TIMEOUT,
      // Longer than statement_timeout: it only fires when the server itself no longer answers.
      query_timeout: STATEMENT_TIMEOUT + 5_000,
      idle_in_transaction_session_timeout: 30_000,
      keepAlive: true,
      application_name: 'relayger',
      // Our statements are short; compiling one because of a pessimistic estimate costs more than it can save.
      options: '-c jit=off',
    });
    // An idle connection that breaks is dropped by the pool; without a listener it would end the process.
    this.pool.on('error', (err) => log.warn({ err }, 'an idle database connection broke'));
    // The same for one that breaks while a request holds it: the pool does not listen then, and the request
    // learns of it from its own query.
    this.pool.on('connect', (client) => {
      client.on('error', (err) => log.debug({ err }, 'a database connection broke'));
    });
    const prefix = (text: string) =>
      `prisma_${createHash('sha1').update(text).digest('base64url')}`;
    this.prisma = new PrismaClient({
      adapter: new PrismaPg(this.pool, { statementNameGenerator: ({ sql }) => prefix(sql) }),
    });
  }

  /**
   * Runs one statement in its own transaction. The pool's own `query` is not used because it closes the
   * connection after every error, also after an expected one such as a unique violation.
   */
  async query<Row extends pg.QueryResultRow>(
    statement: Statement<Row>,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const client = await this.pool.connect();
    try {
      const rows = await runOn(client, statement, values);
      client.release();
      return rows;
    } catch (error) {
      client.release(isUnavailable(error) ? (error as Error) : undefined);
      throw error;
    }
  }

  /** Runs `work` in one READ COMMITTED transaction; it is rolled back when `work` throws. */
  async transaction<T>(work: (sql: Transaction) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    const hooks: (() => void)[] = [];
    let broken: Error | undefined;
    let result: T;
    try {
      await client.query('BEGIN');
      result = await work({
        query: (statement, values) => runOn(client, statement, values),
        afterCommit: (hook) => hooks.push(hook),
      });
      await client.query('COMMIT');
    } catch (error) {
      try {
        await client.query('ROLLBACK');
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
      throw error;
    } finally {
      client.release(broken);
    }
    for (const hook of hooks) hook();
    return result;
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    if (!this.pool.ended) await this.pool.end();
  }
}
