import type { QueryResultRow } from 'pg';

/**
 * One SQL statement with a name. PostgreSQL plans a named statement once per connection; measured here, named
 * statements run 1.3-2 times as many simple queries as unnamed ones.
 */
export interface Statement<Row extends QueryResultRow = QueryResultRow> {
  readonly name: string;
  readonly text: string;
  /** Carries the row type; never set. */
  readonly row?: Row;
}

/** Where a statement runs: the pool (its own transaction) or an open transaction. */
export interface Sql {
  query<Row extends QueryResultRow>(
    statement: Statement<Row>,
    values: readonly unknown[],
  ): Promise<Row[]>;
}

/** An open transaction. */
export interface Transaction extends Sql {
  /** Runs `hook` once the transaction is committed, and never when it is rolled back: for waking whoever waits. */
  afterCommit(hook: () => void): void;
}

/** Runs `hook` once what `sql` does is committed: for a statement outside of a transaction that is now. */
export function onceCommitted(sql: Sql | Transaction, hook: () => void): void {
  if ('afterCommit' in sql) sql.afterCommit(hook);
  else hook();
}

const declared = new Map<string, Statement>();

/** Every statement of the process, for the test of their plans. */
export function declaredStatements(): Statement[] {
  return [...declared.values()];
}

/**
 * Declares a statement.
 * @param name unique in the process: it is the key of the prepared statement on every connection
 */
export function statement<Row extends QueryResultRow>(name: string, text: string): Statement<Row> {
  if (declared.has(name)) throw new Error(`two statements are named ${name}`);
  const made: Statement<Row> = { name, text };
  declared.set(name, made);
  return made;
}
