import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.mjs';
import { directRequest, mailboxRequest, markOf } from './messages.mjs';
import { spread } from './statistics.mjs';

const EVERY_MS = 50;
/** So many that a stall of a second does not hold back the next request, and hide from it. */
const CONNECTIONS = 20;
/** The first ones meet cold code. */
const WARM_UP = 40;

const sleepUntil = (time) => sleep(Math.max(0, time - performance.now()));

export const jobs = {
  /** Every 50 ms a message to a waiting receiver, and half-way between two a request to the bare server. */
  async latency({ product, bare, sender, receiver, samples }) {
    const open = (port) =>
      Promise.all(Array.from({ length: CONNECTIONS }, () => HttpConnection.open(port)));
    const [toProduct, toBare] = [await open(product), await open(bare)];
    const inbox = await HttpConnection.open(product);
    const sentAt = new Map();
    const delivered = [];
    const acknowledged = [];
    const bareReplies = [];
    let listening = true;

    const receiving = (async () => {
      while (listening) {
        const { status, body } = await inbox.send(mailboxRequest(receiver.token));
        const now = performance.now();
        if (status !== 200) throw new Error(`the mailbox answered ${status}: ${body}`);
        for (const { body: payload } of JSON.parse(body)) {
          const mark = markOf(payload.text);
          if (sentAt.has(mark)) delivered.push([Number(mark), now - sentAt.get(mark)]);
        }
      }
    })().catch((error) => {
      if (listening) throw error;
    });

    const timed = async (connection, mark, times) => {
      const request = directRequest(sender, mark);
      const sent = performance.now();
      if (times !== bareReplies) sentAt.set(mark, sent);
      const { status } = await connection.send(request);
      times.push([Number(mark), performance.now() - sent]);
      if (status !== 201) throw new Error(`answered ${status}`);
    };

    const total = samples + WARM_UP;
    const running = [];
    const started = performance.now() + EVERY_MS;
    for (let n = 0; n < total; n++) {
      await sleepUntil(started + n * EVERY_MS);
      running.push(timed(toProduct[n % CONNECTIONS], String(n), acknowledged));
      await sleepUntil(started + (n + 0.5) * EVERY_MS);
      running.push(timed(toBare[n % CONNECTIONS], String(n), bareReplies));
    }
    await Promise.all(running);
    for (let tries = 0; delivered.length < total && tries < 100; tries++) await sleep(50);
    listening = false;
    inbox.close();
    await receiving;
    for (const connection of [...toProduct, ...toBare]) connection.close();
    if (delivered.length !== total)
      throw new Error(`${total} messages were sent, ${delivered.length} were received`);

    const warm = (times) => times.filter(([n]) => n >= WARM_UP).map(([, ms]) => ms);
    return {
      delivered: spread(warm(delivered)),
      acknowledged: spread(warm(acknowledged)),
      bare: spread(warm(bareReplies)),
    };
  },
};

/** (b) From the write of the request until a receiver in a long-poll has the message. */
export async function measure(stage, { samples }, say) {
  const [sender] = stage.senders;
  const result = await stage.generate('latency', {
    product: stage.product.port,
    bare: stage.bare.port,
    sender,
    receiver: sender.peer,
    samples,
  });
  const text = ({ p50, p99 }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
  say(`${samples} messages at ${1000 / EVERY_MS}/s: received ${text(result.delivered)}`);
  say(`acknowledged ${text(result.acknowledged)}; bare request ${text(result.bare)}`);

  const row = (share, limit) => {
    const above = result.delivered[share] - result.bare[share];
    return {
      what: `(b) send → receive above a bare request, ${share}`,
      value: `${above.toFixed(1)} ms`,
      target: `≤ ${limit} ms`,
      ok: above <= limit,
    };
  };
  return { rows: [row('p50', 5), row('p99', 40)], raw: result };
}
