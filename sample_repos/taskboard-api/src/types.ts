/** Shapes shared by every layer of the service. No behaviour lives here. */
import type { IncomingHttpHeaders } from 'node:http';

export type Id = string;

/** Milliseconds since the Unix epoch. */
export type Timestamp = number;

export interface Entity {
  id: Id;
  createdAt: Timestamp;
}

export type PlanId = 'free' | 'team' | 'business';

export interface User extends Entity {
  /** The subject the identity provider knows this person by. */
  subject: string;
  email: string;
  displayName: string;
  planId: PlanId;
  emailNotifications: boolean;
  deactivatedAt?: Timestamp;
}

export interface Board extends Entity {
  ownerId: Id;
  name: string;
  memberIds: Id[];
  archivedAt?: Timestamp;
}

export const TASK_STATUSES = ['todo', 'doing', 'done'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export interface Task extends Entity {
  boardId: Id;
  title: string;
  description: string;
  status: TaskStatus;
  assigneeId?: Id;
  updatedAt: Timestamp;
}

export interface Comment extends Entity {
  taskId: Id;
  writerId: Id;
  body: string;
}

export const EVENT_NAMES = ['task.created', 'task.updated', 'task.deleted', 'comment.added'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** Something that took place on a board and that others may want to hear about. */
export interface DomainEvent {
  id: Id;
  name: EventName;
  boardId: Id;
  actorId: Id;
  occurredAt: Timestamp;
  task: Task;
  comment?: Comment;
}

export interface Webhook extends Entity {
  boardId: Id;
  url: string;
  secret: string;
  events: EventName[];
}

export type DeliveryStatus = 'pending' | 'delivered' | 'abandoned';

export interface Delivery extends Entity {
  webhookId: Id;
  event: DomainEvent;
  status: DeliveryStatus;
  attempts: number;
  nextAttemptAt: Timestamp;
  lastError?: string;
}

/** Claims of a bearer token, named as they appear on the wire. */
export interface TokenClaims {
  sub: string;
  iss: string;
  aud: string | string[];
  exp: number;
  nbf?: number;
  email?: string;
  name?: string;
}

export interface TokenSettings {
  issuer: string;
  audience: string;
  /** Shared secrets by key id, so that keys can be rotated without downtime. */
  keys: ReadonlyMap<string, string>;
  clockSkewSeconds: number;
}

/** Result of user authentication, kept on the request for later handlers. */
export interface SignedIn {
  user: User;
  claims: TokenClaims;
}

/** Finds the account that belongs to a verified set of claims. */
export interface UserDirectory {
  resolveUser(claims: TokenClaims): User | undefined;
}

export interface RequestContext {
  id: string;
  method: string;
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  remoteAddress: string;
  /** Reads and parses the request body; rejects when it is not JSON. */
  json(): Promise<unknown>;
  authentication?: SignedIn;
}

export interface HttpResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Next = () => Promise<HttpResponse>;
export type Middleware = (ctx: RequestContext, next: Next) => Promise<HttpResponse>;
export type Handler = (ctx: RequestContext) => HttpResponse | Promise<HttpResponse>;
