import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.mjs';
import { mailboxRequest, markOf, roomRequest } from './messages.mjs';
import { spread } from './statistics.mjs';

/** Until everybody waits again after a message. */
const PAUSE_MS = 150;
const WARM_UP = 5;
const PATIENCE_MS = 10_000;

export const jobs = {
  /** One message after the other into a room in whose every mailbox somebody waits. */
  async fanout({ port, sender, receivers, messages }) {
    const outbox = await HttpConnection.open(port);
    const inboxes = await Promise.all(receivers.map(() => HttpConnection.open(port)));
    let listening = true;
    let onReceived = () => {};
    const receiving = Promise.all(
      receivers.map(async ({ token }, i) => {
        while (listening) {
          const { status, body } = await inboxes[i].send(mailboxRequest(token));
          if (status !== 200) throw new Error(`the mailbox answered ${status}: ${body}`);
          for (const { body: payload } of JSON.parse(body)) onReceived(markOf(payload.text));
        }
      }),
    );
    receiving.catch(() => {});

    const toAll = [];
    const toFirst = [];
    for (let n = 0; n < messages + WARM_UP; n++) {
      await sleep(PAUSE_MS);
      const times = [];
      const everybody = new Promise((resolve) => {
        onReceived = (mark) => {
          if (mark === String(n)) times.push(performance.now());
          if (times.length === receivers.length) resolve();
        };
      });
      const request = roomRequest(sender, String(n));
      const started = performance.now();
      const { status, body } = await outbox.send(request);
      if (status !== 201) throw new Error(`answered ${status}: ${body}`);
      const late = sleep(PATIENCE_MS, 'late', { ref: false });
      if ((await Promise.race([everybody, late, receiving])) === 'late')
        throw new Error(`message ${n} reached ${times.length} of ${receivers.length}`);
      if (n < WARM_UP) continue;
      toFirst.push(times[0] - started);
      toAll.push(times.at(-1) - started);
    }
    listening = false;
    for (const connection of [outbox, ...inboxes]) connection.close();
    return { toAll: spread(toAll), toFirst: spread(toFirst) };
  },
};

/** (d) One message into a room of 50 besides the sender, all 50 in a long-poll. */
export async function measure(stage, { messages }, say) {
  const { sender, receivers } = stage.group;
  const { toAll, toFirst } = await stage.generate('fanout', {
    port: stage.product.port,
    sender,
    receivers,
    messages,
  });
  say(
    `${messages} messages to ${receivers.length} waiters: the first has it after ${toFirst.p50.toFixed(1)} ms, ` +
      `all after ${toAll.p50.toFixed(1)} ms (p99 ${toAll.p99.toFixed(1)} ms)`,
  );
  return {
    rows: [
      {
        what: `(d) a message to ${receivers.length} waiters, median until all have it`,
        value: `${toAll.p50.toFixed(1)} ms`,
        target: '≤ 60 ms (aim 25)',
        ok: toAll.p50 <= 60,
      },
    ],
    raw: { toAll, toFirst },
  };
}
