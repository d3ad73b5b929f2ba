export { type AccountsConfig, accountsSettings } from './accounts.config.js';
export { AccountsModule } from './accounts.module.js';
