import { type Sql, statement } from '@relayger/kernel';
import type { RoomKey } from '@relayger/protocol';

const listKeys = statement<{
  id: string;
  number: string;
  key_id: string | null;
  public_key: string | null;
}>(
  'rooms_list_keys',
  `SELECT i.id, i.number, k.key_id, k.public_key
   FROM memberships m
   JOIN identities i ON i.id = m.identity_id
   LEFT JOIN identity_keys k ON k.identity_id = i.id
   WHERE m.room_id = $1
   ORDER BY i.number`,
);

/** The current key of every member of a room. */
export async function selectRoomKeys(sql: Sql, roomId: string): Promise<RoomKey[]> {
  const rows = await sql.query(listKeys, [roomId]);
  return rows.map(({ id, number, key_id, public_key }) => ({
    id,
    number,
    keyId: key_id,
    publicKey: public_key,
  }));
}
