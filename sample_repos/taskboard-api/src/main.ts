import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { registerBoardRoutes } from './controllers/board-controller.js';
import { registerHealthRoutes } from './controllers/health-controller.js';
import { registerTaskRoutes } from './controllers/task-controller.js';
import { registerUserRoutes } from './controllers/user-controller.js';
import { startDeliverySweep } from './jobs/delivery-sweep.js';
import {
  ApiKeyService,
  AuditLog,
  BoardRepository,
  BoardService,
  CommentRepository,
  CommentService,
  Database,
  DeliveryRepository,
  EventBus,
  Mailer,
  NotificationService,
  PasswordResetService,
  Quota,
  RateLimiter,
  Router,
  SearchService,
  TaskRepository,
  TaskService,
  UserRepository,
  UserService,
  WebhookDispatcher,
  WebhookRepository,
  createAuthMiddleware,
  createErrorHandler,
  createLogger,
  createMailTransport,
  createRateLimit,
  createRequestLogger,
  loadConfig,
  setLogLevel,
} from './index.js';
import type { Config } from './index.js';

/** Everything with a lifetime as long as the process. Handlers reach services through it. */
export type AppContext = ReturnType<typeof buildApp>;

const log = createLogger('main');

export const app: AppContext = buildApp(loadConfig(process.env));

function buildApp(config: Config) {
  setLogLevel(config.logLevel);

  const db = new Database(config.dataFile);
  const userRows = new UserRepository(db);
  const boardRows = new BoardRepository(db);
  const taskRows = new TaskRepository(db);
  const commentRows = new CommentRepository(db);
  const webhookRows = new WebhookRepository(db);
  const deliveries = new DeliveryRepository(db);

  const audit = new AuditLog(db);
  const mailer = new Mailer(config.mail.from, createMailTransport(config.mail.spoolDir));
  const quota = new Quota(boardRows, taskRows, webhookRows, userRows);
  const webhooks = new WebhookDispatcher(webhookRows, deliveries);
  const bus = new EventBus(webhooks);

  const users = new UserService(userRows, quota, audit);
  const boards = new BoardService(boardRows, webhookRows, userRows, quota, audit);
  const tasks = new TaskService(boards, taskRows, commentRows, quota, bus);
  const comments = new CommentService(tasks, commentRows, bus);
  const search = new SearchService(boards, taskRows);
  const notifications = new NotificationService(db, userRows, mailer);
  search.attach(bus);
  notifications.attach(bus);

  const router = new Router();
  const services = {
    users,
    boards,
    tasks,
    comments,
    search,
    notifications,
    apiKeys: new ApiKeyService(db),
    passwordResets: new PasswordResetService(userRows, mailer, audit, config.mail),
  };

  // Who is calling is settled before the routes; the limiter comes ahead of
  // it, so that a flood of bad requests stays cheap.
  router.use(
    createRequestLogger(audit),
    createErrorHandler(),
    createRateLimit(new RateLimiter(config.rateLimit)),
    createAuthMiddleware(config.tokens, users),
  );
  registerHealthRoutes(router);
  registerUserRoutes(router);
  registerBoardRoutes(router);
  registerTaskRoutes(router);

  return { ...services, config, db, audit, webhooks, webhookRows, deliveries, router, startedAt: Date.now() };
}

function start(): void {
  const { config, db, router } = app;
  const server = createServer(router.listener({ trustProxy: config.trustProxy }));
  const stopSweep = startDeliverySweep(config.deliverySweepMs);
  server.listen(config.port, () => log.info('listening', { port: config.port }));

  const shutDown = (signal: NodeJS.Signals): void => {
    log.info('shutting down', { signal });
    stopSweep();
    server.close(() => db.flush());
  };
  process.once('SIGTERM', shutDown);
  process.once('SIGINT', shutDown);
}

// Only the process entry point listens; an import just gets the wired context.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) start();
