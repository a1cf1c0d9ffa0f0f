import { createLogger } from '../index.js';
import { app } from '../main.js';
import type { Timestamp } from '../types.js';

const log = createLogger('delivery-sweep');
const KEEP_SETTLED_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Periodic work around webhook deliveries: failed ones that are due get another
 * attempt, settled ones are dropped after a week. Returns a function that stops it.
 */
export function startDeliverySweep(intervalMs: number): () => void {
  let running = false;
  const tick = async (): Promise<void> => {
    if (running) return;
    running = true;
    try {
      await sweepDeliveries(Date.now());
    } catch (error) {
      log.error('sweep failed', { error });
    } finally {
      running = false;
    }
  };
  const timer = setInterval(() => void tick(), intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

export async function sweepDeliveries(now: Timestamp): Promise<void> {
  const retried = await app.webhooks.retryDue(now);
  const purged = app.deliveries.purgeSettled(now - KEEP_SETTLED_MS);
  if (retried + purged > 0) log.info('sweep done', { retried, purged });
  app.db.flush();
}
