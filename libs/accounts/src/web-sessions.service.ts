import { Injectable } from '@nestjs/common';
import { Database, hasScope, type Principal, type Sql } from '@relayger/kernel';
import { fail, type Scope, type WebSession } from '@relayger/protocol';
import { v7 as uuid } from 'uuid';
import { Endings } from './endings.service.js';
import { hashSessionSecret, newSessionSecret } from './secrets.js';
import { authenticateSession } from './sql/authenticate-session.js';
import { isTokenOpen } from './sql/is-token-open.js';
import { lockCredential } from './sql/lock-credential.js';
import { insertWebSession } from './sql/open-web-session.js';

/** A session that has just been opened. */
export interface OpenedSession {
  /** What the cookie holds; only its hash is stored. */
  secret: string;
  expiresAt: Date;
}

interface Grant {
  identityId: string;
  tokenId: string | null;
  scopes: readonly Scope[];
  roomIds: readonly string[] | null;
}

/** Browsers that people are signed in with. */
@Injectable()
export class WebSessionsService {
  constructor(
    private readonly database: Database,
    private readonly endings: Endings,
  ) {}

  async authenticate(secret: string): Promise<Principal | null> {
    const hash = hashSessionSecret(secret);
    return hash && authenticateSession(this.database, hash);
  }

  /** Opens a session inside the caller's transaction, which holds the person's credentials locked. */
  async open(sql: Sql, grant: Grant): Promise<OpenedSession> {
    const secret = newSessionSecret();
    const hash = hashSessionSecret(secret) as Buffer;
    const { expiresAt, closed } = await insertWebSession(sql, { ...grant, id: uuid(), hash });
    if (closed) this.endings.tell(sql, grant.identityId);
    return { secret, expiresAt };
  }

  /**
   * Opens a session with the scopes and rooms of the token that the caller showed.
   * @throws RelaygerError `human_only`, `token_required`, `operator_console_required`, `unauthorized` when the
   *   token has been revoked since the request began
   */
  async openWithToken(caller: Principal): Promise<OpenedSession> {
    const { identityId, kind, tokenId, sessionId, scopes, roomIds } = caller;
    if (kind !== 'human') fail('human_only');
    // Otherwise a copied cookie could prolong itself for ever.
    if (sessionId !== null || tokenId === null) fail('token_required');
    // An administrator's power must not hang on a browser, which adds its cookie to whatever a page asks for.
    if (hasScope(caller, 'admin')) fail('operator_console_required');
    return this.database.transaction(async (sql) => {
      await lockCredential(sql, identityId);
      if (!(await isTokenOpen(sql, tokenId))) fail('unauthorized');
      return this.open(sql, { identityId, tokenId, scopes, roomIds });
    });
  }

  /** @throws RelaygerError `session_required` */
  current(caller: Principal): WebSession {
    if (caller.sessionId === null) fail('session_required');
    return describeSession(caller, caller);
  }

  /** @throws RelaygerError `session_required` */
  async close(caller: Principal): Promise<void> {
    if (caller.sessionId === null) fail('session_required');
    await this.endings.closeWebSessions(this.database, caller.identityId, {
      only: caller.sessionId,
    });
  }
}

/** A session as its browser may know it. */
export function describeSession(
  { identityId, number, handle }: Pick<Principal, 'identityId' | 'number' | 'handle'>,
  { expiresAt }: { expiresAt: Date },
): WebSession {
  return { id: identityId, number, handle, expiresAt: expiresAt.toISOString() };
}
