import { ValidationError } from '../errors.js';
import type { Board, Id } from '../types.js';
import { Database } from './database.js';
import { Repository } from './repository.js';

export class BoardRepository extends Repository<Board> {
  protected readonly kind = 'board';

  constructor(db: Database) {
    super(db, 'boards');
  }

  /** Boards a user owns or was invited to, newest first, without archived ones. */
  visibleTo(userId: Id): Board[] {
    return this.table.select({
      filter: (board) => !board.archivedAt && board.memberIds.includes(userId),
      orderBy: 'createdAt',
      descending: true,
    });
  }

  /** Archived boards do not count: archiving is how an owner makes room. */
  countOwnedBy(userId: Id): number {
    return this.table.count({ where: { ownerId: userId }, filter: (board) => !board.archivedAt });
  }

  protected override check(board: Board): void {
    if (!board.memberIds.includes(board.ownerId)) {
      throw new ValidationError('The owner of a board is always one of its members');
    }
  }
}
