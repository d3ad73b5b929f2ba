// Fragments of statements: the rules that more than one of them applies.

// PostgreSQL knows no year 0, which the contract's times may have, and reads no more than some hundred digits. Such a
// deadline must not fail the statement that looks through everybody's messages; it counts as passed.
const DEADLINE = `CASE WHEN m.attention ->> 'expiresAt' IS NULL THEN NULL
  WHEN pg_input_is_valid(m.attention ->> 'expiresAt', 'timestamptz') THEN (m.attention ->> 'expiresAt')::timestamptz
  ELSE '-infinity' END`;

/** When nobody needs to handle the message `m` any more; null when it has no deadline. */
export const MESSAGE_DEADLINE = `(${DEADLINE})`;

/** Whether the message `m` was retracted. */
export const IS_RETRACTED = `(m.revision IS NOT NULL AND m.revision ->> 'state' = 'retracted')`;

/**
 * Whether the message `m` of a room `room` (id, kind) is work under the policy of the runtime `rt`. Questions are work
 * as text, data and sealed messages; what asks nothing explicitly only as text. Information and responses never are,
 * so that workers cannot set each other off.
 */
export const IS_WORK = `(
  m.sender_id <> rt.identity_id
  AND NOT ${IS_RETRACTED}
  AND (cardinality(rt.allowed_senders) = 0 OR m.sender_id = ANY (rt.allowed_senders))
  AND (cardinality(rt.allowed_rooms) = 0 OR room.id = ANY (rt.allowed_rooms))
  AND CASE coalesce(m.attention ->> 'kind', 'none')
    WHEN 'question' THEN
      m.type IN ('text', 'data', 'sealed')
      AND coalesce(${MESSAGE_DEADLINE} > statement_timestamp(), true)
      AND (('questions' = ANY (rt.triggers) AND (room.kind = 'dm' OR rt.identity_id = ANY (m.mentions)))
        OR ('direct' = ANY (rt.triggers) AND room.kind = 'dm')
        OR ('mentions' = ANY (rt.triggers) AND rt.identity_id = ANY (m.mentions)))
    WHEN 'none' THEN
      m.type = 'text'
      AND (('direct' = ANY (rt.triggers) AND room.kind = 'dm')
        OR ('mentions' = ANY (rt.triggers) AND rt.identity_id = ANY (m.mentions)))
    ELSE false
  END)`;

/**
 * Whether an identity can work in a room now: it is a member, and the contact behind a direct conversation stands.
 * Reading history needs less; without the contact no reply could be stored. Its aliases are long: a short
 * one would hide an alias of the statement around it, which these expressions mean.
 */
export const canWorkIn = (identity: string, room: string): string =>
  `EXISTS (SELECT FROM memberships own_membership
           JOIN rooms open_room ON open_room.id = own_membership.room_id AND open_room.gate = 'open'
           WHERE own_membership.room_id = ${room} AND own_membership.identity_id = ${identity})`;

/** What has become of the job `d` of `rt`, also where no claim and no sweep has come by since. */
export const JOB_STATE = `CASE
  WHEN d.state NOT IN ('pending', 'leased') OR (d.state = 'leased' AND d.due_at > statement_timestamp()) THEN d.state
  WHEN d.attempts >= rt.max_attempts THEN 'dead_letter'
  WHEN d.expires_at <= statement_timestamp() THEN 'skipped'
  ELSE 'pending' END`;
