export { ContactsModule } from './contacts.module.js';
export { ContactsService } from './contacts.service.js';
export type { Relationship } from './relationship.js';
