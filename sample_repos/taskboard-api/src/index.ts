/**
 * Public surface of the service. Controllers, jobs and scripts import from
 * here; modules below this line import each other directly.
 */
export * from './types.js';
export * from './errors.js';
export { loadConfig } from './config.js';
export type { Config } from './config.js';
export { createLogger, setLogLevel } from './logging.js';
export type { Logger, LogLevel } from './logging.js';

export { Router } from './http/router.js';
export { FieldReader, readFields } from './http/body.js';

export { createAuthMiddleware, requireUser } from './middleware/auth-middleware.js';
export { createErrorHandler } from './middleware/error-handler.js';
export { RateLimiter, createRateLimit } from './middleware/rate-limit.js';
export { createRequestLogger } from './middleware/request-logger.js';

export { ApiKeyService } from './security/api-keys.js';
export { encodeBase64Url, hmacDigest } from './security/crypto-utils.js';
export { TokenRejectedError, verifyToken } from './security/jwt-verifier.js';

export { Database } from './storage/database.js';
export { Repository } from './storage/repository.js';
export { BoardRepository } from './storage/board-repository.js';
export { CommentRepository, TaskRepository } from './storage/task-repository.js';
export { UserRepository } from './storage/user-repository.js';
export { DeliveryRepository, WebhookRepository } from './storage/webhook-repository.js';

export * as plans from './billing/plans.js';
export { Quota } from './billing/quota.js';

export { default as EventBus } from './events/event-bus.js';
export { WebhookDispatcher } from './webhooks/webhook-dispatcher.js';
export type { OutgoingRequest, Transport } from './webhooks/webhook-dispatcher.js';
export { planRetry } from './webhooks/retry-policy.js';

export { Mailer, createMailTransport } from './mail/mailer.js';
export { AuditLog } from './services/audit-log.js';
export { BoardService } from './services/board-service.js';
export { CommentService } from './services/comment-service.js';
export { NotificationService } from './services/notification-service.js';
export { PasswordResetService } from './services/password-reset.js';
export { SearchService } from './services/search-service.js';
export { TaskService } from './services/task-service.js';
export { UserService } from './services/user-service.js';
