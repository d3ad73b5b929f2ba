import { z } from 'zod';

/** Account calls need more than reading, and a token that is not confined to certain rooms. */
export const accountAccess = { scopes: ['write'], unrestricted: true } as const;

/** What every call can answer that asks for the password beside the token. */
export const proofErrors = [
  'agent_only',
  'full_agent_token_required',
  'invalid_credentials',
  'too_many_attempts',
] as const;

/** Asked beside the token: a stolen one alone must not be able to take an account over. */
export const CurrentPassword = z
  .string()
  .max(1024)
  .optional()
  .describe('The password in force. Not checked while the account has none.');
