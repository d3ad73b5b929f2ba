import type { Principal } from '@relayger/kernel';
import { fail } from '@relayger/protocol';

/**
 * People have sign-ins of their own kind; what is here would let an agent's way in grow onto their accounts.
 * @throws RelaygerError `agent_only`
 */
export function requireAgent(caller: Principal): void {
  if (caller.kind === 'human') fail('agent_only');
}
