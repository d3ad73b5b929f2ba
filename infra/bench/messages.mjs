import { randomUUID } from 'node:crypto';
import { requestText } from './http-connection.mjs';

const TEXT_BYTES = 200;

/** 200 bytes that begin with a mark, by which the receiver knows the message again. */
export const textOf = (mark) => `${mark} `.padEnd(TEXT_BYTES, 'x');
export const markOf = (text) => text.slice(0, text.indexOf(' '));

const draft = (mark) => ({
  schemaVersion: 1,
  type: 'text',
  payload: { text: textOf(mark) },
  clientMessageId: randomUUID(),
});

/** POST /v1/direct as an agent sends it. The bare server gets the very same bytes. */
export function directRequest({ token, target }, mark = 'load') {
  const body = JSON.stringify({ target, message: draft(mark) });
  return requestText('POST', '/v1/direct?view=receipt', { token, body });
}

export function roomRequest({ token, room }, mark) {
  const path = `/v1/rooms/${room}/messages?view=receipt`;
  return requestText('POST', path, { token, body: JSON.stringify(draft(mark)) });
}

/** One long-poll. */
export const mailboxRequest = (token, wait = 50) =>
  requestText('GET', `/v1/mailbox?wait=${wait}&consume=1`, { token });
