import { createAgents } from './agents.mjs';
import { call, HttpConnection, requestText } from './http-connection.mjs';
import { seedRooms, settle } from './seeds.mjs';
import { median, spread } from './statistics.mjs';

const BROAD = 1000;
const NARROW = 10;
const NEWS = 10;
const WARM_UP = 50;

export const jobs = {
  /** The same request for each token in turn, so that all see the same moods of the machine. */
  async inTurns({ port, requests, rounds }) {
    const connection = await HttpConnection.open(port);
    const times = requests.map(() => []);
    const sizes = requests.map(() => 0);
    for (let round = 0; round < rounds + WARM_UP; round++) {
      for (const [i, request] of requests.entries()) {
        const started = performance.now();
        const { status, body } = await connection.send(request);
        const took = performance.now() - started;
        if (status !== 200) throw new Error(`answered ${status}: ${body}`);
        sizes[i] = JSON.parse(body).length;
        if (round >= WARM_UP) times[i].push(took);
      }
    }
    connection.close();
    return times.map((samples, i) => ({
      ...spread(samples),
      median: median(samples),
      size: sizes[i],
    }));
  },
};

/** (e) The mailbox of an agent in a thousand rooms of which ten have news, against one in ten rooms with ten news. */
export async function measure(stage, { rounds }, say) {
  const { database, product } = stage;
  const [owner, broad, narrow] = await createAgents(database, 3);
  const many = await seedRooms(database, BROAD, owner, broad);
  const few = await seedRooms(database, NARROW, owner, narrow);
  const connection = await HttpConnection.open(product.port);
  for (const room of [...many.slice(0, NEWS), ...few]) {
    const message = {
      ...{ schemaVersion: 1, type: 'text', payload: { text: 'news' } },
      clientMessageId: crypto.randomUUID(),
    };
    await call(connection, 'POST', `/v1/rooms/${room}/messages`, {
      token: owner.token,
      json: message,
    });
  }
  connection.close();
  await settle(database);

  const read = (path, { token }) => requestText('GET', path, { token });
  const requests = [
    read('/v1/mailbox?limit=20', broad),
    read('/v1/mailbox?limit=20', narrow),
    read('/v1/mailbox?limit=20&wait=1', broad),
    read('/v1/rooms', broad),
  ];
  const [wide, small, waiting, list] = await stage.generate('inTurns', {
    ...{ port: product.port, requests, rounds },
  });
  if (wide.size !== NEWS || small.size !== NEWS)
    throw new Error('not all news are in the mailboxes');
  const ms = ({ median: p50, p99 }) => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
  say(`mailbox of ${BROAD} rooms ${ms(wide)}; of ${NARROW} rooms ${ms(small)}`);
  say(`with a wait ${ms(waiting)}; the list of ${list.size} rooms ${ms(list)}`);
  const ratio = wide.median / small.median;
  return {
    rows: [
      {
        what: `(e) mailbox, ${BROAD} rooms ÷ ${NARROW} rooms, ${NEWS} news each`,
        value: ratio.toFixed(2),
        target: '≤ 3',
        ok: ratio <= 3,
      },
    ],
    raw: { wide, small, waiting, list },
  };
}
