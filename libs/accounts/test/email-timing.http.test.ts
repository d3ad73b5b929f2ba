import { startTestApi, type TestApi } from '@relayger/api/testing';
import { type MailSink, startMailSink } from '@relayger/kernel/testing';
import { compareTimes } from './compare-times.js';
import { protectedAgent, recoveryCodeFor } from './email-support.js';
import { BEHIND_PROXY, freeNumber } from './support.js';

let sink: MailSink;
let t: TestApi;
beforeAll(async () => {
  sink = await startMailSink();
  t = await startTestApi({ ...BEHIND_PROXY, SMTP_URL: sink.url });
});
afterAll(async () => {
  await t.close();
  await sink.stop();
});

test('asking for a code takes as long for an unknown number as for one that gets a mail', async () => {
  const agents = await Promise.all(Array.from({ length: 40 }, () => protectedAgent(t, sink)));
  let next = 0;
  // Taking turns among forty, so that most requests do send a mail.
  const known = () => ({ number: agents[next++ % agents.length]?.number });
  const ratio = await compareTimes(t, {
    path: '/v1/recover/email',
    expect: 200,
    first: known,
    second: () => ({ number: freeNumber() }),
    pauseMs: 40,
  });
  expect(ratio).toBeGreaterThan(0.9);
  expect(ratio).toBeLessThan(1.1);
  // Each of them has got its code.
  await Promise.all(agents.map(({ address }) => sink.codeFor(address, 2)));
}, 60_000);

test('a recovery with a wrong code takes as long for an unknown number as for one with a code', async () => {
  const { number, address } = await protectedAgent(t, sink);
  await recoveryCodeFor(t, sink, number, address);
  // One unknown number, as there is one known: the first attempt on a number makes its counter and costs more.
  const unknown = freeNumber();
  const code = '2222-2222';
  const ratio = await compareTimes(t, {
    path: '/v1/recover',
    expect: 401,
    first: () => ({ number, code }),
    second: () => ({ number: unknown, code }),
  });
  expect(ratio).toBeGreaterThan(0.9);
  expect(ratio).toBeLessThan(1.1);
}, 60_000);
