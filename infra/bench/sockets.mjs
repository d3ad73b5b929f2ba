import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.mjs';
import { markOf, roomRequest } from './messages.mjs';
import { seedRoom } from './seeds.mjs';
import { SocketConnection } from './socket-connection.mjs';
import { spread } from './statistics.mjs';
import { cpuPercent, hasProc, memory } from './usage.mjs';

/** So many handshakes at a time. */
const AT_ONCE = 50;
const PAUSE_MS = 150;
const WARM_UP = 3;
const PATIENCE_MS = 10_000;

let open = [];
let onMessage = () => {};

export const jobs = {
  /** One WebSocket on the room for each token. */
  async openSockets({ port, room, tokens }) {
    for (let start = 0; start < tokens.length; start += AT_ONCE) {
      const group = tokens.slice(start, start + AT_ONCE);
      const sockets = group.map((token) =>
        SocketConnection.open(port, `/v1/ws?room=${room}`, token, (text) => onMessage(text)),
      );
      open.push(...(await Promise.all(sockets)));
    }
  },

  /** Why sockets have ended that should be open. */
  endedSockets: () => open.flatMap(({ ended }) => ended ?? []),

  closeSockets() {
    for (const socket of open) socket.close();
    open = [];
  },

  /** One message after the other into the room of all open sockets: until the last one has it. */
  async fanoutSockets({ port, sender, messages }) {
    const outbox = await HttpConnection.open(port);
    const toAll = [];
    for (let n = 0; n < messages + WARM_UP; n++) {
      await sleep(PAUSE_MS);
      let received = 0;
      let last = 0;
      const everybody = new Promise((resolve) => {
        onMessage = (text) => {
          if (markOf(JSON.parse(text).payload.text) !== String(n)) return;
          last = performance.now();
          if (++received === open.length) resolve();
        };
      });
      const request = roomRequest(sender, String(n));
      const started = performance.now();
      const { status, body } = await outbox.send(request);
      if (status !== 201) throw new Error(`answered ${status}: ${body}`);
      const late = sleep(PATIENCE_MS, 'late', { ref: false });
      if ((await Promise.race([everybody, late])) === 'late')
        throw new Error(`message ${n} reached ${received} of ${open.length}`);
      if (n >= WARM_UP) toAll.push(last - started);
    }
    onMessage = () => {};
    outbox.close();
    return { ...spread(toAll), max: Math.max(...toAll) };
  },
};

/** (g) What WebSockets cost on which nothing happens, and (h) how fast one message reaches a full room. */
export async function measure(stage, { sockets, members, messages, cpuSeconds }, say) {
  const agents = stage.waiters;
  const [sender] = agents;
  const room = await seedRoom(stage.database, agents);
  const tokens = Array.from({ length: sockets }, (_, i) => agents[i % agents.length].token);
  const rows = [];
  const raw = {};

  if (hasProc()) {
    await stage.restartProduct();
    const { pid, port } = stage.product;
    const openAll = (some) => stage.generate('openSockets', { port, room, tokens: some });
    // The code has run before the first reading, so that its compilation is not counted as a socket's memory.
    await openAll(tokens.slice(0, 50));
    await sleep(1000);
    await stage.generate('closeSockets');
    await sleep(1000);
    const empty = await memory(pid);
    await openAll(tokens);
    await sleep(2000);
    const cpu = await cpuPercent(pid, cpuSeconds);
    const full = await memory(pid);
    const ended = await stage.generate('endedSockets');
    if (ended.length > 0) throw new Error(`${ended.length} idle sockets ended: ${ended[0]}`);
    await stage.generate('closeSockets');
    const each = (kind) => (full[kind] - empty[kind]) / sockets;
    say(
      `${empty.collected} KiB PSS without sockets, ${full.collected} KiB with ${sockets}, CPU ${cpu.toFixed(1)} %`,
    );
    say(`${each('asItIs').toFixed(1)} KiB a socket when nothing forces garbage collections`);
    Object.assign(raw, { sockets, empty, full, cpu });
    const value = each('collected');
    rows.push({
      what: `(g) memory of an idle WebSocket, of ${sockets} (PSS)`,
      value: `${value.toFixed(1)} KiB`,
      target: '≤ 30 KiB',
      ok: value <= 30,
    });
  } else say('(g) skipped: needs /proc of Linux');

  const { port } = stage.product;
  await sleep(1000);
  await stage.generate('openSockets', { port, room, tokens: tokens.slice(0, members) });
  const result = await stage.generate('fanoutSockets', {
    ...{ port, sender: { token: sender.token, room }, messages },
  });
  await stage.generate('closeSockets');
  say(
    `${messages} messages to ${members} sockets: all have it after p50 ${result.p50.toFixed(0)} ms`,
  );
  rows.push({
    what: `(h) a message to a room of ${members} sockets, slowest until all have it`,
    value: `${result.max.toFixed(0)} ms`,
    target: '≤ 500 ms',
    ok: result.max <= 500,
  });
  return { rows, raw: { ...raw, fanout: result } };
}
