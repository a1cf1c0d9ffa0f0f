import { randomUUID } from 'node:crypto';
import { NotFoundError } from '../errors.js';
import type { Entity, Id } from '../types.js';
import { Database, Table } from './database.js';

/** What a caller supplies; the repository adds the id and the creation time. */
export type NewEntity<T extends Entity> = Omit<T, keyof Entity>;

/** Common part of all repositories. Subclasses add the queries their entity needs. */
export abstract class Repository<T extends Entity> {
  /** How this entity is called in messages to clients. */
  protected abstract readonly kind: string;
  protected readonly table: Table<T>;

  constructor(db: Database, tableName: string) {
    this.table = db.table<T>(tableName);
  }

  create(fields: NewEntity<T>): T {
    const entity = { ...fields, id: randomUUID(), createdAt: Date.now() } as unknown as T;
    this.check(entity);
    return this.table.insert(entity);
  }

  find(id: Id): T | undefined {
    return this.table.get(id);
  }

  require(id: Id): T {
    const entity = this.find(id);
    if (!entity) throw new NotFoundError(this.kind, id);
    return entity;
  }

  update(id: Id, changes: Partial<NewEntity<T>>): T {
    this.check({ ...this.require(id), ...changes });
    return this.table.update(id, changes as Partial<Omit<T, 'id'>>);
  }

  delete(id: Id): void {
    if (!this.table.delete(id)) throw new NotFoundError(this.kind, id);
  }

  /** Hook for rules that must hold for every stored row. */
  protected check(_entity: T): void {}
}
