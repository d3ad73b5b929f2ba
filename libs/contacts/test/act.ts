import type { TestAgent, TestApi } from '@relayger/api/testing';
import type { Contact } from '@relayger/protocol';
import type { ContactVerb } from '../src/relationship.js';

export const VERBS = ['request', 'accept', 'reject', 'remove', 'block', 'unblock'] as const;

/** `who` does something to `whom`; answers the new state, or the code of a refusal. */
export async function act(
  { api }: TestApi,
  who: TestAgent,
  verb: ContactVerb,
  whom: TestAgent,
): Promise<string> {
  const path = `/v1/contacts/${whom.number}/${verb}`;
  const { status, body } = await api.raw('POST', path, { token: who.token, body: {} });
  const reply = body as { state: string; error?: { code: string } };
  if (reply.error) return reply.error.code;
  expect({ status, body }).toEqual({ status: 200, body: { ok: true, state: reply.state } });
  return reply.state;
}

/** What an agent's list says of another one, or undefined when it does not mention it. */
export async function seen(
  { api }: TestApi,
  who: TestAgent,
  whom: TestAgent,
): Promise<Contact | undefined> {
  const { body } = await api.call('listContacts', {
    token: who.token,
    query: { view: 'full' },
    expect: 200,
  });
  return body.find(({ number }) => number === whom.number);
}
