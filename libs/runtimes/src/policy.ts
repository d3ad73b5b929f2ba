import { POLICY_DEFAULTS, type RuntimePolicy, type RuntimePolicyInput } from '@relayger/protocol';

/** A policy with every field. */
export function wholePolicy(given: RuntimePolicyInput = {}): RuntimePolicy {
  return {
    triggers: given.triggers ?? POLICY_DEFAULTS.triggers,
    allowedSenders: given.allowedSenders ?? POLICY_DEFAULTS.allowedSenders,
    allowedRooms: given.allowedRooms ?? POLICY_DEFAULTS.allowedRooms,
    maxAttempts: given.maxAttempts ?? POLICY_DEFAULTS.maxAttempts,
    maxCallsPerHour: given.maxCallsPerHour ?? POLICY_DEFAULTS.maxCallsPerHour,
    concurrency: given.concurrency ?? POLICY_DEFAULTS.concurrency,
    activeHoursUTC: given.activeHoursUTC ?? POLICY_DEFAULTS.activeHoursUTC,
  };
}

/** Whether two policies mean the same: their lists are sets, whatever the order. */
export function isSamePolicy(a: RuntimePolicy, b: RuntimePolicy): boolean {
  return (
    a.maxAttempts === b.maxAttempts &&
    a.maxCallsPerHour === b.maxCallsPerHour &&
    a.concurrency === b.concurrency &&
    isSameSet(a.triggers, b.triggers) &&
    isSameSet(a.allowedSenders, b.allowedSenders) &&
    isSameSet(a.allowedRooms, b.allowedRooms) &&
    isSameSet(a.activeHoursUTC, b.activeHoursUTC)
  );
}

function isSameSet<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}
