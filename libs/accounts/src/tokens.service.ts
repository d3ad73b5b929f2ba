import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Batcher, Database, LOGGER, type Logger, type Principal, type Sql } from '@relayger/kernel';
import type { Scope } from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { Endings } from './endings.service.js';
import { hashToken, newToken } from './secrets.js';
import { authenticateTokens, type OpenToken } from './sql/authenticate-tokens.js';
import { openToken } from './sql/open-token.js';
import { selectOpenTokens } from './sql/select-open-tokens.js';
import { touchTokens } from './sql/touch-tokens.js';

/** How long uses of tokens gather before one statement notes them, in ms. */
const TOUCH_MS = 1_000;

/** Opens tokens and recognises them. */
@Injectable()
export class TokensService implements OnApplicationShutdown {
  /** Requests that arrive together, or while the last query is under way, share one. */
  private readonly batcher = new Batcher<Buffer, OpenToken | null>({
    run: (hashes) => authenticateTokens(this.database, hashes),
    maxItems: 64,
    maxRuns: 1,
  });
  private readonly used = new Set<string>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: Database,
    private readonly endings: Endings,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  async authenticate(token: string): Promise<Principal | null> {
    const hash = hashToken(token);
    const found = hash && (await this.batcher.do(hash));
    if (!found) return null;
    if (found.stale) this.noteUse(found.principal.tokenId);
    return found.principal;
  }

  /** Those of the tokens that are still good. */
  async stillOpen(tokenIds: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(await selectOpenTokens(this.database, tokenIds));
  }

  /**
   * Opens a token inside the caller's transaction, which holds the identity's credentials locked or has just
   * created it.
   */
  async open(
    sql: Sql,
    identityId: string,
    scopes: readonly Scope[],
    roomIds: readonly string[] | null = null,
  ): Promise<{ id: string; token: string; expiresAt: Date }> {
    const id = uuid();
    const token = newToken();
    const hash = hashToken(token) as Buffer;
    const opened = await openToken(sql, { id, identityId, hash, scopes, roomIds });
    const { expiresAt, closed } = opened;
    if (closed) this.endings.tell(sql, identityId);
    return { id, token, expiresAt };
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.timer) return;
    clearTimeout(this.timer);
    await this.flush();
  }

  /** Keeps the write out of the request: reading a mailbox must not wait for the disk. */
  private noteUse(tokenId: string): void {
    this.used.add(tokenId);
    this.timer ??= setTimeout(() => void this.flush(), TOUCH_MS);
  }

  private async flush(): Promise<void> {
    this.timer = null;
    const tokenIds = [...this.used];
    this.used.clear();
    try {
      await touchTokens(this.database, tokenIds);
    } catch (err) {
      // Lost only until the token is used again.
      this.log.warn({ err }, 'could not note the last use of tokens');
    }
  }
}
