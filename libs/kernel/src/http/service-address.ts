import type { KernelConfig } from '../config/kernel.config.js';

const EVERYWHERE = new Set(['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost']);
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

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

  /**
   * Whether an Origin header names this service. On a laptop without PUBLIC_URL the three names of the loopback
   * address are one service: people type whichever they like, and no other machine can have them.
   */
  isOwn(origin: string): boolean {
    if (origin === this.origin) return true;
    if (this.config.PUBLIC_URL || !EVERYWHERE.has(this.config.HOST)) return false;
    return LOOPBACK_NAMES.some((name) => origin === `http://${name}:${this.port}`);
  }
}
