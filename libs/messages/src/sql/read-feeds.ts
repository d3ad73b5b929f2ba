import { type Sql, statement } from '@relayger/kernel';
import { MESSAGE_COLUMNS, type MessageRow } from './list-messages.js';

/** Where a listener has got in a room. */
export interface FeedPosition {
  roomId: string;
  after: string;
}

// What list-messages reads above a cursor, for many rooms at once: one range of the primary key each.
const readFeeds = statement<MessageRow & { ord: number }>(
  'messages_read_feeds',
  `SELECT a.ord::int AS ord, x.*
   FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS a(room_id, after, ord)
   CROSS JOIN LATERAL (
     SELECT ${MESSAGE_COLUMNS} FROM messages m JOIN identities i ON i.id = m.sender_id
     WHERE m.room_id = a.room_id AND m.seq > a.after ORDER BY m.seq LIMIT (SELECT $3::bigint)
   ) AS x
   ORDER BY a.ord, x.seq`,
);

/** The next messages of every position, in their order. */
export async function selectFeeds(
  sql: Sql,
  positions: readonly FeedPosition[],
  limit: number,
): Promise<MessageRow[][]> {
  const rows = await sql.query(readFeeds, [
    positions.map(({ roomId }) => roomId),
    positions.map(({ after }) => after),
    limit,
  ]);
  const feeds: MessageRow[][] = positions.map(() => []);
  for (const row of rows) feeds[row.ord - 1]?.push(row);
  return feeds;
}
