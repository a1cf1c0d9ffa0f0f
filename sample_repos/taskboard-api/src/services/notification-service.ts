import { NotFoundError } from '../errors.js';
import EventBus from '../events/event-bus.js';
import { Mailer } from '../mail/mailer.js';
import { Database } from '../storage/database.js';
import { Repository } from '../storage/repository.js';
import { UserRepository } from '../storage/user-repository.js';
import type { DomainEvent, Entity, Id, User } from '../types.js';

export interface Notification extends Entity {
  userId: Id;
  eventId: Id;
  text: string;
  readAt?: number;
}

class NotificationRepository extends Repository<Notification> {
  protected readonly kind = 'notification';

  constructor(db: Database) {
    super(db, 'notifications');
  }

  newestFor(userId: Id, limit: number): Notification[] {
    return this.table.select({ where: { userId }, orderBy: 'createdAt', descending: true, limit });
  }
}

/** In-app notices about tasks a user is assigned to, and e-mail for those who want it. */
export class NotificationService {
  private readonly notifications: NotificationRepository;

  constructor(
    db: Database,
    private readonly users: UserRepository,
    private readonly mailer: Mailer,
  ) {
    this.notifications = new NotificationRepository(db);
  }

  attach(bus: EventBus): void {
    bus.subscribe(['task.created', 'task.updated', 'comment.added'], (event) => this.notify(event));
  }

  inbox(user: User, limit = 30): Notification[] {
    return this.notifications.newestFor(user.id, limit);
  }

  markRead(user: User, notificationId: Id): void {
    const notification = this.notifications.require(notificationId);
    if (notification.userId !== user.id) throw new NotFoundError('notification', notificationId);
    this.notifications.update(notificationId, { readAt: Date.now() });
  }

  /** Nobody is told about what they did themselves. */
  private notify(event: DomainEvent): void {
    const { assigneeId } = event.task;
    if (!assigneeId || assigneeId === event.actorId) return;
    const recipient = this.users.find(assigneeId);
    if (!recipient || recipient.deactivatedAt) return;

    const text = this.describe(event);
    this.notifications.create({ userId: recipient.id, eventId: event.id, text });
    if (recipient.emailNotifications) {
      this.mailer.send({ to: recipient.email, subject: `[Taskboard] ${event.task.title}`, text });
    }
  }

  private describe(event: DomainEvent): string {
    const actor = this.users.find(event.actorId)?.displayName ?? 'Someone';
    switch (event.name) {
      case 'task.created':
        return `${actor} gave you a new task: ${event.task.title}`;
      case 'comment.added':
        return `${actor} commented on ${event.task.title}: ${event.comment?.body ?? ''}`;
      default:
        return `${actor} changed ${event.task.title}, which is now "${event.task.status}"`;
    }
  }
}
