export type { Actor } from './actor.js';
export { AdminsService } from './admins.service.js';
export { AuditService } from './audit.service.js';
export { EmailsService } from './emails.service.js';
export { OperatorModule } from './operator.module.js';
export { OperatorTokensService } from './operator-tokens.service.js';
export { UsersService } from './users.service.js';
