export { IdentitiesModule } from './identities.module.js';
export { IdentitiesService } from './identities.service.js';
export type { IdentityRecord } from './identities.store.js';
export { OwnershipService } from './ownership.service.js';
export { PresenceService } from './presence.service.js';
export type { FullRecord } from './sql/list-identities.js';
export type { OwnedRecord } from './sql/list-owned.js';
export type { DisabledBy } from './sql/set-disabled.js';
