import type { FastifyRequest } from 'fastify';
import type { Principal } from './principal.js';

/** A request as our handlers see it. */
export interface ApiRequest extends FastifyRequest {
  /** Set by the auth guard on operations that need a token. */
  principal?: Principal;
  /** The JSON body as it was sent: fingerprints are taken over these bytes. */
  rawBody?: string;
}
