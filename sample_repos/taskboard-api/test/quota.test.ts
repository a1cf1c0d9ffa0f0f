import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  AuditLog,
  BoardRepository,
  BoardService,
  Database,
  Quota,
  QuotaExceededError,
  TaskRepository,
  UserRepository,
  WebhookRepository,
} from '../src/index.js';
import type { PlanId, User } from '../src/index.js';

describe('plan limits', () => {
  let users: UserRepository;
  let quota: Quota;
  let boards: BoardService;

  beforeEach(() => {
    const db = new Database();
    const boardRows = new BoardRepository(db);
    const webhooks = new WebhookRepository(db);
    users = new UserRepository(db);
    quota = new Quota(boardRows, new TaskRepository(db), webhooks, users);
    boards = new BoardService(boardRows, webhooks, users, quota, new AuditLog(db));
  });

  function newUser(planId: PlanId, name = 'ada'): User {
    return users.create({
      subject: name,
      email: `${name}@example.com`,
      displayName: name,
      planId,
      emailNotifications: false,
    });
  }

  function createBoards(owner: User, count: number): void {
    for (let n = 1; n <= count; n += 1) boards.createBoard(owner, `Board ${n}`);
  }

  it('stops the free plan at three boards', () => {
    const owner = newUser('free');
    createBoards(owner, 3);
    assert.throws(() => boards.createBoard(owner, 'One more'), QuotaExceededError);
  });

  it('makes room when a board is archived', () => {
    const owner = newUser('free');
    createBoards(owner, 3);
    boards.archiveBoard(owner, boards.boardsOf(owner)[0]?.id ?? '');
    assert.doesNotThrow(() => boards.createBoard(owner, 'One more'));
  });

  it('does not limit the boards of the business plan', () => {
    const owner = newUser('business');
    createBoards(owner, 40);
    assert.equal(boards.boardsOf(owner).length, 40);
  });

  it('charges members to the plan of the owner', () => {
    const owner = newUser('free');
    const board = boards.createBoard(owner, 'Crowded');
    for (let n = 1; n <= 4; n += 1) {
      boards.addMember(owner, board.id, newUser('business', `guest${n}`).email);
    }
    const late = newUser('business', 'late');
    assert.throws(() => boards.addMember(owner, board.id, late.email), QuotaExceededError);
  });

  it('refuses a plan that is too small for what exists', () => {
    const owner = newUser('team');
    createBoards(owner, 4);
    assert.throws(() => quota.assertPlanFits(owner, 'free'), QuotaExceededError);
  });
});
