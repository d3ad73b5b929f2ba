import { startTestApi, type TestAgent, type TestApi } from '@relayger/api/testing';
import { group, sha256, upload } from './support.js';

let t: TestApi;
let owner: TestAgent;
let room: string;
beforeAll(async () => {
  t = await startTestApi();
  owner = await t.agent();
  room = await group(t, owner);
});
afterAll(() => t.close());

test('a file comes back as it was sent', async () => {
  const file = await upload(t, owner, room);
  expect(file.sha256).toBe(sha256(file.bytes));
  const { token } = owner;
  const { body, headers } = await t.api.call('downloadFile', { token, params: { id: file.id }, expect: 200 });
  expect(body).toEqual(file.bytes);
  console.log(headers);
});
