import { registerHuman, startTestApi, type TestApi } from '@relayger/api/testing';
import { OPERATIONS, type Operation } from '@relayger/protocol';

let t: TestApi;
let token: string;
beforeAll(async () => {
  t = await startTestApi();
  token = (await registerHuman(t)).token;
});
afterAll(() => t.close());

const PEOPLE = OPERATIONS.filter(
  ({ tag, access }) => ['people', 'ownership', 'monitoring'].includes(tag) && access !== 'public',
);
const ID = '0190b2f4-7c1d-7e3a-9b52-1f6c2d8e4a01';

test.each(PEOPLE.map((operation): [string, Operation] => [operation.id, operation]))(
  '%s asks who calls',
  async (_, operation) => {
    const params = { id: ID, tokenId: ID, taskId: ID, runtimeId: ID };
    const body = operation.example;
    const reply = await t.api.call(operation, { params, body, expect: 401 });
    expect(reply.body).toMatchObject({ error: { code: 'unauthorized' } });
  },
);

test.each(PEOPLE.filter(({ params }) => params).map((o): [string, Operation] => [o.id, o]))(
  '%s reads ids only',
  async (_, operation) => {
    for (const id of ['1234567897', '@owner', ID.toUpperCase(), 'current']) {
      const params = { id, tokenId: id, taskId: id, runtimeId: id };
      const body = operation.example;
      const reply = await t.api.call(operation, { token, params, body, expect: 400 });
      expect(reply.body).toMatchObject({ error: { code: 'invalid_request' } });
    }
  },
);
