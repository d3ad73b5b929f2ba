#!/usr/bin/env node
// Stands in for Prisma's native schema engine, which Prisma would download: the same engine as WASM, behind the same
// JSON-RPC over standard input and output, on our PostgreSQL driver. For authoring migrations and for the schema check:
//   PRISMA_SCHEMA_ENGINE_BINARY=infra/scripts/prisma-schema-engine.mjs npx prisma migrate dev
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import pg from 'pg';

const wasmDir = path.dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
/** PostgreSQL numbers types of users from here; the adapter passes those through as text. */
const FIRST_USER_OID = 16_384;
const argv = process.argv.slice(2);
const values = (flag) => argv.flatMap((arg, index) => (arg === flag ? [argv[index + 1]] : []));
const { url } = JSON.parse(values('--datasource')[0] ?? '{}');

if (argv.includes('--version')) printVersion();
else if (argv.includes('cli')) process.exitCode = await runCommand(argv.at(-1));
else await serve();

function printVersion() {
  const { version } = JSON.parse(fs.readFileSync(path.join(wasmDir, 'package.json'), 'utf8'));
  console.log(`schema-engine-cli ${version.split('.').pop()}`);
}

/** `cli can-connect-to-database | create-database | drop-database`: the outcome is the exit code and one log line. */
async function runCommand(command) {
  const target = new URL(url);
  const database = pg.escapeIdentifier(decodeURIComponent(target.pathname.slice(1)));
  const statement = {
    'can-connect-to-database': 'SELECT 1',
    'create-database': `CREATE DATABASE ${database}`,
    'drop-database': `DROP DATABASE ${database}`,
  }[command];
  if (command !== 'can-connect-to-database') target.pathname = '/postgres';
  const client = new pg.Client({ connectionString: target.href });
  try {
    if (!statement) throw new Error(`unknown command ${command}`);
    await client.connect();
    await client.query(statement);
    return 0;
  } catch (error) {
    // Prisma's own codes: no such database, wrong password, unreachable, anything else.
    const codes = { '3D000': 'P1003', '28P01': 'P1000', ECONNREFUSED: 'P1001', ENOTFOUND: 'P1001' };
    const fields = {
      error_code: codes[error.code] ?? 'P1010',
      message: error.message || error.code,
    };
    // Prisma's parser skips the first line.
    process.stderr.write(
      `\n${JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields })}\n`,
    );
    return 1;
  } finally {
    await client.end();
  }
}

/** One JSON-RPC request a line, until Prisma closes our standard input. */
async function serve() {
  const engine = await createEngine();
  const send = (message) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { id, method, params } = line.trim() ? JSON.parse(line) : {};
    // Without a method it is Prisma's receipt for our `print`.
    if (!method) continue;
    try {
      const result = await call(engine, method, params);
      // The native engine prints a diff through a notification of its own.
      if (method === 'diff' && result?.stdout) {
        send({ id: 1e6 + id, method: 'print', params: { content: result.stdout } });
      }
      send({ id, result: result ?? null });
    } catch (error) {
      const data = {
        is_panic: false,
        message: error?.message ?? String(error),
        error_code: error?.code ?? null,
        meta: error?.meta ?? null,
      };
      send({
        id,
        error: {
          code: 4466,
          message: 'An error happened. Check the data field for details.',
          data,
        },
      });
    }
  }
  process.exit(0);
}

async function call(engine, method, params) {
  // The database exists before the engine is asked to; the WASM build has no such method.
  if (method === 'createDatabase') return { databaseName: '' };
  return engine[method === 'getDatabaseVersion' ? 'version' : method](params);
}

async function createEngine() {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const code = fs.readFileSync(path.join(wasmDir, 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(code, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start?.();

  const datamodels = values('--datamodels').map((file) => [file, fs.readFileSync(file, 'utf8')]);
  return bindings.SchemaEngine.new(
    datamodels.length > 0 ? { datamodels } : {},
    (line) => process.env.DEBUG && process.stderr.write(`${line}\n`),
    bindMigrationAwareSqlAdapterFactory(adapterFactory()),
  );
}

function adapterFactory() {
  const target = new URL(url ?? 'postgresql://127.0.0.1:1/none');
  // Not `connectionString`: it would win over the database name that connectToShadowDb() sets.
  const connection = {
    host: target.hostname,
    port: Number(target.port || 5432),
    user: decodeURIComponent(target.username),
    password: decodeURIComponent(target.password),
    database: decodeURIComponent(target.pathname.slice(1)),
    max: 4,
  };
  const schema = target.searchParams.get('schema') ?? undefined;
  const factory = new PrismaPg(connection, { schema });
  for (const method of ['connect', 'connectToShadowDb']) {
    const original = factory[method].bind(factory);
    factory[method] = async () => closeGaps(await original());
  }
  return factory;
}

/** Two gaps of adapter-pg 7.10 that only the schema engine notices. */
function closeGaps(adapter) {
  // Idle shadow connections are cut by DROP DATABASE … WITH (FORCE); that is no error.
  adapter.client.on('error', () => undefined);
  const { queryRaw, performIO } = Object.getPrototypeOf(adapter);

  // 1. pg_catalog's internal "char" (oid 18) is refused as unsupported: pass it through as an unknown type, then call
  //    it a character, with '' for the zero byte.
  adapter.queryRaw = async (query) => {
    const charColumns = [];
    const lenient = Object.create(adapter, {
      performIO: {
        value: async (statement) => {
          const result = await performIO.call(adapter, statement);
          result.fields?.forEach((field, index) => {
            if (field.dataTypeID !== 18) return;
            charColumns.push(index);
            field.dataTypeID = FIRST_USER_OID;
          });
          return result;
        },
      },
    });
    const rows = await queryRaw.call(lenient, query);
    for (const index of charColumns) {
      rows.columnTypes[index] = ColumnTypeEnum.Character;
      for (const row of rows.rows) if (row[index] === '') row[index] = '\0';
    }
    return rows;
  };

  // 2. executeScript() splits at every ';', also inside functions: send the script whole, as the native engine does.
  adapter.executeScript = async (script) => {
    const force = /^DROP DATABASE "prisma_migrate_shadow_db_/.test(script) ? ' WITH (FORCE)' : '';
    try {
      await adapter.client.query(script + force);
    } catch (error) {
      adapter.onError(error);
    }
  };
  return adapter;
}
