import { NotFoundError, TASK_STATUSES, readFields, requireUser } from '../index.js';
import type { Handler, Router, TaskStatus } from '../index.js';
import { app } from '../main.js';

/** Tasks, their comments, the search over them, and the public feed of a board. */
export function registerTaskRoutes(router: Router): void {
  router
    .get('/boards/:boardId/tasks', listTasks)
    .post('/boards/:boardId/tasks', createTask)
    .get('/tasks/:taskId', showTask)
    .patch('/tasks/:taskId', updateTask)
    .delete('/tasks/:taskId', deleteTask)
    .get('/tasks/:taskId/comments', listComments)
    .post('/tasks/:taskId/comments', addComment)
    .delete('/tasks/:taskId/comments/:commentId', deleteComment)
    .get('/search', searchTasks)
    .get('/feeds/boards/:boardId', showFeed);
}

const listTasks: Handler = (ctx) => {
  const wanted = ctx.query.get('status');
  const status: TaskStatus | undefined = TASK_STATUSES.find((known) => known === wanted);
  const tasks = app.tasks.listTasks(requireUser(ctx), ctx.params.boardId ?? '', status);
  return { status: 200, body: { tasks } };
};

const createTask: Handler = async (ctx) => {
  const fields = await readFields(ctx);
  const task = app.tasks.createTask(requireUser(ctx), ctx.params.boardId ?? '', {
    title: fields.text('title'),
    description: fields.optionalText('description', 20_000),
    assigneeId: fields.optionalText('assigneeId'),
  });
  return { status: 201, body: task, headers: { location: `/tasks/${task.id}` } };
};

const showTask: Handler = (ctx) => ({
  status: 200,
  body: app.tasks.openTask(requireUser(ctx), ctx.params.taskId ?? ''),
});

const updateTask: Handler = async (ctx) => {
  const fields = await readFields(ctx);
  const task = app.tasks.updateTask(requireUser(ctx), ctx.params.taskId ?? '', {
    title: fields.optionalText('title'),
    description: fields.optionalText('description', 20_000),
    status: fields.optionalOneOf('status', TASK_STATUSES),
    assigneeId: fields.optionalText('assigneeId'),
  });
  return { status: 200, body: task };
};

const deleteTask: Handler = (ctx) => {
  app.tasks.deleteTask(requireUser(ctx), ctx.params.taskId ?? '');
  return { status: 204 };
};

const listComments: Handler = (ctx) => ({
  status: 200,
  body: { comments: app.comments.listComments(requireUser(ctx), ctx.params.taskId ?? '') },
});

const addComment: Handler = async (ctx) => {
  const body = (await readFields(ctx)).text('body', 5_000);
  return { status: 201, body: app.comments.addComment(requireUser(ctx), ctx.params.taskId ?? '', body) };
};

const deleteComment: Handler = (ctx) => {
  const { taskId = '', commentId = '' } = ctx.params;
  app.comments.deleteComment(requireUser(ctx), taskId, commentId);
  return { status: 204 };
};

const searchTasks: Handler = (ctx) => ({
  status: 200,
  body: { hits: app.search.search(requireUser(ctx), ctx.query.get('q') ?? '') },
});

/** Integrations read this one with a key of the board instead of a user's token. */
const showFeed: Handler = (ctx) => {
  const { boardId = '' } = ctx.params;
  const key = ctx.headers['x-api-key'];
  if (typeof key !== 'string' || !app.apiKeys.opensBoard(key, boardId)) {
    throw new NotFoundError('feed', boardId);
  }
  return { status: 200, body: { tasks: app.tasks.recentTasks(boardId) } };
};
