import { composeMail, kernelSettings, loadConfig } from '@relayger/kernel';
import { parseMailbox } from '../src/mail/mailbox-address.js';
import { sendFailure } from '../src/mail/smtp-sender.js';
import { parseSmtpUrl } from '../src/mail/smtp-url.js';

const plain = { port: 587, secure: false, requireTLS: false };
const checked = { tls: { rejectUnauthorized: true } };
const unchecked = { tls: { rejectUnauthorized: false } };

test.each([
  ['smtp://localhost', { ...plain, host: 'localhost', ...unchecked }],
  ['smtp://127.0.0.1:1025/', { ...plain, host: '127.0.0.1', port: 1025, ...unchecked }],
  ['smtp://mx.example', { ...plain, host: 'mx.example', ...checked }],
  ['smtps://mx.example', { ...plain, host: 'mx.example', port: 465, secure: true, ...checked }],
  [
    'smtp://ann%40b:p%2Fw@mx.example:25',
    {
      host: 'mx.example',
      port: 25,
      secure: false,
      // A password never travels in the clear.
      requireTLS: true,
      ...checked,
      auth: { user: 'ann@b', pass: 'p/w' },
    },
  ],
  ['smtp://a:b@[::1]', { ...plain, host: '::1', ...unchecked, auth: { user: 'a', pass: 'b' } }],
])('%s is a mail server', (url, server) => {
  expect(parseSmtpUrl(url)).toEqual(server);
});

test.each([
  'mx.example',
  'http://mx.example',
  'smtp://',
  'smtp://mx.example/path',
  'smtp://mx.example?logger=true',
  'smtp://mx.example#x',
  'smtp://a:%ZZ@mx.example',
])('%s is none', (url) => {
  expect(parseSmtpUrl(url)).toBeNull();
});

test.each([
  ['relay@example.test', { name: '', address: 'relay@example.test' }],
  ['<relay@localhost>', { name: '', address: 'relay@localhost' }],
  ['The Relay <relay@example.test>', { name: 'The Relay', address: 'relay@example.test' }],
  ['"Relay, The" <relay@example.test>', { name: 'Relay, The', address: 'relay@example.test' }],
])('%s is a sender', (text, mailbox) => {
  expect(parseMailbox(text)).toEqual(mailbox);
});

test.each([
  '',
  'relay',
  'a@b.example, c@d.example',
  'Relay <relay@example.test> more',
  'Relay\r\nBcc: x@y.example <relay@example.test>',
  `${'a'.repeat(250)}@example.test`,
])('%j is none', (text) => {
  expect(parseMailbox(text)).toBeNull();
});

test('bad settings of mail are named at the start', () => {
  const env = { SMTP_URL: 'mail.example', MAIL_FROM: 'nobody', MAILS_PER_HOUR: '0' };
  expect(() => loadConfig(kernelSettings, env)).toThrow(
    /SMTP_URL must look like .*\nMAIL_FROM must be .*\nMAILS_PER_HOUR must be at least 1/,
  );
});

test('the HTML of a mail shows what the text says and nothing that it could do', () => {
  const mail = composeMail('A & B', [
    '1 < 2 "quoted" <script>alert(\'x\')</script>',
    { code: 'AB<C' },
  ]);
  expect(mail.text).toBe('1 < 2 "quoted" <script>alert(\'x\')</script>\n\n    AB<C\n');
  expect(mail.html).toContain('<title>A &amp; B</title>');
  expect(mail.html).toContain(
    '<p>1 &lt; 2 &quot;quoted&quot; &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</p>',
  );
  expect(mail.html).toContain('AB&lt;C');
});

test.each([
  ['an unknown recipient', { code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' }, true],
  ['a refused text', { code: 'EMESSAGE', responseCode: 554, command: 'DATA' }, true],
  ['a full mailbox', { code: 'EENVELOPE', responseCode: 452, command: 'RCPT TO' }, false],
  ['a refused sender', { code: 'EENVELOPE', responseCode: 550, command: 'MAIL FROM' }, false],
  ['a wrong password', { code: 'EAUTH', responseCode: 535, command: 'AUTH PLAIN' }, false],
  ['no server', { code: 'ECONNREFUSED', command: 'CONN' }, false],
  ['something else', new TypeError('x'), false],
])('%s: whether it is for good', (_, error, permanent) => {
  expect(sendFailure(error).permanent).toBe(permanent);
});
