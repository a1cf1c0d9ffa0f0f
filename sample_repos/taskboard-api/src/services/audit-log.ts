import { randomUUID } from 'node:crypto';
import { Database, Table } from '../storage/database.js';
import type { Entity, Id, Timestamp } from '../types.js';

export interface AuditEntry extends Entity {
  action: string;
  actorId: Id;
  details: Record<string, unknown>;
}

/** A stretch of requests by one user from one address, without a long pause. */
export interface Session extends Entity {
  userId: Id;
  address: string;
  lastSeenAt: Timestamp;
  requests: number;
}

const SESSION_PAUSE_MS = 30 * 60 * 1000;

/**
 * Who did what, and when. Entries are only ever added. Failures of
 * authentication have no actor yet and are found in the service log instead.
 */
export class AuditLog {
  private readonly entries: Table<AuditEntry>;
  private readonly sessions: Table<Session>;

  constructor(db: Database) {
    this.entries = db.table('audit_entries');
    this.sessions = db.table('sessions');
  }

  record(action: string, actorId: Id, details: Record<string, unknown>): void {
    this.entries.insert({ id: randomUUID(), createdAt: Date.now(), action, actorId, details });
  }

  entriesBy(actorId: Id, limit = 100): AuditEntry[] {
    return this.entries.select({ where: { actorId }, orderBy: 'createdAt', descending: true, limit });
  }

  /** Extends the running session of this user, or starts a new one after a pause. */
  noteActivity(userId: Id, address: string, now: Timestamp): void {
    const [running] = this.sessions.select({
      where: { userId, address },
      filter: (session) => now - session.lastSeenAt < SESSION_PAUSE_MS,
      limit: 1,
    });
    if (running) {
      this.sessions.update(running.id, { lastSeenAt: now, requests: running.requests + 1 });
      return;
    }
    this.sessions.insert({
      id: randomUUID(),
      createdAt: now,
      userId,
      address,
      lastSeenAt: now,
      requests: 1,
    });
  }

  sessionsOf(userId: Id, limit = 20): Session[] {
    return this.sessions.select({ where: { userId }, orderBy: 'lastSeenAt', descending: true, limit });
  }
}
