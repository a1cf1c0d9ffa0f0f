import { ForbiddenError, NotFoundError } from '../errors.js';
import EventBus from '../events/event-bus.js';
import { CommentRepository } from '../storage/task-repository.js';
import type { Comment, Id, User } from '../types.js';
import { TaskService } from './task-service.js';

export class CommentService {
  constructor(
    private readonly tasks: TaskService,
    private readonly comments: CommentRepository,
    private readonly bus: EventBus,
  ) {}

  listComments(user: User, taskId: Id): Comment[] {
    this.tasks.openTask(user, taskId);
    return this.comments.onTask(taskId);
  }

  addComment(user: User, taskId: Id, body: string): Comment {
    const task = this.tasks.openTask(user, taskId);
    const comment = this.comments.create({ taskId, writerId: user.id, body });
    this.bus.publish({
      name: 'comment.added',
      boardId: task.boardId,
      actorId: user.id,
      task,
      comment,
    });
    return comment;
  }

  /** Only the person who wrote a comment can take it back; boards have no moderators. */
  deleteComment(user: User, taskId: Id, commentId: Id): void {
    this.tasks.openTask(user, taskId);
    const comment = this.comments.require(commentId);
    if (comment.taskId !== taskId) throw new NotFoundError('comment', commentId);
    if (comment.writerId !== user.id) throw new ForbiddenError('This comment is not yours');
    this.comments.delete(commentId);
  }
}
