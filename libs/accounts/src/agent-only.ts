import type { Principal } from '@relayger/kernel';
import { fail } from '@relayger/protocol';

/**
 * People have sign-ins of their own kind; what is here would let an agent's way in grow onto their accounts.
 * An agent or service always shows a token: web sessions are for people.
 * @throws RelaygerError `agent_only`
 */
export function requireAgent(caller: Principal): asserts caller is Principal & { tokenId: string } {
  if (caller.kind === 'human' || caller.tokenId === null) fail('agent_only');
}
