import { randomUUID } from 'node:crypto';
import { createLogger } from '../logging.js';
import type { DomainEvent, EventName } from '../types.js';
import { WebhookDispatcher } from '../webhooks/webhook-dispatcher.js';

export type EventListener = (event: DomainEvent) => void;
export type NewEvent = Omit<DomainEvent, 'id' | 'occurredAt'>;

const log = createLogger('events');

/**
 * Tells the rest of the service what took place on a board.
 *
 * Webhooks are not an ordinary listener: what is owed to a receiver has to be
 * on record before `publish` returns, so the dispatcher is called first and
 * its failures reach the publisher. Listeners are best effort.
 */
export default class EventBus {
  private readonly listeners = new Map<EventName, EventListener[]>();

  constructor(private readonly webhooks: WebhookDispatcher) {}

  subscribe(names: readonly EventName[], listener: EventListener): void {
    for (const name of names) {
      this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
    }
  }

  publish(details: NewEvent): DomainEvent {
    const event: DomainEvent = { ...details, id: randomUUID(), occurredAt: Date.now() };
    this.webhooks.enqueue(event);
    this.notifyListeners(event);
    return event;
  }

  private notifyListeners(event: DomainEvent): void {
    for (const listener of this.listeners.get(event.name) ?? []) {
      try {
        listener(event);
      } catch (error) {
        log.error('listener failed', { event: event.name, eventId: event.id, error });
      }
    }
  }
}
