/**
 * The exact text of one member inside a JSON document that has been parsed before, or undefined when the path
 * is not there. `JSON.stringify(JSON.parse(text))` would not do for fingerprints: it moves integer-like keys to
 * the front and rewrites numbers. As in JSON.parse, the last of several equal keys counts.
 */
export function rawMember(json: string, path: readonly string[]): string | undefined {
  let start = skipSpace(json, 0);
  let end = json.length;
  for (const key of path) {
    if (json[start] !== '{') return undefined;
    let found: [number, number] | undefined;
    let at = skipSpace(json, start + 1);
    while (json[at] === '"') {
      const keyEnd = skipString(json, at);
      const name: unknown = JSON.parse(json.slice(at, keyEnd));
      // Behind the key stand only white space and the colon.
      const valueStart = skipSpace(json, skipSpace(json, keyEnd) + 1);
      const valueEnd = skipValue(json, valueStart);
      if (name === key) found = [valueStart, valueEnd];
      at = skipSpace(json, valueEnd);
      if (json[at] !== ',') break;
      at = skipSpace(json, at + 1);
    }
    if (!found) return undefined;
    [start, end] = found;
  }
  return json.slice(start, end);
}

/** Whether a key of a JSON document ends in a backslash. The text need not be valid JSON. */
export function hasKeyEndingInBackslash(json: string): boolean {
  // Such a key is written with `\\"` or `\u005c"` at its end; few documents have either, so few are read string by string.
  if (!/\\\\"|\\u005c"/i.test(json)) return false;
  for (let at = json.indexOf('"'); at >= 0 && at < json.length; ) {
    const end = skipString(json, at);
    const isKey = json[skipSpace(json, end)] === ':';
    if (isKey && endsInBackslash(json.slice(at + 1, end - 1))) return true;
    at = json.indexOf('"', end);
  }
  return false;
}

function endsInBackslash(inside: string): boolean {
  if (/u005c/i.test(inside.slice(-5))) return trailingBackslashes(inside.slice(0, -5)) % 2 === 1;
  return trailingBackslashes(inside) >= 2;
}

/** A loop, because a regular expression would begin anew at every backslash of a long run: 64 kB of them took seconds. */
function trailingBackslashes(text: string): number {
  let at = text.length;
  while (text[at - 1] === '\\') at--;
  return text.length - at;
}

function skipSpace(json: string, at: number): number {
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at++;
  return at;
}

function skipString(json: string, at: number): number {
  for (at++; at < json.length && json[at] !== '"'; at++) if (json[at] === '\\') at++;
  return at + 1;
}

function skipValue(json: string, at: number): number {
  if (json[at] === '"') return skipString(json, at);
  if (json[at] === '{' || json[at] === '[') {
    let depth = 0;
    for (;;) {
      const char = json[at];
      if (char === '"') at = skipString(json, at);
      else {
        at++;
        if (char === '{' || char === '[') depth++;
        else if ((char === '}' || char === ']') && --depth === 0) return at;
      }
    }
  }
  while (at < json.length && !/[\s,}\]]/.test(json[at] as string)) at++;
  return at;
}
