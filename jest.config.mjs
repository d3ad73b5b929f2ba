export default {
  roots: ['<rootDir>/libs', '<rootDir>/apps'],
  testMatch: ['**/test/**/*.test.ts'],
  globalSetup: '<rootDir>/infra/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/infra/jest/global-teardown.mjs',
  testEnvironment: '<rootDir>/infra/jest/environment.mjs',
  setupFiles: ['reflect-metadata'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^@relayger/kernel/testing$': '<rootDir>/libs/kernel/src/testing/index.ts',
    '^@relayger/api/testing$': '<rootDir>/apps/api/test/support/index.ts',
    '^@relayger/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // Each worker drives a listening server and a pool; more of them than cores only makes timings noisy.
  maxWorkers: 2,
  testTimeout: 20_000,
};
