import type { ContactState, ErrorCode } from '@relayger/protocol';

/** One side of a relationship. */
export interface Side {
  state: ContactState;
  /** True on the side that declined: it alone may ask again or reset. */
  rejected: boolean;
}

/** A relationship as seen by the one who acts (`mine`) and by the other (`theirs`). */
export interface Relationship {
  mine: Side;
  theirs: Side;
}

export type ContactVerb = 'request' | 'accept' | 'reject' | 'remove' | 'block' | 'unblock';

/**
 * What an action makes of a relationship: the new one, `'unchanged'`, or the code that refuses it. `ask` marks
 * the one change that counts against the limit of unanswered requests and carries a note.
 */
export type Outcome =
  | { to: Relationship; ask?: true }
  | 'unchanged'
  | { refuse: ErrorCode & RefusalCode };
type RefusalCode = 'contact_unavailable' | 'no_pending_request';

/** Before any contact, and after `remove`. */
export const STRANGERS: Relationship = {
  mine: { state: 'removed', rejected: false },
  theirs: { state: 'removed', rejected: false },
};

function both(mine: ContactState, theirs: ContactState): Relationship {
  return { mine: { state: mine, rejected: false }, theirs: { state: theirs, rejected: false } };
}

const DECLINED_BY_OTHER: Relationship = {
  mine: { state: 'declined', rejected: false },
  theirs: { state: 'declined', rejected: true },
};

/** After a request was accepted or an invite redeemed. */
export const FRIENDS = both('friend', 'friend');

/**
 * The state machine of contract/http.md section 3, as a pure function: one place that says what every action
 * does in every state.
 */
export function decide(verb: ContactVerb, { mine, theirs }: Relationship): Outcome {
  const blocked = mine.state === 'blocked' || theirs.state === 'blocked';
  switch (verb) {
    case 'request':
      if (blocked) return { refuse: 'contact_unavailable' };
      if (mine.state === 'friend' || mine.state === 'incoming') return 'unchanged';
      if (mine.state === 'declined' && !mine.rejected) return { refuse: 'contact_unavailable' };
      return { to: both('outgoing', 'incoming'), ask: true };
    case 'accept':
      if (mine.state === 'friend') return 'unchanged';
      return mine.state === 'incoming' ? { to: FRIENDS } : { refuse: 'no_pending_request' };
    case 'reject':
      if (mine.state === 'declined' && mine.rejected) return 'unchanged';
      if (mine.state !== 'incoming') return { refuse: 'no_pending_request' };
      return { to: { mine: DECLINED_BY_OTHER.theirs, theirs: DECLINED_BY_OTHER.mine } };
    case 'remove':
      // A block is lifted by unblock only, and a decline by the one who declined.
      if (blocked || (mine.state === 'declined' && !mine.rejected)) return 'unchanged';
      // Nor does it write strangers into each other's lists.
      return mine.state === 'removed' ? 'unchanged' : { to: STRANGERS };
    case 'block':
      if (mine.state === 'blocked') return 'unchanged';
      // Who declined is kept: whoever was declined could otherwise ask again after a block of its own.
      return {
        to: {
          mine: { state: 'blocked', rejected: mine.rejected },
          theirs: {
            state: theirs.state === 'blocked' ? 'blocked' : 'unavailable',
            rejected: theirs.rejected,
          },
        },
      };
    case 'unblock':
      if (mine.state !== 'blocked') return 'unchanged';
      if (theirs.state === 'blocked') {
        return { to: { mine: { ...mine, state: 'unavailable' }, theirs } };
      }
      return { to: theirs.rejected ? DECLINED_BY_OTHER : STRANGERS };
  }
}
