import type { Comment, Id, Task, TaskStatus } from '../types.js';
import { Database } from './database.js';
import { Repository } from './repository.js';

export class TaskRepository extends Repository<Task> {
  protected readonly kind = 'task';

  constructor(db: Database) {
    super(db, 'tasks');
  }

  onBoard(boardId: Id, status?: TaskStatus): Task[] {
    const where = status ? { boardId, status } : { boardId };
    return this.table.select({ where, orderBy: 'createdAt' });
  }

  recentlyChanged(boardId: Id, limit: number): Task[] {
    return this.table.select({ where: { boardId }, orderBy: 'updatedAt', descending: true, limit });
  }

  countOnBoard(boardId: Id): number {
    return this.table.count({ where: { boardId } });
  }

  all(): Task[] {
    return this.table.select();
  }
}

/** Comments live and die with their task, hence the shared module. */
export class CommentRepository extends Repository<Comment> {
  protected readonly kind = 'comment';

  constructor(db: Database) {
    super(db, 'comments');
  }

  onTask(taskId: Id): Comment[] {
    return this.table.select({ where: { taskId }, orderBy: 'createdAt' });
  }

  deleteForTask(taskId: Id): void {
    for (const comment of this.onTask(taskId)) this.delete(comment.id);
  }
}
