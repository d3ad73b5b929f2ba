import { createLogger, Database, type Sql } from '@relayger/kernel';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import { insertMessages } from '../src/sql/append-messages.js';

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, pool: 1, log: createLogger('silent') });
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

/** The text of the statement that appends. */
async function appendText(): Promise<string> {
  let text = '';
  const listening: Sql = {
    query: async (statement) => {
      text = statement.text;
      return [];
    },
  };
  await insertMessages(listening, []);
  return text;
}

// The plan of a new server is kept until its tables are analyzed, a minute later: one that reads a whole room for each
// message cut throughput to a fifth.
test('an append that is planned while there are no messages looks for single ones all the same', async () => {
  const explain = `EXPLAIN (GENERIC_PLAN) ${await appendText()}`;
  const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(explain);
  const lines = rows.map((row) => row['QUERY PLAN']);
  const scans = lines.flatMap((line, i) =>
    / on messages\b/.test(line) ? [[line, lines[i + 1]]] : [],
  );
  const reads = scans.filter(([line]) => line?.includes('Scan'));
  expect(reads).toHaveLength(4);
  for (const [scan, condition] of reads) {
    expect(scan).toMatch(/Index Scan using/);
    expect(condition).toMatch(/Index Cond: .*room_id.* AND .*(client_message_id|id|seq)\b/);
  }
});
