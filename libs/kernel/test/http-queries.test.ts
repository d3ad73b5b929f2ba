import { startTestApi, type TestApi } from '@relayger/api/testing';
import { CALLS, pathOf, refusal, type Scene, setScene, stored } from './http-support.js';

let t: TestApi;
let scene: Scene;
let before: Record<string, string>;
beforeAll(async () => {
  t = await startTestApi();
  scene = await setScene(t);
  before = await stored(t);
});
afterAll(async () => {
  const after = await stored(t);
  await t.close();
  expect(after).toEqual(before);
});

async function refused(
  method: string,
  path: string,
  sent: { body?: unknown; bytes?: Uint8Array } = {},
) {
  const headers = { origin: t.origin };
  return refusal(await t.api.raw(method, path, { token: scene.master, headers, ...sent }));
}

describe('a query parameter', () => {
  test.each(CALLS.map((operation) => ({ id: operation.id, operation })))(
    'that $id does not know is refused by name',
    async ({ operation }) => {
      for (const [query, field] of [
        ['surprise=1', 'surprise'],
        ['LIMIT=1', 'LIMIT'],
        ['%00=1', '\u0000'],
        ['limit%5B%5D=1', 'limit[]'],
        ['=x', ''],
      ]) {
        const path = `${pathOf(operation, scene)}?${query}`;
        const { body, example, bytes } = operation;
        const { status, issues } = await refused(operation.method, path, {
          ...(body && { body: example }),
          ...(bytes && { bytes: new Uint8Array() }),
        });
        expect(status).toBe(400);
        // Behind those that the call does need.
        expect(issues).toContainEqual({
          path: 'query',
          message: `has unknown field ${JSON.stringify(field)}`,
        });
      }
    },
  );

  const notIntegers = [
    '',
    '-1',
    '+1',
    '1.0',
    '1e1',
    '0x10',
    '%205',
    '5%20',
    '5%00',
    '%00',
    'NaN',
    'true',
    '1,2',
  ];
  const far = ['99999999999999999999', '9'.repeat(400), '%D9%A3'];
  const sequences = [
    '9223372036854775808',
    '00',
    '01',
    '-1',
    '',
    '%00',
    '1.5',
    '1e3',
    'x',
    '%2B1',
    '9'.repeat(400),
  ];
  const cases: [path: string, name: string, values: string[]][] = [
    ['/v1/mailbox', 'limit', [...notIntegers, ...far, '0', '101']],
    ['/v1/mailbox', 'wait', [...notIntegers, ...far, '56']],
    ['/v1/mailbox', 'consume', ['true', 'yes', '', '2', '-1', '01', '%00']],
    ['/v1/contacts', 'view', ['', 'FULL', 'receipt', '%00', '%ff', '%', '%e2%82', '1']],
    ['/v1/rooms/ROOM/messages', 'limit', [...notIntegers, ...far, '0', '101']],
    ['/v1/rooms/ROOM/messages', 'after', sequences],
    ['/v1/rooms/ROOM/messages', 'before', sequences],
  ];
  test.each(cases)('%s takes no %s but those of its contract', async (path, name, values) => {
    const where = path.replace('ROOM', scene.room);
    for (const value of [...values, `1&${name}=1`, `1&${name}=2`]) {
      const { status, issues } = await refused('GET', `${where}?${name}=${value}`);
      expect({ value, status, path: issues?.[0]?.path }).toEqual({
        value,
        status: 400,
        path: `query.${name}`,
      });
    }
  });

  test('of any name is ignored by documents: links to them carry all sorts of things', async () => {
    for (const path of ['/', '/agents.md', '/openapi.json', '/.well-known/relayger.json']) {
      await t.api.raw('GET', `${path}?utm_source=x&utm_source=y`, { expect: 200 });
    }
  });
});

test('a call without a body takes {} and nothing more', async () => {
  const path = `/v1/rooms/${scene.room}/members/${scene.me.number}`;
  await t.api.raw('PUT', path, { token: scene.me.token, body: {}, expect: 200 });
  for (const body of [{ role: 'owner' }, [], 'x', 0, false]) {
    expect(await refused('PUT', path, { body })).toMatchObject({
      status: 400,
      issues: [{ path: 'body' }],
    });
  }
});
