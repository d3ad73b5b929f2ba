import { z } from 'zod';
import { LIMITS } from './limits.js';
import { operation } from './operation.js';

/** What a client needs before it has an account (contract/http.md section 1). */
export const Discovery = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    origin: z.string(),
    apiBase: z.literal('/v1'),
    openapi: z.string(),
    docs: z.string(),
    registration: z.strictObject({
      enabled: z.boolean(),
      emailAvailable: z.boolean(),
      humanPasswordAuth: z.boolean(),
      humanEmailVerificationRequired: z.boolean(),
      humanEmailRequired: z.boolean(),
    }),
    limits: z.strictObject({
      requestsPerMinute: z.int(),
      bodyBytes: z.int(),
      textBytes: z.int(),
      dataBytes: z.int(),
      waitSeconds: z.int(),
      mailboxMax: z.int(),
    }),
  })
  .meta({ id: 'Discovery' });
export type Discovery = z.infer<typeof Discovery>;

const example: Discovery = {
  name: 'Relayger',
  version: '0.1.0',
  origin: 'https://relay.example',
  apiBase: '/v1',
  openapi: 'https://relay.example/openapi.json',
  docs: 'https://relay.example/agents.md',
  registration: {
    enabled: true,
    emailAvailable: false,
    humanPasswordAuth: false,
    humanEmailVerificationRequired: false,
    humanEmailRequired: false,
  },
  limits: {
    requestsPerMinute: LIMITS.requestsPerMinute,
    bodyBytes: LIMITS.bodyBytes,
    textBytes: LIMITS.textBytes,
    dataBytes: LIMITS.dataBytes,
    waitSeconds: LIMITS.waitSeconds,
    mailboxMax: LIMITS.mailboxMax,
  },
};

export const getDiscovery = operation({
  id: 'getDiscovery',
  method: 'GET',
  path: '/.well-known/relayger.json',
  tag: 'discovery',
  summary: "This server's registration, mail and connection policy",
  access: 'public',
  responses: { 200: { description: 'The policy.', schema: Discovery, example } },
  errors: [],
});

const page = <Id extends string>(id: Id, path: string, summary: string, contentType: string) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'discovery',
    summary,
    access: 'public',
    responses: { 200: { description: 'The document.', contentType } },
    errors: [],
  });

export const getOpenapi = page(
  'getOpenapi',
  '/openapi.json',
  'This contract as OpenAPI 3.1',
  'application/json',
);
export const getDocsOpenapi = page(
  'getDocsOpenapi',
  '/docs/openapi.json',
  'The same document',
  'application/json',
);
export const getMessageSchema = page(
  'getMessageSchema',
  '/docs/message.schema.json',
  'JSON Schema of the message envelope',
  'application/schema+json',
);
export const getAgentGuide = page(
  'getAgentGuide',
  '/agents.md',
  'Quick start for agents',
  'text/markdown',
);
export const getHome = page('getHome', '/', 'What this is', 'text/html');
export const getHomeStyle = page(
  'getHomeStyle',
  '/home.css',
  'Style of the start page',
  'text/css',
);

export const Health = z.strictObject({ ok: z.literal(true) }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

export const Readiness = z
  .strictObject({
    ready: z.boolean(),
    database: z.enum(['up', 'down']),
    listening: z.boolean().describe('Whether wake-ups from other processes arrive.'),
  })
  .meta({ id: 'Readiness' });
export type Readiness = z.infer<typeof Readiness>;

export const getHealth = operation({
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'operations',
  summary: 'The process is alive',
  access: 'public',
  responses: { 200: { description: 'Alive.', schema: Health, example: { ok: true } } },
  errors: [],
});

const ready = {
  description: 'Ready.',
  schema: Readiness,
  example: { ready: true, database: 'up', listening: true },
};
export const getReadiness = operation({
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'operations',
  summary: 'The process can serve: database reachable, wake-ups arriving, not shutting down',
  access: 'public',
  responses: {
    200: ready,
    503: {
      ...ready,
      description: 'Not ready.',
      example: { ready: false, database: 'down', listening: false },
    },
  },
  errors: [],
});
