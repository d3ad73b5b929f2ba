// The message envelope as one JSON Schema: the part of the OpenAPI document that Message reaches.
const PREFIX = '#/components/schemas/';

/** @param {object} openapi the generated document */
export function buildMessageSchema(openapi) {
  const { schemas } = openapi.components;
  const names = new Set(['Message']);
  // A set yields what is added while it is walked, so this follows every reference.
  for (const name of names) {
    for (const [, target] of JSON.stringify(schemas[name]).matchAll(
      /"#\/components\/schemas\/([^"]+)"/g,
    )) {
      names.add(target);
    }
  }
  names.delete('Message');
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:relayger:schema:message:v1',
    title: 'A stored Relayger message, schema version 1',
    ...toJsonSchema(schemas.Message),
    $defs: Object.fromEntries([...names].sort().map((name) => [name, toJsonSchema(schemas[name])])),
  };
}

/** `discriminator` is a word of OpenAPI only, and the references move. */
function toJsonSchema(node) {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(toJsonSchema);
  const entries = Object.entries(node).filter(([key]) => key !== 'discriminator');
  return Object.fromEntries(
    entries.map(([key, value]) =>
      key === '$ref' ? [key, value.replace(PREFIX, '#/$defs/')] : [key, toJsonSchema(value)],
    ),
  );
}
