/**
 * Failures the API reports on purpose. Anything that is not an `AppError` is a
 * bug as far as the client is concerned and comes out as a plain 500.
 */
export abstract class AppError extends Error {
  abstract readonly status: number;
  abstract readonly code: string;

  constructor(
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = new.target.name;
  }

  /** Extra response headers that go with this failure. */
  headers(): Record<string, string> {
    return {};
  }
}

export class ValidationError extends AppError {
  readonly status = 400;
  readonly code = 'invalid_input';
}

export class UnauthenticatedError extends AppError {
  readonly status = 401;
  readonly code = 'unauthenticated';

  override headers(): Record<string, string> {
    return { 'www-authenticate': 'Bearer' };
  }
}

export class QuotaExceededError extends AppError {
  readonly status = 402;
  readonly code = 'quota_exceeded';
}

export class ForbiddenError extends AppError {
  readonly status = 403;
  readonly code = 'forbidden';
}

export class NotFoundError extends AppError {
  readonly status = 404;
  readonly code = 'not_found';

  constructor(kind: string, id: string) {
    super(`No such ${kind}`, { kind, id });
  }
}

export class ConflictError extends AppError {
  readonly status = 409;
  readonly code = 'conflict';
}

export class RateLimitedError extends AppError {
  readonly status = 429;
  readonly code = 'rate_limited';

  constructor(private readonly retryAfterSeconds: number) {
    super('Too many requests', { retryAfterSeconds });
  }

  override headers(): Record<string, string> {
    return { 'retry-after': String(this.retryAfterSeconds) };
  }
}
