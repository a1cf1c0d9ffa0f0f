import { ConflictError, ValidationError } from '../errors.js';
import type { Id, User } from '../types.js';
import { Database } from './database.js';
import { Repository } from './repository.js';

export class UserRepository extends Repository<User> {
  protected readonly kind = 'user';

  constructor(db: Database) {
    super(db, 'users');
  }

  findBySubject(subject: string): User | undefined {
    return this.table.select({ where: { subject }, limit: 1 })[0];
  }

  /** E-mail addresses are compared without case, as users type them either way. */
  findByEmail(email: string): User | undefined {
    const wanted = normalise(email);
    return this.table.select({ filter: (user) => normalise(user.email) === wanted, limit: 1 })[0];
  }

  findMany(ids: readonly Id[]): User[] {
    const wanted = new Set(ids);
    return this.table.select({ filter: (user) => wanted.has(user.id), orderBy: 'displayName' });
  }

  protected override check(user: User): void {
    if (!user.email.includes('@')) throw new ValidationError('A user needs an e-mail address');
    const holder = this.findByEmail(user.email);
    if (holder && holder.id !== user.id) {
      throw new ConflictError('Another user has this e-mail address already');
    }
  }
}

function normalise(email: string): string {
  return email.trim().toLowerCase();
}
