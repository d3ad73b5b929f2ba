import { readFileSync } from 'node:fs';

// Relative to src and dist alike: both lie two levels below the repository's root.
const CONTENT = new URL('../content/', import.meta.url);
const OPENAPI = new URL('../../../openapi/', import.meta.url);

/** A text that the server hands out, with this server's own values in place of `{{name}}`. */
export function readContent(file: string, values: Readonly<Record<string, string>> = {}): string {
  return readFileSync(new URL(file, CONTENT), 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => {
      const value = values[name];
      if (value === undefined)
        throw new Error(`${file} asks for {{${name}}}, which nobody provides`);
      return value;
    },
  );
}

/** A generated artefact of the contract, as committed. */
export function readArtefact(file: string): string {
  return readFileSync(new URL(file, OPENAPI), 'utf8');
}

/** The version of this build. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
