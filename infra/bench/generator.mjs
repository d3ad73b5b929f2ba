// The load generator: a process of its own, so that its pauses are not the server's and the other way round. It does
// one named job at a time for the process that started it.
import { jobs as fanout } from './fanout.mjs';
import { jobs as latency } from './latency.mjs';
import { jobs as million } from './million.mjs';
import { jobs as mailboxes } from './rooms-mailbox.mjs';
import { jobs as sockets } from './sockets.mjs';
import { jobs as throughput } from './throughput.mjs';
import { jobs as transfer } from './transfer.mjs';
import { jobs as waiters } from './waiters.mjs';
import { jobs as workers } from './workers.mjs';

const jobs = {
  ...throughput,
  ...latency,
  ...waiters,
  ...fanout,
  ...mailboxes,
  ...million,
  ...sockets,
  ...transfer,
  ...workers,
};

process.on('message', async ({ job, args }) => {
  try {
    process.send({ result: (await jobs[job](args)) ?? null });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
process.once('disconnect', () => process.exit());
