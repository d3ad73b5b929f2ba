import type { KernelConfig } from '../config/kernel.config.js';

const EVERYWHERE = new Set(['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost']);

/** The origin that clients use: PUBLIC_URL, or the address of this machine with the port that was taken. */
export class ServiceAddress {
  private port: number;

  constructor(private readonly config: Pick<KernelConfig, 'HOST' | 'PORT' | 'PUBLIC_URL'>) {
    this.port = config.PORT;
  }

  /** With PORT=0 the port is known only now. */
  listeningOn(port: number): void {
    this.port = port;
  }

  get origin(): string {
    if (this.config.PUBLIC_URL) return this.config.PUBLIC_URL;
    const { HOST } = this.config;
    if (EVERYWHERE.has(HOST)) return `http://localhost:${this.port}`;
    return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${this.port}`;
  }
}
