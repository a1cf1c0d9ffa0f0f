import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ConflictError, NotFoundError } from '../errors.js';
import type { Entity, Id } from '../types.js';

export interface Query<T> {
  where?: Partial<T>;
  filter?: (row: T) => boolean;
  orderBy?: keyof T;
  descending?: boolean;
  limit?: number;
}

/** Rows of one kind. Rows are copied on the way in and out, as a real database would. */
export class Table<T extends Entity> {
  private readonly rows = new Map<Id, T>();

  constructor(readonly name: string) {}

  insert(row: T): T {
    if (this.rows.has(row.id)) throw new ConflictError(`Duplicate id in ${this.name}`, { id: row.id });
    this.rows.set(row.id, structuredClone(row));
    return row;
  }

  get(id: Id): T | undefined {
    const row = this.rows.get(id);
    return row && structuredClone(row);
  }

  update(id: Id, changes: Partial<Omit<T, 'id'>>): T {
    const row = this.rows.get(id);
    if (!row) throw new NotFoundError(this.name, id);
    const changed: T = { ...row, ...structuredClone(changes) };
    this.rows.set(id, changed);
    return structuredClone(changed);
  }

  delete(id: Id): boolean {
    return this.rows.delete(id);
  }

  select(query: Query<T> = {}): T[] {
    const { orderBy, limit } = query;
    const found = this.matching(query);
    if (orderBy !== undefined) {
      const sign = query.descending ? -1 : 1;
      found.sort((a, b) => (a[orderBy] < b[orderBy] ? -sign : a[orderBy] > b[orderBy] ? sign : 0));
    }
    return structuredClone(limit === undefined ? found : found.slice(0, limit));
  }

  count(query: Pick<Query<T>, 'where' | 'filter'> = {}): number {
    return this.matching(query).length;
  }

  private matching({ where = {}, filter }: Query<T>): T[] {
    const conditions = Object.entries(where) as Array<[keyof T, unknown]>;
    return [...this.rows.values()].filter(
      (row) => conditions.every(([column, value]) => row[column] === value) && (!filter || filter(row)),
    );
  }
}

/**
 * An embedded store: tables in memory, optionally saved as one JSON snapshot.
 * The interface is kept close to SQL on purpose, so that a real database can
 * take its place without changes outside `storage/`.
 */
export class Database {
  private readonly tables = new Map<string, Table<Entity>>();
  private readonly snapshot: Record<string, Entity[]>;

  constructor(private readonly file?: string) {
    this.snapshot = file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  }

  table<T extends Entity>(name: string): Table<T> {
    let table = this.tables.get(name);
    if (!table) {
      table = new Table<Entity>(name);
      for (const row of this.snapshot[name] ?? []) table.insert(row);
      this.tables.set(name, table);
    }
    return table as unknown as Table<T>;
  }

  /** Writes beside the old snapshot first: a crash must not leave half a file. */
  flush(): void {
    if (!this.file) return;
    const content: Record<string, Entity[]> = { ...this.snapshot };
    for (const [name, table] of this.tables) content[name] = table.select();
    const draft = `${this.file}.tmp`;
    writeFileSync(draft, JSON.stringify(content));
    renameSync(draft, this.file);
  }
}
