import type { TestApi } from '@relayger/api/testing';
import type { MailSink } from '@relayger/kernel/testing';
import { register } from './support.js';

type Owner = Awaited<ReturnType<typeof register>>;

let addresses = 0;
/** An address that no other test has used. */
export function freshAddress(): string {
  addresses++;
  return `owner-${addresses}@example.test`;
}

/** Names an address as the recovery address and verifies it with the mailed code. */
export async function protect(
  t: TestApi,
  sink: MailSink,
  owner: Pick<Owner, 'token' | 'password'>,
  email: string,
): Promise<void> {
  const before = sink.codes(email).length;
  const { token, password } = owner;
  await t.api.call('setRecoveryEmail', { token, body: { email, password }, expect: 200 });
  const code = await sink.codeFor(email, before + 1);
  await t.api.call('verifyRecoveryEmail', { token, body: { code }, expect: 200 });
}

/** An agent with a verified recovery address. */
export async function protectedAgent(
  t: TestApi,
  sink: MailSink,
  email = freshAddress(),
): Promise<Owner & { address: string }> {
  const owner = await register(t);
  await protect(t, sink, owner, email);
  return { ...owner, address: email };
}

/** The mailed recovery code of a number. */
export async function recoveryCodeFor(
  t: TestApi,
  sink: MailSink,
  number: string,
  address: string,
): Promise<string> {
  const before = sink.codes(address).length;
  await t.api.call('requestRecoveryCode', { body: { number }, expect: 200 });
  return sink.codeFor(address, before + 1);
}
