export { AccountLifecycle } from './account-lifecycle.service.js';
export { type AccountsConfig, accountsSettings } from './accounts.config.js';
export { AccountsModule } from './accounts.module.js';
export { IssuedTokensService } from './issued-tokens.service.js';
export { SessionsService } from './sessions.service.js';
export { VerifiedEmailsService } from './verified-emails.service.js';
