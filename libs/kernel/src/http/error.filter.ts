import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Inject,
  NotFoundException,
} from '@nestjs/common';
import { errorStatus, OPERATIONS, RelaygerError } from '@relayger/protocol';
import type { FastifyReply } from 'fastify';
import { LOGGER, type Logger } from '../log/logger.js';
import { errorReply, toRelaygerError } from './errors.js';
import type { ApiRequest } from './request.js';

const ROUTES = OPERATIONS.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The methods that the contract knows for a path; empty when the path does not exist. */
function methodsOf(url: string): string[] {
  const path = url.split('?', 1)[0] as string;
  const methods: string[] = ROUTES.filter(({ pattern }) => pattern.test(path)).map(
    ({ method }) => method,
  );
  // Documents answer HEAD too, calls do not.
  return methods.includes('GET') && !path.startsWith('/v1/') ? [...methods, 'HEAD'] : methods;
}

/** The one place where a failure becomes a reply. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly log: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const reply = http.getResponse<FastifyReply>();
    const methods = methodsOf(request.url);
    // Only the router throws Nest's own exception: our code says fail('not_found').
    const error =
      thrown instanceof NotFoundException
        ? new RelaygerError(methods.length > 0 ? 'method_not_allowed' : 'not_found')
        : toRelaygerError(thrown);
    if (error.code === 'method_not_allowed') reply.header('allow', methods.join(', '));
    // A client that hangs up in the middle of its own body is no failure of ours, and anybody can do it.
    const hungUp = request.raw.destroyed && !request.raw.complete;
    if (errorStatus(error.code) >= 500) {
      this.log[hungUp ? 'debug' : 'error'](
        {
          requestId: request.id,
          route: request.routeOptions?.url,
          errorCode: error.code,
          err: error.cause,
        },
        'request failed',
      );
    }
    const { status, headers, body } = errorReply(error, request.id);
    reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body);
  }
}
