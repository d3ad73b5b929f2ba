import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Link {
  client: Socket;
  upstream: Socket;
  /** The first bytes of the client: a PostgreSQL startup message with its application_name. */
  greeting: string;
  frozen: boolean;
}

/**
 * A TCP door in front of a PostgreSQL: its port stays when the server behind it comes back on another one, it can be
 * shut, and single connections can be frozen, which is what a network does that drops packets without a word.
 */
export class TcpGate {
  private server: Server | null = null;
  private readonly links = new Set<Link>();
  private port = 0;
  /** Delay of everything that passes, in ms. */
  latency = 0;

  private constructor(public target: number) {}

  /** @param url of the server; `urlThrough` gives the same one through the gate */
  static async inFrontOf(url: string): Promise<TcpGate> {
    const gate = new TcpGate(Number(new URL(url).port));
    await gate.open();
    return gate;
  }

  urlThrough(url: string): string {
    const through = new URL(url);
    through.port = String(this.port);
    return through.href;
  }

  async open(): Promise<void> {
    this.server = createServer((client) => this.link(client));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Refuses new connections and cuts the open ones. */
  async shut(): Promise<void> {
    this.server?.close();
    for (const { client, upstream } of this.links) {
      client.destroy();
      upstream.destroy();
    }
    if (this.server?.listening) await once(this.server, 'close');
    this.server = null;
  }

  /** Swallows everything on the open connections of one application, in both directions, without closing them. */
  freeze(application: string): number {
    const named = [...this.links].filter(({ greeting }) =>
      greeting.includes(`application_name\0${application}\0`),
    );
    for (const link of named) link.frozen = true;
    return named.length;
  }

  private link(client: Socket): void {
    const upstream = connect(this.target, '127.0.0.1');
    const link: Link = { client, upstream, greeting: '', frozen: false };
    this.links.add(link);
    client.setNoDelay();
    upstream.setNoDelay();
    client.once('data', (chunk: Buffer) => {
      link.greeting = chunk.toString('latin1');
    });
    this.forward(link, client, upstream);
    this.forward(link, upstream, client);
  }

  private forward(link: Link, from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      const pass = () => void (link.frozen || to.destroyed || to.write(chunk));
      // Timers of one length fire in the order in which they were set.
      if (this.latency > 0) setTimeout(pass, this.latency);
      else pass();
    });
    from.on('error', () => {});
    from.on('close', () => {
      this.links.delete(link);
      if (!link.frozen) to.destroy();
      else if (from === link.client) link.upstream.destroy();
    });
  }
}
