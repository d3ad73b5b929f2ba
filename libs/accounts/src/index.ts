export { type AccountsConfig, accountsSettings } from './accounts.config.js';
export { AccountsModule } from './accounts.module.js';
export { SessionsService } from './sessions.service.js';
