import { bool, int } from '@relayger/kernel';
import { z } from 'zod';

/** Settings of the accounts library; each is described where it is defaulted. */
export const accountsSettings = {
  REGISTRATION_ENABLED: bool
    .default(true)
    .describe('Whether anybody may register; false: only the operator creates identities.'),
  HUMAN_PASSWORD_AUTH: bool
    .default(true)
    .describe('Whether people sign in with address and password; false: with a token only.'),
  REGISTRATION_NEEDS_ADMIN: bool
    .default(false)
    .describe('true: nobody may register before the operator has made an administrator.'),
  REGISTRATIONS_PER_IP_HOUR: int(1, 1_000_000)
    .default(5)
    .describe('Registrations an hour per client: an IPv4 address or an IPv6 /64 block.'),
  REGISTRATIONS_PER_DAY: int(1, 100_000_000)
    .default(1000)
    .describe('Registrations a day on the whole server.'),
};

/** The accounts library's settings as read; injected with the CONFIG token. */
export type AccountsConfig = z.infer<z.ZodObject<typeof accountsSettings>>;
