import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  HttpCode,
  RequestMapping,
  RequestMethod,
  SetMetadata,
} from '@nestjs/common';
import type { Operation as Definition } from '@relayger/protocol';
import { clientBlock } from './client-address.js';
import type { ApiRequest } from './request.js';
import { validate } from './validate.js';

const OPERATION = 'relayger:operation';

/** The contract operation of a handler, or undefined for one that is not part of the contract. */
export function operationOf(handler: object): Definition | undefined {
  return Reflect.getMetadata(OPERATION, handler) as Definition | undefined;
}

function requiredOperation(context: ExecutionContext): Definition {
  const operation = operationOf(context.getHandler());
  if (!operation)
    throw new Error(`${context.getHandler().name} validates input but has no @Operation`);
  return operation;
}

/**
 * Binds a handler to an operation of the contract: method, path, success status, who may call it and what it
 * accepts all come from there. The first documented success status is the default.
 */
export function Operation(definition: Definition): MethodDecorator {
  const [status] = Object.keys(definition.responses)
    .map(Number)
    .sort((a, b) => b - a)
    .filter((code) => code < 300);
  return applyDecorators(
    SetMetadata(OPERATION, definition),
    RequestMapping({
      method: RequestMethod[definition.method],
      path: definition.path.replace(/\{(\w+)\}/g, ':$1'),
    }),
    HttpCode(status ?? 200),
  );
}

/** The validated JSON body. */
export const Body = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { body } = requiredOperation(context);
  return body && validate(body, context.switchToHttp().getRequest<ApiRequest>().body, 'body');
});

/** The validated query. */
export const Query = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { query } = requiredOperation(context);
  return query && validate(query, context.switchToHttp().getRequest<ApiRequest>().query, 'query');
});

/** The validated path parameters. */
export const Params = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { params } = requiredOperation(context);
  return (
    params && validate(params, context.switchToHttp().getRequest<ApiRequest>().params, 'params')
  );
});

/** Who calls; only on operations that need a token. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { principal } = context.switchToHttp().getRequest<ApiRequest>();
  if (!principal) throw new Error('a public operation has no caller');
  return principal;
});

/** The caller's rate window, this request counted; only on operations that need a token. */
export const Rate = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { rate } = context.switchToHttp().getRequest<ApiRequest>();
  if (!rate) throw new Error('a public operation has no rate window');
  return rate;
});

/** The client that attempts are counted for: an IPv4 address or an IPv6 /64 block. */
export const Client = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { clientAddress } = context.switchToHttp().getRequest<ApiRequest>();
  if (!clientAddress) throw new Error('the auth guard has not seen this request');
  return clientBlock(clientAddress);
});
