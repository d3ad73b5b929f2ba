// What an operation can answer when it fails, as schemas, responses and examples of the document.
import { z } from 'zod';

const requestId = '0190b2f7-0a1b-7c2d-8e3f-4a5b6c7d8e9f';
const pascal = (code) => code.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());

const text = z.string();
const RETRY_AFTER = {
  'Retry-After': z
    .int()
    .min(0)
    .describe('Seconds to wait; the same number is in details.retryAfter.'),
};
const WWW_AUTHENTICATE = { 'WWW-Authenticate': text.describe('Bearer (RFC 6750 section 3).') };

/** @param {typeof import('@relayger/protocol')} protocol */
export function errorSchemas({ ERRORS, errorStatus, operationErrors }) {
  const codes = Object.keys(ERRORS);
  const details = (code) => ERRORS[code].details;

  /** One schema a code, so that each carries exactly its own details. */
  const bodies = Object.fromEntries(
    codes.map((code) => [
      code,
      z
        .strictObject({
          error: z.strictObject({
            code: z.literal(code),
            message: text.describe('What is wrong and what to do.'),
            requestId: text.describe('The id that the log knows.'),
            ...(details(code) && { details: details(code) }),
          }),
        })
        .meta({ id: `${pascal(code)}Error`, description: ERRORS[code].message }),
    ]),
  );

  const examples = Object.fromEntries(
    codes.map((code) => {
      const example = details(code)?.meta()?.examples?.[0];
      if (details(code) && !example)
        throw new Error(`errors.ts: the details of ${code} need examples`);
      const error = {
        code,
        message: ERRORS[code].message,
        requestId,
        ...(example && { details: example }),
      };
      bodies[code].parse({ error });
      return [code, { summary: ERRORS[code].message, value: { error } }];
    }),
  );

  /** Headers that every one of these codes brings along. */
  function headersOf(list) {
    if (list.every((code) => details(code)?.shape?.retryAfter)) return RETRY_AFTER;
    if (list.every((code) => code === 'unauthorized')) return WWW_AUTHENTICATE;
    return {};
  }

  /** Status → the codes that the operation can answer with it. */
  function codesByStatus(operation) {
    return Object.groupBy(operationErrors(operation), errorStatus);
  }

  const shared = new Map();

  /** The response for the codes of one status; what many operations answer alike becomes a component. */
  function reply(list, { headers = {}, suffix = '' }) {
    const [first, ...rest] = list.map((code) => bodies[code]);
    const id = rest.length === 0 && pascal(list[0]) + suffix;
    if (id && shared.has(id)) return shared.get(id);
    const examples = list.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
    const response = {
      ...(id && { id }),
      description: list.join(', '),
      headers: z.object({ ...headersOf(list), ...headers }),
      content: {
        'application/json': {
          schema: rest.length > 0 ? z.union([first, ...rest]) : first,
          examples: Object.fromEntries(examples),
        },
      },
    };
    if (id) shared.set(id, response);
    return response;
  }

  /** The catalogue, for readers that want one list. */
  const catalogue = Object.fromEntries(
    codes.map((code) => [
      code,
      {
        status: errorStatus(code),
        message: ERRORS[code].message,
        ...(details(code) && {
          details: Object.fromEntries(
            Object.entries(details(code).shape).map(([name, schema]) => [
              name,
              describe(code, name, schema),
            ]),
          ),
        }),
      },
    ]),
  );

  return { bodies, examples, codesByStatus, reply, catalogue };
}

function describe(code, name, schema) {
  if (!schema.description)
    throw new Error(`errors.ts: details.${name} of ${code} needs a description`);
  return schema.description;
}
