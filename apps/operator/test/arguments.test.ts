import { readArguments, UsageError } from '../src/arguments.js';
import { COMMANDS } from '../src/commands.js';
import { helpText } from '../src/help.js';

const why = ['--reason', 'ticket 4711'];

test('a command line becomes a command with its options, read by the contract', () => {
  const line = [
    'issue-token',
    '--identity',
    '@x',
    '--scopes',
    'read, write',
    '--days',
    '2',
    ...why,
  ];
  expect(readArguments(line)).toEqual({
    command: COMMANDS['issue-token'],
    reason: 'ticket 4711',
    options: { identity: '@x', scopes: ['read', 'write'], days: 2 },
  });
});

test.each([
  [['drop-everything'], 'There is no command drop-everything.'],
  [['toString'], 'There is no command toString.'],
  [['disable', '--identity', '@root'], '--reason is required.'],
  [['disable', '--identity', '@root', '--reason', ''], '--reason: must not be empty.'],
  [['disable', '--identity', '@root', '--reason', 'a\nb'], '--reason: must be one line'],
  [['disable', ...why], '--identity is required.'],
  [['disable', '@root', ...why], "Unexpected argument '@root'"],
  [['create-identity', '--kind', 'admin', '--handle', 'x2', ...why], '--kind: '],
  [['create-admin', '--handle', 'X', ...why], '--handle: must have 2 to 40'],
  [['create-admin', '--handle', 'x2', '--password', 'x', ...why], "Unknown option '--password'"],
  [['issue-token', '--identity', 'x2', '--scopes', 'root', ...why], '--scopes: '],
  [['issue-token', '--identity', 'x2', '--scopes', 'read', '--days', '366', ...why], '--days: '],
  [['audit', '--limit', 'all', ...why], '--limit: must be a whole number.'],
])('%j is refused', (line, problem) => {
  expect(() => readArguments(line)).toThrow(UsageError);
  expect(() => readArguments(line)).toThrow(problem);
});

test.each([[[]], [['help']], [['--help']], [['disable', '--help']]])('%j asks for help', (line) => {
  expect(readArguments(line)).toBeNull();
});

test('the help names every command and every option', () => {
  const help = helpText();
  for (const [name, { summary, options }] of Object.entries(COMMANDS)) {
    for (const part of [name, summary, ...Object.keys(options).map((option) => `--${option}`)]) {
      expect(help).toContain(part);
    }
  }
  expect(help).toContain('--reason');
});
