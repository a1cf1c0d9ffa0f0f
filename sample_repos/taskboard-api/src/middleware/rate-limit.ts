import { RateLimitedError } from '../errors.js';
import { createLogger as loggerFor } from '../logging.js';
import type { Middleware, Timestamp } from '../types.js';

export interface RateLimitOptions {
  /** Requests a client may make at once after a quiet spell. */
  capacity: number;
  refillPerSecond: number;
}

interface Bucket {
  tokens: number;
  updatedAt: Timestamp;
}

const log = loggerFor('rate-limit');
const MAX_BUCKETS = 10_000;

/** Token bucket for each client address. The state is local to this process. */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();

  constructor(private readonly options: RateLimitOptions) {}

  /** Takes one token; returns the seconds to wait when none is left, else 0. */
  take(client: string, now: Timestamp): number {
    const bucket = this.refill(client, now);
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.options.refillPerSecond);
    bucket.tokens -= 1;
    return 0;
  }

  private refill(client: string, now: Timestamp): Bucket {
    const { capacity, refillPerSecond } = this.options;
    const known = this.buckets.get(client);
    const earned = known ? ((now - known.updatedAt) / 1000) * refillPerSecond : capacity;
    const bucket = { tokens: Math.min(capacity, (known?.tokens ?? 0) + earned), updatedAt: now };
    // Re-inserting keeps the map ordered by last use, so the first key is the stalest.
    this.buckets.delete(client);
    this.buckets.set(client, bucket);
    this.evictStalest();
    return bucket;
  }

  private evictStalest(): void {
    if (this.buckets.size <= MAX_BUCKETS) return;
    const stalest = this.buckets.keys().next();
    if (!stalest.done) this.buckets.delete(stalest.value);
  }
}

export function createRateLimit(limiter: RateLimiter): Middleware {
  return async function rateLimit(ctx, next) {
    const waitSeconds = limiter.take(ctx.remoteAddress, Date.now());
    if (waitSeconds > 0) {
      log.warn('client slowed down', { requestId: ctx.id, waitSeconds });
      throw new RateLimitedError(waitSeconds);
    }
    return next();
  };
}
