import { plans } from '../index.js';
import type { Router } from '../index.js';
import { app } from '../main.js';
import type { HttpResponse } from '../types.js';

/** A backlog this large means that receivers, or our network, are in trouble. */
const BACKLOG_ALARM = 5_000;

/** Endpoints for the platform and for the price page; none of them needs a user. */
export function registerHealthRoutes(router: Router): void {
  router.get('/health', () => ({ status: 200, body: { status: 'ok' } }));
  router.get('/ready', () => readiness());
  router.get('/plans', () => ({ status: 200, body: { plans: plans.priceList() } }));
}

function readiness(): HttpResponse {
  const pendingDeliveries = app.deliveries.countPending();
  const ready = pendingDeliveries < BACKLOG_ALARM;
  return {
    status: ready ? 200 : 503,
    body: {
      ready,
      pendingDeliveries,
      uptimeSeconds: Math.floor((Date.now() - app.startedAt) / 1000),
    },
  };
}
