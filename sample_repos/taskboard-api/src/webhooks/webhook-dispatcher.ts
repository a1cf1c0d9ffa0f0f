import { createLogger } from '../logging.js';
import { hmacDigest } from '../security/crypto-utils.js';
import { DeliveryRepository, WebhookRepository } from '../storage/webhook-repository.js';
import type { Delivery, DomainEvent, Id, Timestamp, Webhook } from '../types.js';
import { planRetry } from './retry-policy.js';
import type { Failure } from './retry-policy.js';

export interface OutgoingRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Sends one request and resolves to the status of the answer. */
export type Transport = (request: OutgoingRequest) => Promise<number>;

const log = createLogger('webhooks');
const TIMEOUT_MS = 10_000;
const BATCH_SIZE = 50;

/** Delivers board events to the receivers that asked for them, at least once. */
export class WebhookDispatcher {
  private readonly inFlight = new Set<Id>();

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly deliveries: DeliveryRepository,
    private readonly transport: Transport = postJson,
  ) {}

  /** Records a delivery for every interested webhook, then tries each at once. */
  enqueue(event: DomainEvent): void {
    for (const webhook of this.webhooks.listeningTo(event)) {
      const delivery = this.deliveries.create({
        webhookId: webhook.id,
        event,
        status: 'pending',
        attempts: 0,
        nextAttemptAt: Date.now(),
      });
      void this.attempt(delivery);
    }
  }

  /** Tries again what failed earlier and is due by now; returns how many were tried. */
  async retryDue(now: Timestamp): Promise<number> {
    const due = this.deliveries.due(now, BATCH_SIZE).filter(({ id }) => !this.inFlight.has(id));
    await Promise.all(due.map((delivery) => this.attempt(delivery)));
    return due.length;
  }

  private async attempt(delivery: Delivery): Promise<void> {
    const webhook = this.webhooks.find(delivery.webhookId);
    if (!webhook) {
      this.abandon(delivery, 'webhook was removed');
      return;
    }
    this.inFlight.add(delivery.id);
    const attempts = delivery.attempts + 1;
    try {
      const failure = await this.send(webhook, delivery);
      if (failure) this.handleFailure({ ...delivery, attempts }, failure);
      else this.deliveries.update(delivery.id, { status: 'delivered', attempts });
    } finally {
      this.inFlight.delete(delivery.id);
    }
  }

  private async send(webhook: Webhook, delivery: Delivery): Promise<Failure | undefined> {
    try {
      const status = await this.transport(buildRequest(webhook, delivery));
      return status >= 200 && status < 300 ? undefined : { status };
    } catch (error) {
      return { networkError: error instanceof Error ? error.message : String(error) };
    }
  }

  private handleFailure(delivery: Delivery, failure: Failure): void {
    const plan = planRetry(delivery.attempts, failure, Date.now());
    if ('giveUp' in plan) {
      this.abandon(delivery, plan.giveUp);
      return;
    }
    this.deliveries.update(delivery.id, {
      attempts: delivery.attempts,
      nextAttemptAt: plan.retryAt,
      lastError: 'status' in failure ? `status ${failure.status}` : failure.networkError,
    });
    log.info('delivery will be retried', { deliveryId: delivery.id, at: plan.retryAt });
  }

  private abandon(delivery: Delivery, reason: string): void {
    const { id, attempts } = delivery;
    this.deliveries.update(id, { status: 'abandoned', attempts, lastError: reason });
    log.warn('delivery abandoned', { deliveryId: id, webhookId: delivery.webhookId, reason });
  }
}

/** The signature covers the delivery id too, so that a receiver can refuse replays. */
function buildRequest(webhook: Webhook, delivery: Delivery): OutgoingRequest {
  const body = JSON.stringify(delivery.event);
  const signature = hmacDigest('sha256', webhook.secret, `${delivery.id}.${body}`).toString('hex');
  return {
    url: webhook.url,
    body,
    headers: {
      'content-type': 'application/json',
      'x-taskboard-delivery': delivery.id,
      'x-taskboard-signature': `sha256=${signature}`,
    },
  };
}

async function postJson({ url, headers, body }: OutgoingRequest): Promise<number> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
  await response.body?.cancel();
  return response.status;
}
