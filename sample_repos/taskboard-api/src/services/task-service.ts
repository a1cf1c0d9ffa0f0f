import { Quota } from '../billing/quota.js';
import { NotFoundError, ValidationError } from '../errors.js';
import EventBus from '../events/event-bus.js';
import { CommentRepository, TaskRepository } from '../storage/task-repository.js';
import type { Board, EventName, Id, Task, TaskStatus, User } from '../types.js';
import { BoardService } from './board-service.js';

export interface TaskDraft {
  title: string;
  description?: string;
  assigneeId?: Id;
}

export interface TaskChanges extends Partial<TaskDraft> {
  status?: TaskStatus;
}

/** Changes to tasks. Each change is announced on the event bus after it is stored. */
export class TaskService {
  constructor(
    private readonly boards: BoardService,
    private readonly tasks: TaskRepository,
    private readonly comments: CommentRepository,
    private readonly quota: Quota,
    private readonly bus: EventBus,
  ) {}

  listTasks(user: User, boardId: Id, status?: TaskStatus): Task[] {
    this.boards.openBoard(user, boardId);
    return this.tasks.onBoard(boardId, status);
  }

  /** A task is visible to the members of its board, and to nobody else. */
  openTask(user: User, taskId: Id): Task {
    const task = this.tasks.require(taskId);
    try {
      this.boards.openBoard(user, task.boardId);
    } catch {
      throw new NotFoundError('task', taskId);
    }
    return task;
  }

  createTask(user: User, boardId: Id, draft: TaskDraft): Task {
    const board = this.boards.openBoard(user, boardId);
    this.quota.assertCanAddTask(board);
    assertAssignable(board, draft.assigneeId);
    const task = this.tasks.create({
      boardId,
      title: draft.title,
      description: draft.description ?? '',
      status: 'todo',
      assigneeId: draft.assigneeId,
      updatedAt: Date.now(),
    });
    this.announce('task.created', user, task);
    return task;
  }

  updateTask(user: User, taskId: Id, changes: TaskChanges): Task {
    const before = this.openTask(user, taskId);
    assertAssignable(this.boards.openBoard(user, before.boardId), changes.assigneeId);
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    if (given.length === 0) return before;
    const task = this.tasks.update(taskId, { ...Object.fromEntries(given), updatedAt: Date.now() });
    this.announce('task.updated', user, task);
    return task;
  }

  deleteTask(user: User, taskId: Id): void {
    const task = this.openTask(user, taskId);
    this.comments.deleteForTask(taskId);
    this.tasks.delete(taskId);
    this.announce('task.deleted', user, task);
  }

  /** For the public feed, which checks access by key rather than by member. */
  recentTasks(boardId: Id, limit = 50): Task[] {
    return this.tasks.recentlyChanged(boardId, limit);
  }

  private announce(name: EventName, actor: User, task: Task): void {
    this.bus.publish({ name, boardId: task.boardId, actorId: actor.id, task });
  }
}

function assertAssignable(board: Board, assigneeId: Id | undefined): void {
  if (assigneeId !== undefined && !board.memberIds.includes(assigneeId)) {
    throw new ValidationError('A task can be assigned to members of its board only', { assigneeId });
  }
}
