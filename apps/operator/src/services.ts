import type { IdentitiesService } from '@relayger/identities';
import type {
  AdminsService,
  AuditService,
  EmailsService,
  OperatorTokensService,
  UsersService,
} from '@relayger/operator';

/** What the commands work with: the services behind the administrators' HTTP calls, and one that these lack. */
export interface Services {
  admins: AdminsService;
  audit: AuditService;
  emails: EmailsService;
  identities: IdentitiesService;
  tokens: OperatorTokensService;
  users: UsersService;
}
