import { Quota } from '../billing/quota.js';
import { ConflictError, ForbiddenError, NotFoundError } from '../errors.js';
import { randomToken } from '../security/crypto-utils.js';
import { BoardRepository } from '../storage/board-repository.js';
import { UserRepository } from '../storage/user-repository.js';
import { WebhookRepository } from '../storage/webhook-repository.js';
import type { Board, EventName, Id, User, Webhook } from '../types.js';
import { AuditLog } from './audit-log.js';

export class BoardService {
  constructor(
    private readonly boards: BoardRepository,
    private readonly webhooks: WebhookRepository,
    private readonly users: UserRepository,
    private readonly quota: Quota,
    private readonly audit: AuditLog,
  ) {}

  boardsOf(user: User): Board[] {
    return this.boards.visibleTo(user.id);
  }

  createBoard(owner: User, name: string): Board {
    this.quota.assertCanCreateBoard(owner);
    const board = this.boards.create({ ownerId: owner.id, name, memberIds: [owner.id] });
    this.audit.record('board.created', owner.id, { boardId: board.id });
    return board;
  }

  /** The board, if this user may see it. Others learn no more than that it is not there. */
  openBoard(user: User, boardId: Id): Board {
    const board = this.boards.find(boardId);
    if (!board || board.archivedAt || !board.memberIds.includes(user.id)) {
      throw new NotFoundError('board', boardId);
    }
    return board;
  }

  renameBoard(user: User, boardId: Id, name: string): Board {
    this.openOwnBoard(user, boardId);
    return this.boards.update(boardId, { name });
  }

  archiveBoard(user: User, boardId: Id): void {
    this.openOwnBoard(user, boardId);
    this.boards.update(boardId, { archivedAt: Date.now() });
    this.audit.record('board.archived', user.id, { boardId });
  }

  addMember(user: User, boardId: Id, email: string): Board {
    const board = this.openOwnBoard(user, boardId);
    const invited = this.users.findByEmail(email);
    if (!invited) throw new NotFoundError('user', email);
    if (board.memberIds.includes(invited.id)) throw new ConflictError('Already a member of this board');
    this.quota.assertCanAddMember(board);
    this.audit.record('board.member-added', user.id, { boardId, memberId: invited.id });
    return this.boards.update(boardId, { memberIds: [...board.memberIds, invited.id] });
  }

  removeMember(user: User, boardId: Id, memberId: Id): Board {
    const board = this.openOwnBoard(user, boardId);
    if (memberId === board.ownerId) throw new ConflictError('The owner cannot leave the board');
    this.audit.record('board.member-removed', user.id, { boardId, memberId });
    return this.boards.update(boardId, { memberIds: board.memberIds.filter((id) => id !== memberId) });
  }

  addWebhook(user: User, boardId: Id, url: string, events: EventName[]): Webhook {
    const board = this.openOwnBoard(user, boardId);
    this.quota.assertCanAddWebhook(board);
    this.audit.record('board.webhook-added', user.id, { boardId, url });
    return this.webhooks.create({ boardId, url, events, secret: randomToken() });
  }

  removeWebhook(user: User, boardId: Id, webhookId: Id): void {
    this.openOwnBoard(user, boardId);
    if (this.webhooks.require(webhookId).boardId !== boardId) {
      throw new NotFoundError('webhook', webhookId);
    }
    this.webhooks.delete(webhookId);
    this.audit.record('board.webhook-removed', user.id, { boardId, webhookId });
  }

  openOwnBoard(user: User, boardId: Id): Board {
    const board = this.openBoard(user, boardId);
    if (board.ownerId !== user.id) throw new ForbiddenError('Only the owner may do this');
    return board;
  }
}
