import type { ApiReply } from '@relayger/kernel/testing';
import { watchLog } from './support/log-watch.js';

const reply = (body: unknown, headers = {}): ApiReply => ({ status: 200, headers, body, text: '' });

test.each([
  [{ token: 'rly_secret_secret', body: undefined, reply: reply({}) }, 'rly_secret_secret'],
  [
    { token: undefined, body: { password: 'a long "password"' }, reply: reply({}) },
    'a long "password"',
  ],
  [
    { token: undefined, body: undefined, reply: reply({ recoveryKey: 'RK-AAAA-BBBB' }) },
    'RK-AAAA-BBBB',
  ],
  [
    {
      token: undefined,
      body: { message: { payload: { text: 'between us two' } } },
      reply: reply({}),
    },
    'between us two',
  ],
  [
    {
      token: undefined,
      body: undefined,
      reply: reply({}, { 'set-cookie': ['session=abcdefgh; Path=/'] }),
    },
    'abcdefgh',
  ],
])('a secret of the wire that is logged is found', (exchange, secret) => {
  const watch = watchLog();
  watch.observe(exchange);
  watch.log.info('nothing to see');
  expect(() => watch.check()).not.toThrow();
  watch.log.debug({ oops: `x ${secret} y` }, 'a careless line');
  expect(() => watch.check()).toThrow('a secret was logged');
});
