import { createServer } from 'node:net';

/** Why nobody can listen on an address now, as a line that says what to do; null when one can. */
export function portProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE')
        resolve(
          `Port ${port} on ${host} is taken; stop the other program or set PORT to a free one.`,
        );
      else if (code === 'EACCES')
        resolve(`Port ${port} needs more rights than this user has; set PORT to one above 1023.`);
      else resolve(`HOST=${host} is no address of this machine: ${message}.`);
    });
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}
