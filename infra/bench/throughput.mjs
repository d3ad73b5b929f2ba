import { HttpConnection } from './http-connection.mjs';
import { directRequest } from './messages.mjs';
import { median, spread } from './statistics.mjs';
import { cpuSeconds, cpuSince, familyCpu, hasProc } from './usage.mjs';

export const jobs = {
  /** Every sender keeps exactly one request under way until the time is over. */
  async throughput({ port, senders, seconds }) {
    const connections = await Promise.all(senders.map(() => HttpConnection.open(port)));
    const milliseconds = [];
    const started = performance.now();
    const deadline = started + seconds * 1000;
    await Promise.all(
      connections.map(async (connection, i) => {
        while (performance.now() < deadline) {
          const sent = performance.now();
          const { status, body } = await connection.send(directRequest(senders[i]));
          milliseconds.push(performance.now() - sent);
          if (status !== 201) throw new Error(`answered ${status}: ${body}`);
        }
      }),
    );
    const elapsed = (performance.now() - started) / 1000;
    for (const connection of connections) connection.close();
    return {
      count: milliseconds.length,
      perSecond: milliseconds.length / elapsed,
      ...spread(milliseconds),
    };
  },
};

/** (a) POST /v1/direct against the bare limit, in turns, so that both see the same moods of the machine. */
export async function measure(stage, { rounds, seconds }, say) {
  const { senders } = stage;
  const run = async (server, time) => {
    const cpu = cpuMeter(stage, server);
    const result = await stage.generate('throughput', {
      port: server.port,
      senders,
      seconds: time,
    });
    return { ...result, ...cpu(result.count) };
  };

  const ceiling = await run(stage.trivial, 2);
  say(
    `generator's own ceiling: ${Math.round(ceiling.perSecond)}/s against a server that stores nothing`,
  );
  await run(stage.bare, 2);
  await run(stage.product, 3);

  const before = await stage.countMessages();
  const bare = [];
  const product = [];
  for (let round = 1; round <= rounds; round++) {
    bare.push(await run(stage.bare, seconds));
    product.push(await run(stage.product, seconds));
    const [b, p] = [bare.at(-1), product.at(-1)];
    say(
      `round ${round}: bare ${rate(b)}, product ${rate(p)}, ratio ${(p.perSecond / b.perSecond).toFixed(2)}`,
    );
  }
  const acknowledged = product.reduce((sum, { count }) => sum + count, 0);
  const stored = (await stage.countMessages()) - before;
  if (stored !== acknowledged)
    throw new Error(`${acknowledged} messages were acknowledged, ${stored} are stored`);

  const medianOf = (results) => median(results.map(({ perSecond }) => perSecond));
  const [bareRate, productRate] = [medianOf(bare), medianOf(product)];
  say(`medians: bare ${Math.round(bareRate)}/s, product ${Math.round(productRate)}/s`);
  if (hasProc()) {
    say(`CPU of a request: bare ${cpuText(bare)}; product ${cpuText(product)}`);
  }
  const value = productRate / bareRate;
  return {
    rows: [
      {
        what: '(a) POST /v1/direct ÷ bare limit',
        value: value.toFixed(2),
        target: '≥ 0.50 (aim 0.70)',
        ok: value >= 0.5,
      },
    ],
    raw: { ratio: value, bareRate, productRate, ceiling: ceiling.perSecond, bare, product },
  };
}

const rate = ({ perSecond, p50, p99 }) =>
  `${Math.round(perSecond)}/s (p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms)`;

/** CPU milliseconds of a request; when others use the machine they change less than rates. */
function cpuMeter({ postmaster }, { pid }) {
  if (!hasProc()) return () => ({});
  const before = { server: cpuSeconds(pid), postgres: familyCpu(postmaster) };
  return (count) => ({
    serverCpu: ((cpuSeconds(pid) - before.server) * 1000) / count,
    postgresCpu: (cpuSince(before.postgres, familyCpu(postmaster)) * 1000) / count,
  });
}

function cpuText(results) {
  const middle = (name) => median(results.map((result) => result[name])).toFixed(2);
  return `server ${middle('serverCpu')} ms, PostgreSQL ${middle('postgresCpu')} ms`;
}
