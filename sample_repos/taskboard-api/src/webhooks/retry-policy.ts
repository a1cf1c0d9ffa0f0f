import type { Timestamp } from '../types.js';

/** Why an attempt failed: an answer with a bad status, or no answer at all. */
export type Failure = { status: number } | { networkError: string };

export type RetryPlan = { retryAt: Timestamp } | { giveUp: string };

const MAX_ATTEMPTS = 12;
const FIRST_DELAY_MS = 10_000;
const LONGEST_DELAY_MS = 60 * 60 * 1000;

/**
 * Decides what follows a failed delivery: another attempt after a delay that
 * doubles each time, or none. Up to a fifth of the delay is random, to keep
 * receivers that were down together from being called together.
 */
export function planRetry(
  attempts: number,
  failure: Failure,
  now: Timestamp,
  random: () => number = Math.random,
): RetryPlan {
  if ('status' in failure && isPermanent(failure.status)) {
    return { giveUp: `receiver answered ${failure.status}` };
  }
  if (attempts >= MAX_ATTEMPTS) return { giveUp: `no success in ${MAX_ATTEMPTS} attempts` };
  return { retryAt: now + backoffDelay(attempts, random) };
}

export function backoffDelay(attempts: number, random: () => number): number {
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1));
  return Math.round(delay * (1 - 0.2 * random()));
}

/** Client errors will not go away by themselves, except for timeouts and throttling. */
function isPermanent(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
