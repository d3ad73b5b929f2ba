import { PassThrough } from 'node:stream';
import { createLogger, NestLog } from '../src/log/logger.js';

/** A logger and the lines it has written. */
function setUp(level = 'trace') {
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const log = createLogger(level, stream);
  return {
    log,
    text: () => text,
    lines: () =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
  };
}

const SECRET = 'rly_SECRET_SECRET_SECRET';

test.each([
  'authorization',
  'cookie',
  'token',
  'password',
  'current',
  'newPassword',
  'recoveryKey',
  'code',
  'secret',
  'connectionString',
])('the field %s is never written, at the top or one or two levels down', (field) => {
  const { log, text, lines } = setUp();
  log.info({ [field]: SECRET, kept: 1 }, 'at the top');
  log.info({ request: { [field]: SECRET, kept: 1 } }, 'one level down');
  log.info({ request: { headers: { [field]: SECRET, kept: 1 } } }, 'two levels down');
  log.info({ [field]: { nested: SECRET } }, 'a whole object');
  log.child({ [field]: SECRET }).info('bound to a child');
  expect(text()).not.toContain(SECRET);
  expect(lines()[0]).toMatchObject({ [field]: '[redacted]', kept: 1, msg: 'at the top' });
});

test('a line is JSON with level by name, ISO time and no process details', () => {
  const { log, lines } = setUp();
  log.warn({ requestId: 'r1' }, 'two\nlines \u001b[31m');
  expect(lines()).toEqual([
    {
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      requestId: 'r1',
      msg: 'two\nlines \u001b[31m',
    },
  ]);
});

test('text of others breaks no line and starts no other record', () => {
  const { log, text } = setUp();
  log.info({ handle: 'x"}\n{"level":"fatal' }, '\u2028');
  expect(text().trim().split('\n')).toHaveLength(1);
});

test('an error is written with its cause; its code is not taken for a secret of the caller', () => {
  const { log, lines } = setUp();
  const err = new Error('outer', { cause: new Error('the database said no') });
  log.error({ err, errorCode: 'internal' }, 'request failed');
  const [line] = lines() as [{ err: { message: string; stack: string }; errorCode: string }];
  expect(line.errorCode).toBe('internal');
  expect(line.err.message).toMatch(/^outer/);
  expect(line.err.stack).toContain('the database said no');
});

test('of a database error the code and the constraint are logged, never the row that it quotes', () => {
  const { log, text, lines } = setUp();
  const err = Object.assign(new Error('duplicate key'), {
    code: '23505',
    constraint: 'some_key',
    detail: 'Key (email)=(someone@example.com) already exists.',
    where: 'unnamed portal parameter $1 = secret',
  });
  log.error({ err }, 'request failed');
  expect(lines()).toMatchObject([{ err: { errorCode: '23505', constraint: 'some_key' } }]);
  expect(text()).not.toMatch(/example.com|secret/);
});

test('messages of Nest are debug, its errors are errors, and silent is silent', () => {
  const { log, lines } = setUp();
  const nest = new NestLog(log);
  nest.log('started', 'Router');
  nest.error('broke', 'stack', 'Router');
  nest.warn('odd');
  nest.debug('detail');
  nest.verbose('chatter');
  expect(lines().map((line) => (line as { level: string }).level)).toEqual([
    'debug',
    'error',
    'warn',
    'debug',
    'trace',
  ]);
  const quiet = setUp('silent');
  quiet.log.fatal('nothing');
  expect(quiet.text()).toBe('');
});
