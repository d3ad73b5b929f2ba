import { failField } from '@relayger/protocol';
import secureJson from 'secure-json-parse';
import { hasKeyEndingInBackslash } from './raw-json.js';

/**
 * Reads JSON that a client sent.
 * @param path what to call it in errors: body or frame
 * @throws RelaygerError `invalid_request`
 */
export function parseJsonText(text: string, path: string): unknown {
  // V8 keeps a key that ends in a backslash in a cache where later documents find it under other keys
  // (nodejs/node#63785): one agent's message would corrupt the next one's.
  if (hasKeyEndingInBackslash(text))
    failField(path, 'must not have a key that ends in a backslash');
  try {
    // Refuses __proto__ and constructor.prototype keys, which would reach into objects that are merged later.
    return secureJson.parse(text, null, {
      protoAction: 'error',
      constructorAction: 'error',
    }) as unknown;
  } catch (error) {
    const forbidden = /forbidden prototype/.test((error as Error).message);
    failField(
      path,
      forbidden ? 'must not have a key __proto__ or constructor.prototype' : 'is not valid JSON',
    );
  }
}
