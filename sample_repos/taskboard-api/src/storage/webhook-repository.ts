import { ValidationError } from '../errors.js';
import type { Delivery, DomainEvent, Id, Timestamp, Webhook } from '../types.js';
import { Database } from './database.js';
import { Repository } from './repository.js';

export class WebhookRepository extends Repository<Webhook> {
  protected readonly kind = 'webhook';

  constructor(db: Database) {
    super(db, 'webhooks');
  }

  onBoard(boardId: Id): Webhook[] {
    return this.table.select({ where: { boardId }, orderBy: 'createdAt' });
  }

  listeningTo(event: DomainEvent): Webhook[] {
    return this.onBoard(event.boardId).filter((webhook) => webhook.events.includes(event.name));
  }

  protected override check(webhook: Webhook): void {
    if (!URL.canParse(webhook.url) || new URL(webhook.url).protocol !== 'https:') {
      throw new ValidationError('A webhook URL must be a valid https address', { url: webhook.url });
    }
  }
}

/** Every message owed to a receiver, with how far we got in delivering it. */
export class DeliveryRepository extends Repository<Delivery> {
  protected readonly kind = 'delivery';

  constructor(db: Database) {
    super(db, 'deliveries');
  }

  due(now: Timestamp, limit: number): Delivery[] {
    return this.table.select({
      where: { status: 'pending' },
      filter: (delivery) => delivery.nextAttemptAt <= now,
      orderBy: 'nextAttemptAt',
      limit,
    });
  }

  countPending(): number {
    return this.table.count({ where: { status: 'pending' } });
  }

  /** Drops settled deliveries older than the given moment; returns how many. */
  purgeSettled(before: Timestamp): number {
    const old = this.table.select({
      filter: (delivery) => delivery.status !== 'pending' && delivery.createdAt < before,
    });
    for (const delivery of old) this.delete(delivery.id);
    return old.length;
  }
}
