import { LIMITS, type TaskInput, utf8Bytes } from '@relayger/protocol';

// Everything that breaks a line, and the white space around it.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const BREAKS = /[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** What the room's task event says: the title, or the beginning of a built-in example, in one line. */
export function summaryOf(input: TaskInput): string {
  if (input.operation === 'custom') return input.title;
  const content = input.operation === 'sum' ? input.values.join(' + ') : input.text;
  return shortened(`${input.operation}: ${content}`.replace(BREAKS, ' ').trim());
}

/** Cut between characters so that it has no more bytes than a title. */
function shortened(line: string): string {
  if (utf8Bytes(line) <= LIMITS.taskTitleBytes) return line;
  let short = '';
  let bytes = utf8Bytes('…');
  for (const char of line) {
    bytes += utf8Bytes(char);
    if (bytes > LIMITS.taskTitleBytes) break;
    short += char;
  }
  return `${short}…`;
}
