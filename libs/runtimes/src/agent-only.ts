import type { Principal } from '@relayger/kernel';
import { fail } from '@relayger/protocol';

/**
 * Runtimes are how agents work while nobody looks; people have none.
 * @throws RelaygerError `agent_only`
 */
export function requireAgent(caller: Principal): void {
  if (caller.kind === 'human') fail('agent_only');
}
