import type { IncomingHttpHeaders } from 'node:http';
import { UnauthenticatedError } from '../errors.js';
import { createLogger } from '../logging.js';
import { TokenRejectedError, verifyToken } from '../security/jwt-verifier.js';
import type {
  Middleware,
  RequestContext,
  TokenClaims,
  TokenSettings,
  User,
  SignedIn,
  UserDirectory,
} from '../types.js';

const log = createLogger('authentication');

/** Paths that work without a signed-in user. */
const PUBLIC_PATHS = new Set(['/health', '/ready', '/plans', '/password-resets']);
const PUBLIC_PREFIXES = ['/feeds/'];

/**
 * Authenticates the user behind every request that is not public, and leaves
 * the result on the request context. A request without a valid bearer token
 * never gets to a route handler.
 */
export function createAuthMiddleware(settings: TokenSettings, users: UserDirectory): Middleware {
  return async function authenticate(ctx, next) {
    if (!isPublic(ctx.path)) {
      ctx.authentication = authenticateUser(ctx, settings, users);
    }
    return next();
  };
}

/** For handlers behind the middleware: the user who makes this request. */
export function requireUser(ctx: RequestContext): User {
  if (!ctx.authentication) throw new UnauthenticatedError('Sign in first');
  return ctx.authentication.user;
}

function authenticateUser(
  ctx: RequestContext,
  settings: TokenSettings,
  users: UserDirectory,
): SignedIn {
  const claims = acceptToken(readBearerToken(ctx.headers), settings, ctx.id);
  const user = users.resolveUser(claims);
  if (!user) {
    log.warn('token belongs to a deactivated user', { requestId: ctx.id, subject: claims.sub });
    throw new UnauthenticatedError('This account is deactivated');
  }
  return { user, claims };
}

function readBearerToken(headers: IncomingHttpHeaders): string {
  const [scheme, token, ...rest] = (headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'bearer' || !token || rest.length > 0) {
    throw new UnauthenticatedError('A bearer token is required');
  }
  return token;
}

/** The reason of a rejection goes to the log only; a client learns no more than "invalid". */
function acceptToken(token: string, settings: TokenSettings, requestId: string): TokenClaims {
  try {
    return verifyToken(token, settings);
  } catch (error) {
    if (!(error instanceof TokenRejectedError)) throw error;
    log.info('token rejected', { requestId, reason: error.reason });
    throw new UnauthenticatedError('The bearer token is invalid or expired');
  }
}

function isPublic(path: string): boolean {
  return PUBLIC_PATHS.has(path) || PUBLIC_PREFIXES.some((prefix) => path.startsWith(prefix));
}
