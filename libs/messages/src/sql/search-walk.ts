import { type Sql, statement } from '@relayger/kernel';
import {
  type Hit,
  milliseconds,
  QUERY,
  SENDER,
  type SearchTerms,
  TIME,
  termValues,
} from './search-terms.js';

/** Of a room: its place in the question, how many were looked at, the lowest, its time, and what matched. */
type WalkedRoom = [
  ord: number,
  count: number,
  lowest: string,
  reached: number,
  hits: [seq: string, at: number][] | null,
];

// Newest first through each room, by its primary key, whatever the words are: the limit is a subquery because a planner
// that knows it, and takes every room for small, reads whole rooms and sorts them (800 ms). The cheap conditions come
// first, and the query is parsed once. About 1.2 us a message and 7 us a room (measured). One JSON text: a thousand rows cost the
// driver more than the database.
const walkRooms = statement<{ walked: WalkedRoom[] | null }>(
  'messages_search_walk',
  `WITH query AS MATERIALIZED (SELECT ${QUERY} AS words)
   SELECT json_agg(json_build_array(ord, count, lowest::text, ${milliseconds('reached')}, hits)) AS walked
   FROM (
     SELECT r.ord, count(*) AS count, min(m.seq) AS lowest, min(m.created_at) AS reached,
            json_agg(json_build_array(m.seq::text, ${milliseconds('m.created_at')})) FILTER (WHERE m.hit) AS hits
     FROM query CROSS JOIN ROWS FROM (json_to_recordset($6::json) AS (room uuid, newest bigint)) WITH ORDINALITY AS r (room, newest, ord)
     CROSS JOIN LATERAL (
       SELECT seq, created_at, ${SENDER}
         AND ${TIME}
         AND search @@ query.words AS hit
       FROM messages WHERE room_id = r.room AND seq <= r.newest ORDER BY seq DESC LIMIT (SELECT $7::bigint)
     ) AS m
     GROUP BY r.ord
   ) AS rooms`,
);

/** How far the walk through one room has come: everything above `newest` has been looked at. */
export interface Position {
  room: string;
  newest: string;
}

export interface Step extends Position {
  /** Messages that this step looked at. */
  count: number;
  /** The time of the earliest of them, in milliseconds since 1970. */
  reached: number;
  hits: Hit[];
}

/** Looks at the next `count` messages of each room. Rooms that have none left are not in the answer. */
export async function walkNewest(
  sql: Sql,
  terms: SearchTerms,
  rooms: readonly Position[],
  count: number,
): Promise<Step[]> {
  const values = [...termValues(terms), JSON.stringify(rooms), count];
  const [row] = await sql.query(walkRooms, values);
  return (row?.walked ?? []).map(([ord, count, lowest, reached, hits]) => {
    const { room } = rooms[ord - 1] as Position;
    const newest = String(BigInt(lowest) - 1n);
    return {
      room,
      newest,
      count,
      reached,
      hits: (hits ?? []).map(([seq, at]) => ({ room, seq, at })),
    };
  });
}
