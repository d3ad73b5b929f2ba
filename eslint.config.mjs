// Only what needs types or a project's own taste; formatting, imports and base lint are biome's.
// tsconfig.check.json is one program over every src and test folder with @relayger/* mapped to the
// sources, so types are never silently `any` because a lib wasn't built.
import tseslint from 'typescript-eslint';

const env =
  'Settings come from the parsed config (libs/kernel/src/config), never from process.env.';
const exception =
  "Throw fail('<code>') from @relayger/kernel; Nest's exceptions bypass the catalogue.";

const envRules = {
  'no-restricted-properties': ['error', { object: 'process', property: 'env', message: env }],
};
const envImports = [{ name: 'node:process', importNames: ['env'], message: env }];
const envSyntax = [
  {
    selector: "MemberExpression[object.property.name='process'][property.name='env']",
    message: env,
  },
];
const exceptionImports = [
  { group: ['@nestjs/*'], importNamePattern: 'Exception$', message: exception },
];
const exceptionSyntax = [
  { selector: 'NewExpression[callee.name=/Exception$/]', message: exception },
  { selector: 'NewExpression[callee.property.name=/Exception$/]', message: exception },
];

const restricted = (paths, patterns, syntax) => ({
  'no-restricted-imports': ['error', { paths, patterns }],
  'no-restricted-syntax': ['error', ...syntax],
});

export default [
  { ignores: ['**/dist/**', '**/generated/**'] },
  {
    files: ['{libs,apps}/*/{src,test}/**/*.{ts,tsx}'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: 'tsconfig.check.json', tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      ...envRules,
      ...restricted(envImports, exceptionImports, [...envSyntax, ...exceptionSyntax]),
    },
  },
  {
    files: ['libs/kernel/src/config/**', '{libs,apps}/*/test/**'],
    rules: {
      'no-restricted-properties': 'off',
      ...restricted([], exceptionImports, exceptionSyntax),
    },
  },
  {
    files: ['libs/kernel/src/http/**'],
    rules: restricted(envImports, [], envSyntax),
  },
];
