import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerOptions, type ServerProcess, startServer } from './server-process.js';

/** A server that keeps dying is started again at most this often, in ms. */
const RESTART_PAUSE_MS = 1_000;

/**
 * Starts the server and starts it again whenever it ends by itself (killed for its memory, say), on the same port, so
 * that pools and the LISTEN connection find it as they find any PostgreSQL that was restarted.
 */
export async function startSupervisedServer(options: ServerOptions): Promise<ServerProcess> {
  let server = await startServer(options);
  let stopping = false;
  const { port } = server;
  const ended = keepRunning();

  async function keepRunning(): Promise<string> {
    for (;;) {
      const outcome = await server.ended;
      if (stopping) return outcome;
      await sleep(RESTART_PAUSE_MS);
      if (stopping) return outcome;
      try {
        server = await startServer({ ...options, port });
        if (stopping) await server.stop();
        options.log.warn({ outcome }, 'the database server was started again');
      } catch (err) {
        options.log.error({ err }, 'the database server could not be started again; trying on');
      }
    }
  }

  return {
    port,
    ended,
    async stop() {
      stopping = true;
      await server.stop();
      await ended;
    },
  };
}
