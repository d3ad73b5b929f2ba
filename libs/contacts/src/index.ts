export { ContactsModule } from './contacts.module.js';
export { ContactsService } from './contacts.service.js';
export { mayAnswerRequests, pendingRequesters } from './pending-requests.js';
export type { Relationship } from './relationship.js';
