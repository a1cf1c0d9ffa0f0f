import { AppError } from '../errors.js';
import { createLogger } from '../logging.js';
import type { HttpResponse, Middleware } from '../types.js';

const log = createLogger('errors');

/** Turns whatever a handler throws into a response with a stable error body. */
export function createErrorHandler(): Middleware {
  return async function handleErrors(ctx, next) {
    try {
      return await next();
    } catch (error) {
      if (error instanceof AppError) return describe(error);
      log.error('unexpected failure', {
        requestId: ctx.id,
        method: ctx.method,
        path: ctx.path,
        error,
        stack: error instanceof Error ? error.stack : undefined,
      });
      return {
        status: 500,
        body: { error: { code: 'internal', message: 'Something went wrong', requestId: ctx.id } },
      };
    }
  };
}

function describe(error: AppError): HttpResponse {
  return {
    status: error.status,
    headers: error.headers(),
    body: { error: { code: error.code, message: error.message, details: error.details } },
  };
}
