/** What a message must be like to be found. */
export interface SearchTerms {
  q: string;
  type: 'text' | 'data' | undefined;
  senderId: string | null;
  /** Milliseconds since 1970; `since` is the first instant that counts, `until` the first that does not. */
  since: number | undefined;
  until: number | undefined;
}

/** A message that was found. */
export interface Hit {
  room: string;
  seq: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** What the column `search` holds of words: data messages carry one lexeme more (see the migration). */
export function lexemesOf(words: string, type: string): string {
  return `to_tsvector('simple', ${words}) || CASE ${type} WHEN 'data' THEN ''' data'''::tsvector ELSE ''::tsvector END`;
}

/**
 * All words of $1 (`wordsIn`) and, in $2, the type: the lexeme of data messages, so that the index tells the types apart
 * as well.
 */
export const QUERY = `coalesce(plainto_tsquery('simple', $1) && $2::tsquery, plainto_tsquery('simple', $1))`;

/** Every further condition: the sender in $3. */
export const SENDER = '($3::uuid IS NULL OR sender_id = $3)';

/** And the time, from $4 to before $5. */
export const TIME = `($4::float8 IS NULL OR created_at >= to_timestamp($4 / 1000))
       AND ($5::float8 IS NULL OR created_at < to_timestamp($5 / 1000))`;

/** A time as `Hit` has it. */
export const milliseconds = (time: string) => `(extract(epoch FROM ${time}) * 1000)::bigint`;

const TYPES = { text: "!' data'", data: "' data'" } as const;

/** The values of $1 to $5. */
export function termValues({ q, type, senderId, since, until }: SearchTerms): unknown[] {
  return [q, type && TYPES[type], senderId, since, until];
}
