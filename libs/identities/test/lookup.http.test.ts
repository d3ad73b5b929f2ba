import {
  disable,
  openToken,
  seedAgents,
  startTestApi,
  type TestAgent,
  type TestApi,
} from '@relayger/api/testing';
import { checkDigit, numberProblem } from '@relayger/protocol';

let t: TestApi;
let me: TestAgent;
let target: TestAgent;
beforeAll(async () => {
  t = await startTestApi();
  me = await t.agent('seeker');
  target = await t.agent('report-agent_2');
});
afterAll(() => t.close());

/** A spelling as it stands in the path, percent-encoded only where a test means it. */
async function lookUp(path: string, expect: number) {
  return (await t.api.raw('GET', `/v1/identities/${path}`, { token: me.token, expect })).body;
}

const spellings: { what: string; spell: (n: string) => string }[] = [
  { what: 'plain', spell: (n) => n },
  { what: 'with a leading +', spell: (n) => `+${n}` },
  { what: 'with an encoded +', spell: (n) => `%2B${n}` },
  { what: 'with dashes', spell: (n) => n.replace(/(...)(...)(....)/, '$1-$2-$3') },
  { what: 'with dots', spell: (n) => n.replace(/(...)(...)(....)/, '$1.$2.$3') },
  { what: 'with encoded spaces', spell: (n) => n.replace(/(...)(...)(....)/, '$1%20$2%20$3') },
  { what: 'with parentheses', spell: (n) => n.replace(/(...)(...)(....)/, '($1)%20$2-$3') },
  {
    what: 'with encoded parentheses',
    spell: (n) => n.replace(/(...)(...)(....)/, '%28$1%29%20$2%2D$3'),
  },
  { what: 'with everything between', spell: (n) => [...n].join('%20.-+()') },
  { what: 'with separators around', spell: (n) => `%20(${n})-.` },
  {
    what: 'with every digit encoded',
    spell: (n) => n.replace(/./g, (digit) => `%3${digit}`),
  },
];

test.each(spellings)('a number $what finds its identity', async ({ spell }) => {
  expect(await lookUp(spell(target.number), 200)).toEqual({
    id: target.id,
    number: target.number,
    handle: 'report-agent_2',
    kind: 'agent',
    displayName: 'report-agent_2',
    description: '',
    capabilities: [],
    ownerId: null,
  });
});

test('a handle with or without @, an encoded @ and a UUID find the same identity', async () => {
  for (const path of ['@report-agent_2', '%40report-agent_2', 'report-agent_2', target.id]) {
    expect(await lookUp(path, 200)).toMatchObject({ id: target.id });
  }
  expect(await lookUp(me.number, 200)).toMatchObject({ id: me.id });
});

const wrong: Record<string, string[]> = {
  invalid_number: [
    '123456789',
    '12345678901',
    '0234567897',
    '0000000000',
    '1',
    '(123)%20456-789',
    '+00%201234567897',
    '1'.repeat(80),
  ],
  invalid_number_check_digit: ['1234567890', '(123)%20456-7890', '+1-234-567-898'],
  not_found: ['1234567897', '@nobody', 'nobody', '00000000-0000-4000-8000-000000000000'],
  invalid_request: [
    '@',
    '%20',
    '()',
    '@@seeker',
    'Seeker',
    '@SEEKER',
    'x',
    'a'.repeat(41),
    '9agent',
    'a%00b',
    '%00',
    'a%0Ab',
    'seeker%0A',
    '1234567897%0A',
    '1234567897x',
    '1234567897%2C',
    '%D9%A1%D9%A2%D9%A3%D9%A4%D9%A5%D9%A6%D9%A7%D9%A8%D9%A9%D9%A1',
    '1%C2%A0234567897',
    '1'.repeat(81),
    '0190B2F4-7C1D-7E3A-9B52-1F6C2D8E4A01',
    '{0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01}',
    '0190b2f4-7c1d-7e3a-9b52',
    '%F0%9F%A6%8A',
    "seeker'--",
  ],
};
test.each(Object.entries(wrong).flatMap(([code, paths]) => paths.map((path) => ({ code, path }))))(
  '$path is $code',
  async ({ code, path }) => {
    const status = code === 'not_found' ? 404 : 400;
    expect(await lookUp(path, status)).toMatchObject({ error: { code } });
  },
);

test('every typo in one digit and every swap of neighbours but 09 is told from a number that nobody has', async () => {
  const digits = [...target.number];
  const typos = digits.flatMap((digit, at) => {
    const other = String((Number(digit) + 1 + (at % 8)) % 10);
    const swapped = digits.map((d, i) =>
      i === at ? (digits[at + 1] ?? d) : i === at + 1 ? digit : d,
    );
    return [digits.with(at, other).join(''), swapped.join('')];
  });
  for (const typo of typos.filter((number) => number !== target.number)) {
    const problem = numberProblem(typo);
    const body = await lookUp(typo, problem ? 400 : 404);
    expect(body).toMatchObject({ error: { code: problem ?? 'not_found' } });
  }
});

test('a disabled identity is not found by anybody', async () => {
  const [gone] = (await seedAgents(t, ['gone'])) as [TestAgent];
  expect(await lookUp(gone.number, 200)).toMatchObject({ handle: 'gone' });
  await disable(t, gone);
  for (const path of [gone.number, '@gone', gone.id]) {
    expect(await lookUp(path, 404)).toMatchObject({ error: { code: 'not_found' } });
  }
});

test('looking up needs the contacts scope', async () => {
  const token = await openToken(t, me, { scopes: ['read', 'write', 'rooms'] });
  const { body } = await t.api.call('getIdentity', {
    token,
    params: { address: target.number },
    expect: 403,
  });
  expect(body.error).toMatchObject({
    code: 'insufficient_scope',
    details: { required: ['contacts'] },
  });
});

test('registered numbers are ten digits with a check digit, and no two agents share one', async () => {
  const more = await Promise.all(Array.from({ length: 8 }, () => t.agent()));
  const numbers = [me, target, ...more].map(({ number }) => number);
  for (const number of numbers) {
    expect(number).toMatch(/^[1-9][0-9]{9}$/);
    expect(number[9]).toBe(String(checkDigit(number.slice(0, 9))));
  }
  expect(new Set(numbers).size).toBe(numbers.length);
});
