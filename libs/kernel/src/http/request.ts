import type { FastifyRequest } from 'fastify';
import type { Principal } from './principal.js';
import type { RateState } from './rate-window.js';

/** A request as our handlers see it. */
export interface ApiRequest extends FastifyRequest {
  /** Set by the auth guard on operations that need a token. */
  principal?: Principal;
  /**
   * Looks at the caller's credential once more, for replies that come long after the guard: it may have expired or
   * been revoked meanwhile. Set together with `principal`.
   * @throws RelaygerError `unauthorized`, `insufficient_scope`, `room_restricted_token`
   */
  reauthorize?: () => Promise<void>;
  /** The caller's rate window after this request; set together with `principal`. */
  rate?: RateState;
  /** Where the request comes from, proxies of ours taken off. Set by the auth guard on every operation. */
  clientAddress?: string;
  /** The JSON body as it was sent: fingerprints are taken over these bytes. */
  rawBody?: string;
}
