import type { IdentitiesService } from '@relayger/identities';
import { createLogger, Database, type Sql, WakeHub } from '@relayger/kernel';
import { createTestDatabase, type TestDatabase } from '@relayger/kernel/testing';
import { fail } from '@relayger/protocol';
import type { AccountsConfig } from '../src/accounts.config.js';
import type { EmailService } from '../src/email.service.js';
import { Endings } from '../src/endings.service.js';
import { PasswordsService } from '../src/passwords.service.js';
import { RegistrationService } from '../src/registration.service.js';
import { RegistrationLimits } from '../src/registration-limits.service.js';
import { TokensService } from '../src/tokens.service.js';

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, pool: 2, log: createLogger('silent') });
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const config: AccountsConfig = {
  REGISTRATION_ENABLED: true,
  REGISTRATION_NEEDS_ADMIN: false,
  HUMAN_PASSWORD_AUTH: true,
  REGISTRATIONS_PER_IP_HOUR: 5,
  REGISTRATIONS_PER_DAY: 10,
};

/** A registration whose handles are taken `times` times over; then the number is `number`. */
function registration(times: number, number = '1000000008') {
  const handles: string[] = [];
  const create = async (sql: Sql, { id, handle }: { id: string; handle: string }) => {
    handles.push(handle);
    if (handles.length <= times) fail('conflict');
    const text = `INSERT INTO identities (id, number, handle, kind, display_name)
                  VALUES ($1, $2, $3, 'agent', 'x')`;
    await sql.query({ name: 'test_insert_identity', text }, [id, number, handle]);
    return number;
  };
  const service = new RegistrationService(
    database,
    { create } as unknown as IdentitiesService,
    new PasswordsService(),
    new TokensService(database, new Endings(new WakeHub()), createLogger('silent')),
    new RegistrationLimits(database, config),
    { available: false } as EmailService,
  );
  return { service, handles };
}

test('a generated handle that is taken is drawn again', async () => {
  const { service, handles } = registration(2);
  const registered = await service.register({ kind: 'agent' }, '192.0.2.1');
  expect(new Set(handles).size).toBe(3);
  expect(registered.handle).toBe(handles[2]);
});

test('a chosen one is the caller’s to change, and drawing does not go on for ever', async () => {
  const chosen = registration(1);
  const request = { kind: 'agent', handle: 'taken' } as const;
  await expect(chosen.service.register(request, '192.0.2.2')).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(chosen.handles).toEqual(['taken']);
  const unlucky = registration(99);
  await expect(unlucky.service.register({ kind: 'agent' }, '192.0.2.2')).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(unlucky.handles).toHaveLength(3);
});

test('a chosen password with the number that was drawn is weak, and nothing of it stays', async () => {
  const number = '2000000006';
  const { service } = registration(0, number);
  const request = { kind: 'agent', password: `my-${number}-secret` } as const;
  await expect(service.register(request, '192.0.2.3')).rejects.toMatchObject({
    code: 'weak_password',
  });
  expect(await database.prisma.identity.count({ where: { number } })).toBe(0);
  // Not even the client's place.
  const { rows } = await database.pool.query('SELECT count FROM limit_counters ORDER BY count');
  expect(rows).toEqual([{ count: 1 }, { count: 1 }]);
});
