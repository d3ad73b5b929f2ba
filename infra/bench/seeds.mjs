import { randomUUID } from 'node:crypto';

/** A group, written into the tables with its members; its first one owns it. */
export async function seedRoom(database, members) {
  const id = randomUUID();
  await database.query(
    `INSERT INTO rooms (id, kind, name, owner_id) VALUES ($1, 'group', 'bench', $2)`,
    [id, members[0].id],
  );
  await database.query(
    `INSERT INTO memberships (room_id, identity_id, role)
     SELECT $1, id, CASE WHEN n = 1 THEN 'owner' ELSE 'member' END
     FROM unnest($2::uuid[]) WITH ORDINALITY AS m (id, n)`,
    [id, members.map((member) => member.id)],
  );
  return id;
}

/** So many rooms of two. */
export async function seedRooms(database, count, owner, member) {
  const { rows } = await database.query(
    `WITH room AS (
       INSERT INTO rooms (id, kind, name, owner_id)
       SELECT uuidv7(), 'group', 'bench ' || n, $1 FROM generate_series(1, $3) AS n RETURNING id
     ),
     joined AS (
       INSERT INTO memberships (room_id, identity_id, role)
       SELECT id, $1, 'owner' FROM room UNION ALL SELECT id, $2, 'member' FROM room
     )
     SELECT id FROM room`,
    [owner.id, member.id, count],
  );
  return rows.map(({ id }) => id);
}

/** What the statistics of the planner would know on a server that has been running for a while. */
export async function settle(database) {
  await database.query('VACUUM ANALYZE');
  await database.query('CHECKPOINT');
}
