import {
  ERROR_STATUS,
  ERRORS,
  ErrorBody,
  type ErrorCode,
  errorStatus,
  fail,
  OPERATIONS,
  operationErrors,
  RelaygerError,
} from '../src/index.js';

const codes = Object.keys(ERRORS) as ErrorCode[];

describe('the error catalogue', () => {
  it.each(codes)('%s says in one sentence what to do', (code) => {
    const { message } = ERRORS[code];
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(message).toMatch(/^[A-Z][\x20-\x7e]+\.$/);
    expect(message).not.toMatch(/[.!?] [A-Z]/);
    expect(message.length).toBeLessThanOrEqual(140);
    // An order, alone or behind the reason.
    expect(message).toMatch(/^(Send|Choose|Give) |[;,] [a-z]/);
  });

  it.each(codes)('%s has a status and a body that its schema takes', (code) => {
    expect(Object.values(ERROR_STATUS)).toContain(errorStatus(code));
    const body = { error: { code, message: ERRORS[code].message, requestId: 'r' } };
    expect(ErrorBody.parse(body)).toEqual(body);
  });

  it('is used: every code but method_not_allowed belongs to an operation', () => {
    const used = new Set(OPERATIONS.flatMap(operationErrors));
    expect(codes.filter((code) => !used.has(code))).toEqual(['method_not_allowed']);
  });

  it('is thrown with the details that the code has', () => {
    expect(() => fail('not_found')).toThrow(RelaygerError);
    expect(() => fail('rate_limited', { retryAfter: 7 })).toThrow(
      expect.objectContaining({ code: 'rate_limited', details: { retryAfter: 7 } }),
    );
  });
});

describe('operations', () => {
  it('have one id, and one method and path each', () => {
    const ids = OPERATIONS.map(({ id }) => id);
    const routes = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it('imply the errors that their shape brings', () => {
    const send = OPERATIONS.find(({ id }) => id === 'sendMessage');
    const health = OPERATIONS.find(({ id }) => id === 'getHealth');
    expect(send && operationErrors(send)).toEqual(
      expect.arrayContaining([
        'unauthorized',
        'insufficient_scope',
        'rate_limited',
        'body_too_large',
        'unsupported_media_type',
      ]),
    );
    expect(health && operationErrors(health)).toEqual([
      'internal',
      'invalid_request',
      'origin_not_allowed',
      'token_in_query',
      'unavailable',
    ]);
  });
});
