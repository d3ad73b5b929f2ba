export { IdentitiesModule } from './identities.module.js';
export { IdentitiesService } from './identities.service.js';
export type { IdentityRecord } from './identities.store.js';
