import { type Sql, statement } from '@relayger/kernel';
import type { Profile, UpdateProfileRequest } from '@relayger/protocol';

const update = statement<Profile>(
  'identities_update_profile',
  `UPDATE identities SET display_name = coalesce($2, display_name), description = coalesce($3, description),
          capabilities = coalesce($4, capabilities), listed = coalesce($5, listed)
    WHERE id = $1
   RETURNING number, handle, display_name AS "displayName", description, capabilities, listed`,
);

/** Changes the given parts of a profile; named one by one, so that nothing else ever reaches the row from here. */
export async function updateProfile(
  sql: Sql,
  id: string,
  { displayName, description, capabilities, listed }: UpdateProfileRequest,
): Promise<Profile> {
  const [row] = await sql.query(update, [
    id,
    displayName ?? null,
    description ?? null,
    capabilities ?? null,
    listed ?? null,
  ]);
  if (!row) throw new Error('identities are never deleted');
  return row;
}
