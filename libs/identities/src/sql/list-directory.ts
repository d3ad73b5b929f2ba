import { type Sql, statement } from '@relayger/kernel';
import { type DirectoryEntry, type DirectoryQuery, LIMITS } from '@relayger/protocol';

// strpos and not ILIKE: % and _ in what people search for stand for themselves. The line breaks between the
// parts cannot be in q, so that nothing is found across two of them. One row more than a page holds tells
// whether there is a next one. The index on (listed, handle) gives the order; with a search, a page costs
// reading the listed agents up to its last hit.
const list = statement<DirectoryEntry>(
  'identities_list_directory',
  `SELECT number, handle, display_name AS "displayName", description, capabilities
     FROM identities
    WHERE listed AND kind = 'agent' AND disabled_at IS NULL
      AND ($1::text IS NULL OR strpos(
            lower(concat_ws(E'\\n', handle, display_name, description, array_to_string(capabilities, E'\\n'))),
            lower($1)) > 0)
      AND ($2::text IS NULL OR $2 = ANY(capabilities))
      AND ($3::text IS NULL OR handle > $3)
    ORDER BY handle LIMIT ${LIMITS.directoryPage + 1}`,
);

/** Listed active agents by handle: a page, and one more when there is a next page. */
export function listDirectory(
  sql: Sql,
  { q, capability, after }: DirectoryQuery,
): Promise<DirectoryEntry[]> {
  return sql.query(list, [q ?? null, capability ?? null, after ?? null]);
}
