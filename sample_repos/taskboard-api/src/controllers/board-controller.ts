import { EVENT_NAMES, readFields, requireUser } from '../index.js';
import type { Handler, RequestContext, Router } from '../index.js';
import { app } from '../main.js';
import type { Id } from '../types.js';

/** Boards and what is configured for each: members, webhooks and API keys. */
export function registerBoardRoutes(router: Router): void {
  router
    .get('/boards', listBoards)
    .post('/boards', createBoard)
    .get('/boards/:boardId', showBoard)
    .patch('/boards/:boardId', renameBoard)
    .delete('/boards/:boardId', archiveBoard)
    .post('/boards/:boardId/members', addMember)
    .delete('/boards/:boardId/members/:memberId', removeMember)
    .get('/boards/:boardId/webhooks', listWebhooks)
    .post('/boards/:boardId/webhooks', addWebhook)
    .delete('/boards/:boardId/webhooks/:webhookId', removeWebhook)
    .get('/boards/:boardId/api-keys', listApiKeys)
    .post('/boards/:boardId/api-keys', issueApiKey)
    .delete('/boards/:boardId/api-keys/:keyId', revokeApiKey);
}

function boardIdOf(ctx: RequestContext): Id {
  return ctx.params.boardId ?? '';
}

const listBoards: Handler = (ctx) => ({
  status: 200,
  body: { boards: app.boards.boardsOf(requireUser(ctx)) },
});

const createBoard: Handler = async (ctx) => {
  const fields = await readFields(ctx);
  const board = app.boards.createBoard(requireUser(ctx), fields.text('name', 120));
  return { status: 201, body: board, headers: { location: `/boards/${board.id}` } };
};

const showBoard: Handler = (ctx) => ({
  status: 200,
  body: app.boards.openBoard(requireUser(ctx), boardIdOf(ctx)),
});

const renameBoard: Handler = async (ctx) => {
  const name = (await readFields(ctx)).text('name', 120);
  return { status: 200, body: app.boards.renameBoard(requireUser(ctx), boardIdOf(ctx), name) };
};

const archiveBoard: Handler = (ctx) => {
  app.boards.archiveBoard(requireUser(ctx), boardIdOf(ctx));
  return { status: 204 };
};

const addMember: Handler = async (ctx) => {
  const email = (await readFields(ctx)).text('email');
  return { status: 200, body: app.boards.addMember(requireUser(ctx), boardIdOf(ctx), email) };
};

const removeMember: Handler = (ctx) => {
  const memberId = ctx.params.memberId ?? '';
  return { status: 200, body: app.boards.removeMember(requireUser(ctx), boardIdOf(ctx), memberId) };
};

/** Secrets are left out: a receiver gets its secret once, when the webhook is added. */
const listWebhooks: Handler = (ctx) => {
  const board = app.boards.openOwnBoard(requireUser(ctx), boardIdOf(ctx));
  const webhooks = app.webhookRows.onBoard(board.id).map(({ secret: _, ...visible }) => visible);
  return { status: 200, body: { webhooks } };
};

const addWebhook: Handler = async (ctx) => {
  const fields = await readFields(ctx);
  const url = fields.text('url', 2_000);
  const events = fields.listOf('events', EVENT_NAMES);
  const webhook = app.boards.addWebhook(requireUser(ctx), boardIdOf(ctx), url, events);
  return { status: 201, body: webhook };
};

const removeWebhook: Handler = (ctx) => {
  app.boards.removeWebhook(requireUser(ctx), boardIdOf(ctx), ctx.params.webhookId ?? '');
  return { status: 204 };
};

const listApiKeys: Handler = (ctx) => {
  const board = app.boards.openOwnBoard(requireUser(ctx), boardIdOf(ctx));
  return { status: 200, body: { apiKeys: app.apiKeys.list(board.id) } };
};

const issueApiKey: Handler = async (ctx) => {
  const board = app.boards.openOwnBoard(requireUser(ctx), boardIdOf(ctx));
  const label = (await readFields(ctx)).text('label', 60);
  return { status: 201, body: app.apiKeys.issue(board.id, label) };
};

const revokeApiKey: Handler = (ctx) => {
  const board = app.boards.openOwnBoard(requireUser(ctx), boardIdOf(ctx));
  app.apiKeys.revoke(board.id, ctx.params.keyId ?? '');
  return { status: 204 };
};
