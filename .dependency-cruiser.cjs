// Who may import whom. `npm run check` runs this through infra/scripts/boundaries.mjs.

/** Edges between features, src only. A new edge is a design decision: add it here. */
const featureEdges = {
  identities: [],
  accounts: ['identities'],
  contacts: ['identities'],
  rooms: ['identities', 'contacts'],
  files: ['identities', 'rooms'],
  messages: ['identities', 'contacts', 'rooms', 'files'],
  tasks: ['identities', 'messages', 'files'],
  approvals: ['rooms', 'messages', 'files', 'tasks'],
  runtimes: ['contacts', 'rooms', 'messages'],
};
/** May import any feature; imported by none. */
const surfaces = ['discovery', 'sockets', 'oauth', 'mcp', 'panel', 'operator'];
/** Not features. */
const base = ['protocol', 'kernel', 'sdk'];
/** Apps that talk to the server over the wire only. */
const clients = ['cli', 'web'];

const any = (names) => `(?:${names.join('|')})`;
const testCode = '^(?:libs|apps)/[^/]+/test/';
const kernelTesting = '^libs/kernel/src/testing/';
const lib = (names) => `^libs/${any(names)}/`;

const direction = [
  {
    name: 'protocol-only-zod',
    comment:
      'The contract runs in browsers and agents: no Nest, no Node built-ins, nothing but zod.',
    from: { path: '^libs/protocol/src/' },
    to: { pathNot: ['^libs/protocol/src/', '(?:^|/)node_modules/zod/'] },
  },
  {
    name: 'kernel-below-features',
    from: { path: '^libs/kernel/src/' },
    to: { path: '^(?:libs|apps)/', pathNot: lib(['protocol', 'kernel']) },
  },
  {
    name: 'sdk-above-protocol-only',
    from: { path: '^libs/sdk/src/' },
    to: { path: '^(?:libs|apps)/', pathNot: lib(['protocol', 'sdk']) },
  },
  {
    name: 'surfaces-above-features',
    comment: 'A surface may call any feature, but not another surface, the sdk or an app.',
    from: { path: `^libs/(${surfaces.join('|')})/src/` },
    to: { path: [lib([...surfaces, 'sdk']), '^apps/'], pathNot: '^libs/$1/' },
  },
  ...Object.entries(featureEdges).map(([name, allowed]) => ({
    name: `feature-edges-${name}`,
    comment: 'This edge is not in featureEdges (.dependency-cruiser.cjs).',
    from: { path: `^libs/${name}/src/` },
    to: { path: '^(?:libs|apps)/', pathNot: lib([name, 'protocol', 'kernel', ...allowed]) },
  })),
  {
    name: 'feature-edges-unlisted',
    comment: 'A new feature has no edges until it is listed in featureEdges.',
    from: {
      path: '^libs/([^/]+)/src/',
      pathNot: lib([...base, ...surfaces, ...Object.keys(featureEdges)]),
    },
    to: { path: '^(?:libs|apps)/', pathNot: ['^libs/$1/', lib(['protocol', 'kernel'])] },
  },
  {
    name: 'clients-use-the-wire',
    from: { path: `^apps/${any(clients)}/src/` },
    to: { path: '^libs/', pathNot: lib(['protocol', 'sdk']) },
  },
  {
    name: 'servers-without-sdk',
    from: { path: '^apps/', pathNot: [`^apps/${any(clients)}/`, testCode] },
    to: { path: '^libs/sdk/' },
  },
  {
    name: 'apps-stay-apart',
    from: { path: '^apps/([^/]+)/src/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
];

const doors = [
  {
    name: 'no-deep-import',
    comment: 'Another lib is entered through its index.ts (tests: also its test folder).',
    from: { path: '^(?:libs|apps)/([^/]+)/' },
    to: {
      path: '^libs/',
      pathNot: ['^libs/$1/', '^libs/[^/]+/src/index\\.ts$', kernelTesting, '^libs/[^/]+/test/'],
    },
  },
  {
    name: 'no-relative-import-of-a-lib',
    comment: 'Say @relayger/<lib>: a relative path across libs bypasses the exports map.',
    from: { path: '^(?:libs|apps)/([^/]+)/' },
    to: {
      path: '^libs/[^/]+/src/',
      pathNot: '^libs/$1/',
      dependencyTypesNot: ['aliased'],
    },
  },
  {
    name: 'no-test-code-in-src',
    from: { path: '^(?:libs|apps)/[^/]+/src/', pathNot: kernelTesting },
    to: { path: ['/test/', kernelTesting], pathNot: 'node_modules' },
  },
];

const hygiene = [
  { name: 'no-cycles', from: {}, to: { circular: true } },
  { name: 'no-unresolved', from: {}, to: { couldNotResolve: true } },
  {
    name: 'no-orphans',
    from: { orphan: true, pathNot: ['\\.d\\.ts$', '\\.config\\.[cm]?[jt]s$'] },
    to: {},
  },
  {
    name: 'no-undeclared-package',
    comment: 'Works by hoisting luck: declare it in package.json.',
    from: {},
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'no-dev-package-in-src',
    comment: 'Absent after npm ci --omit=dev.',
    from: { path: '^(?:libs|apps)/[^/]+/src/', pathNot: kernelTesting },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '@types/' },
  },
];

module.exports = {
  forbidden: [...direction, ...doors, ...hygiene].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    // Maps @relayger/<lib> to libs/<lib>/src, so that the result is the same before and after a build.
    tsConfig: { fileName: 'tsconfig.check.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    doNotFollow: { path: ['node_modules', '/dist/', '/generated/'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
