import { createLogger } from '../logging.js';
import { AuditLog } from '../services/audit-log.js';
import type { Middleware } from '../types.js';

const log = createLogger('http');

/**
 * Outermost middleware: one log line a request, with the user when there is
 * one, and a note in the audit log that this user was active.
 */
export function createRequestLogger(audit: AuditLog): Middleware {
  return async function logRequest(ctx, next) {
    const startedAt = performance.now();
    const response = await next();
    const user = ctx.authentication?.user;

    log.info('request', {
      requestId: ctx.id,
      method: ctx.method,
      path: ctx.path,
      status: response.status,
      userId: user?.id,
      milliseconds: Math.round(performance.now() - startedAt),
    });
    if (user) audit.noteActivity(user.id, ctx.remoteAddress, Date.now());

    return { ...response, headers: { ...response.headers, 'x-request-id': ctx.id } };
  };
}
