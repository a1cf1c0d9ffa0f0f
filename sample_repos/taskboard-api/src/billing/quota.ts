import { QuotaExceededError } from '../errors.js';
import { BoardRepository } from '../storage/board-repository.js';
import { TaskRepository } from '../storage/task-repository.js';
import { UserRepository } from '../storage/user-repository.js';
import { WebhookRepository } from '../storage/webhook-repository.js';
import type { Board, PlanId, User } from '../types.js';
import * as plans from './plans.js';

/**
 * Compares current usage with the limits of a plan. What is inside a board is
 * charged to the plan of its owner, whoever adds it.
 */
export class Quota {
  constructor(
    private readonly boards: BoardRepository,
    private readonly tasks: TaskRepository,
    private readonly webhooks: WebhookRepository,
    private readonly users: UserRepository,
  ) {}

  assertCanCreateBoard(owner: User): void {
    const { maxBoards } = plans.limitsFor(owner.planId);
    refuseAbove(maxBoards, this.boards.countOwnedBy(owner.id) + 1, 'boards', owner.planId);
  }

  assertCanAddMember(board: Board): void {
    const planId = this.planOf(board);
    const { maxMembersPerBoard } = plans.limitsFor(planId);
    refuseAbove(maxMembersPerBoard, board.memberIds.length + 1, 'members', planId);
  }

  assertCanAddTask(board: Board): void {
    const planId = this.planOf(board);
    const { maxTasksPerBoard } = plans.limitsFor(planId);
    refuseAbove(maxTasksPerBoard, this.tasks.countOnBoard(board.id) + 1, 'tasks', planId);
  }

  assertCanAddWebhook(board: Board): void {
    const planId = this.planOf(board);
    const { maxWebhooksPerBoard } = plans.limitsFor(planId);
    refuseAbove(maxWebhooksPerBoard, this.webhooks.onBoard(board.id).length + 1, 'webhooks', planId);
  }

  /** A smaller plan is possible only once the boards that exist fit into it. */
  assertPlanFits(owner: User, planId: PlanId): void {
    const { maxBoards } = plans.limitsFor(planId);
    refuseAbove(maxBoards, this.boards.countOwnedBy(owner.id), 'boards', planId);
  }

  private planOf(board: Board): PlanId {
    return this.users.require(board.ownerId).planId;
  }
}

function refuseAbove(limit: number, wanted: number, what: string, planId: PlanId): void {
  if (wanted <= limit) return;
  throw new QuotaExceededError(`The ${planId} plan allows ${limit} ${what}`, { limit, wanted, planId });
}
