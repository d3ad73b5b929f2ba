/**
 * A value as canonical JSON (RFC 8785): no white space, keys sorted by their UTF-16 code units, numbers and strings
 * as ECMAScript writes them. Two values give the same text exactly when they are the same JSON, so the text can be
 * hashed. Members that are undefined are left out, as JSON does.
 * @throws TypeError for what JSON cannot hold: numbers that are not finite, half of a surrogate pair, functions
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new TypeError('half of a surrogate pair is not JSON');
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('a number that is not finite is not JSON');
      return JSON.stringify(value);
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new TypeError(`a value of type ${typeof value} is not JSON`);
  }
}

function canonicalArray(items: readonly unknown[]): string {
  return `[${items.map(canonicalJson).join(',')}]`;
}

function canonicalObject(value: object): string {
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    // Not localeCompare: RFC 8785 section 3.2.3 sorts by code units, as this comparison does.
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${canonicalJson(key)}:${canonicalJson(item)}`);
  return `{${members.join(',')}}`;
}
