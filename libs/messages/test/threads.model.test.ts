import { startTestApi, type TestAgent, type TestApi, textMessage } from '@relayger/api/testing';
import type { Message, Thread } from '@relayger/protocol';
import fc from 'fast-check';
import { crowd, group, send, wholeHistory } from './support.js';

// However a thread is paged: every reply comes once, in the order of the room, no page is over its budget, and a page
// ends only because the limit, the budget or the thread does.

let t: TestApi;
let alice: TestAgent;
let bob: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  [alice, bob] = (await crowd(t, 2)) as [TestAgent, TestAgent];
});
afterAll(() => t.close());

interface Spoken {
  /** What it replies to, counted from the newest; beyond the first message it starts a thread of its own. */
  back: number;
  text: string;
}

const ALPHABET = ['x', '"', '\\', '\n', '\u0001', 'é', '\u2028', '😀'];
const words = fc.string({
  unit: fc.constantFrom(...ALPHABET),
  minLength: 1,
  maxLength: 60,
});
const text = fc.tuple(words, fc.constantFrom(1, 1, 1, 3, 20)).map(([w, times]) => w.repeat(times));
const conversation = fc.array(fc.record<Spoken>({ back: fc.integer({ min: 1, max: 12 }), text }), {
  minLength: 1,
  maxLength: 12,
});
const way = fc.record<Way>({
  limit: fc.integer({ min: 1, max: 5 }),
  maxBytes: fc.oneof(fc.integer({ min: 512, max: 3000 }), fc.integer({ min: 3000, max: 65_536 })),
  named: fc.nat(),
});

/** The first message that each belongs to, by its id. */
function rootsOf(history: readonly Message[]): Map<string, string> {
  const roots = new Map<string, string>();
  for (const { messageId, replyTo } of history)
    roots.set(messageId, replyTo === undefined ? messageId : (roots.get(replyTo) as string));
  return roots;
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

interface Way {
  limit: number;
  maxBytes: number;
  /** Which of the messages names the thread, modulo their number. */
  named: number;
}

test('any conversation, paged in any way', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, fc.array(way, { minLength: 3, maxLength: 3 }), check),
    { numRuns: 12, endOnFailure: true },
  );
});

async function check(spoken: Spoken[], ways: Way[]): Promise<void> {
  const room = await group(t, alice, bob);
  const sent: string[] = [];
  for (const [n, { back, text: said }] of spoken.entries()) {
    const replyTo = sent.at(-back);
    const body = textMessage(said, replyTo === undefined ? {} : { replyTo });
    sent.push((await send(t, n % 2 ? alice : bob, room, body)).id);
  }
  const history = await wholeHistory(t, bob, room);
  const roots = rootsOf(history);
  for (const { named, ...budget } of ways) {
    const id = sent[named % sent.length] as string;
    const [root, ...replies] = history.filter((m) => roots.get(m.messageId) === roots.get(id));
    await checkPages(`/v1/rooms/${room}/threads/${id}`, budget, root as Message, replies);
  }
}

/** Reads a thread page by page; a message that does not fit is read by its id and passed over, as documented. */
async function checkPages(
  path: string,
  { limit, maxBytes }: Omit<Way, 'named'>,
  root: Message,
  replies: readonly Message[],
): Promise<void> {
  /** The page that holds so many replies after so many others. */
  const pageOf = (from: number, count: number): Thread => {
    const messages = replies.slice(from, from + count);
    const next = from + count < replies.length ? messages.at(-1)?.sequence : null;
    return { root, messages, next: next ?? null };
  };
  for (let seen = 0, after: string | null = '0'; after !== null; ) {
    const url = `${path}?after=${after}&limit=${limit}&maxBytes=${maxBytes}`;
    const { status, body, text } = await t.api.raw('GET', url, { token: bob.token });
    if (status === 413) {
      const { details } = (body as { error: { details: unknown } }).error;
      const rootFits = bytesOf(pageOf(0, 0)) <= maxBytes;
      const needed = rootFits ? pageOf(seen, 1) : { root, messages: [], next: null };
      const { messageId } = rootFits ? (replies[seen] as Message) : root;
      expect(details).toEqual({ messageId, bytes: bytesOf(needed) });
      expect(bytesOf(needed)).toBeGreaterThan(maxBytes);
      if (!rootFits) return;
      after = needed.next;
      seen++;
      continue;
    }
    expect(status).toBe(200);
    const { messages, next } = body as Thread;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
    expect(body).toEqual(pageOf(seen, messages.length));
    expect(messages.length).toBeLessThanOrEqual(limit);
    expect(messages.length > 0 || replies.length === 0).toBe(true);
    // A page that could have been longer would have been over the budget.
    if (next !== null && messages.length < limit)
      expect(bytesOf(pageOf(seen, messages.length + 1))).toBeGreaterThan(maxBytes);
    seen += messages.length;
    if (next === null) expect(seen).toBe(replies.length);
    after = next;
  }
}
