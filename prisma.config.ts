import { defineConfig } from 'prisma/config';

/** For Prisma's own command line (`infra/scripts/schema-check.mjs`, authoring a migration). The server never reads it. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Generating the client needs no database; every other command does, and says so with this address.
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://set-DATABASE_URL.invalid/relayger' },
});
