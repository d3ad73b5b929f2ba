import { z } from 'zod';
import { sessionOpened, WebSession } from './humans.js';
import { operation } from './operation.js';

export const openWebSession = operation({
  id: 'openWebSession',
  method: 'POST',
  path: '/v1/session',
  tag: 'people',
  summary: 'Sign a browser in with an API token of a person',
  description:
    'The session has the scopes and rooms of the token and ends with it, after 8 hours at the latest. A cookie opens no further session.',
  access: { scopes: [] },
  responses: { 201: sessionOpened },
  errors: ['human_only', 'token_required', 'operator_console_required'],
});

export const getWebSession = operation({
  id: 'getWebSession',
  method: 'GET',
  path: '/v1/session',
  tag: 'people',
  summary: 'Who is signed in in this browser, and until when',
  access: { scopes: [] },
  responses: {
    200: { description: 'The session.', schema: WebSession, example: sessionOpened.example },
  },
  errors: ['session_required'],
});

export const closeWebSession = operation({
  id: 'closeWebSession',
  method: 'DELETE',
  path: '/v1/session',
  tag: 'people',
  summary: 'Sign this browser out',
  description:
    'Ends the session on the server, so that a copied cookie opens nothing either. The API token that it was opened with stays valid.',
  access: { scopes: [] },
  responses: {
    200: {
      description: 'Signed out; the cookie is taken back.',
      schema: z.strictObject({ ok: z.literal(true) }),
      headers: { 'Set-Cookie': z.string().describe('The same cookie, empty and expired.') },
      example: { ok: true },
    },
  },
  errors: ['session_required'],
});
