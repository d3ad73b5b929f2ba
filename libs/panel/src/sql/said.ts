/**
 * Whether the message `x` is something that its sender has said itself: what it reports of its presence is not, nor
 * are the events that tasks, approvals and revisions leave in a room. The predicate of messages_said_idx, literally.
 */
export const SAID = `x.type IN ('text', 'data', 'sealed', 'artifact')`;
