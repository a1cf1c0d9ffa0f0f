import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { NotFoundError } from '../errors.js';
import type { Handler, HttpResponse, Middleware, RequestContext } from '../types.js';
import { readJsonBody } from './body.js';

interface Route {
  method: string;
  segments: string[];
  handler: Handler;
}

/** Matches requests to handlers and runs them inside the registered middleware. */
export class Router {
  private readonly middleware: Middleware[] = [];
  private readonly routes: Route[] = [];

  /** Middleware wraps in the order of registration: the first one is the outermost. */
  use(...middleware: Middleware[]): this {
    this.middleware.push(...middleware);
    return this;
  }

  get(pattern: string, handler: Handler): this {
    return this.add('GET', pattern, handler);
  }

  post(pattern: string, handler: Handler): this {
    return this.add('POST', pattern, handler);
  }

  patch(pattern: string, handler: Handler): this {
    return this.add('PATCH', pattern, handler);
  }

  delete(pattern: string, handler: Handler): this {
    return this.add('DELETE', pattern, handler);
  }

  handle(ctx: RequestContext): Promise<HttpResponse> {
    const run = async (index: number): Promise<HttpResponse> => {
      const layer = this.middleware[index];
      return layer ? layer(ctx, () => run(index + 1)) : this.dispatch(ctx);
    };
    return run(0);
  }

  /** Adapts the router to a `node:http` server. */
  listener(options: { trustProxy: boolean }): RequestListener {
    return (req, res) => {
      this.handle(createContext(req, options.trustProxy)).then(
        (response) => send(res, response),
        () => send(res, { status: 500 }),
      );
    };
  }

  private add(method: string, pattern: string, handler: Handler): this {
    this.routes.push({ method, segments: split(pattern), handler });
    return this;
  }

  private async dispatch(ctx: RequestContext): Promise<HttpResponse> {
    const path = split(ctx.path);
    for (const route of this.routes) {
      if (route.method !== ctx.method) continue;
      const params = match(route.segments, path);
      if (!params) continue;
      ctx.params = params;
      return route.handler(ctx);
    }
    throw new NotFoundError('route', `${ctx.method} ${ctx.path}`);
  }
}

function split(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function match(pattern: string[], path: string[]): Record<string, string> | undefined {
  if (pattern.length !== path.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = path[index] ?? '';
    if (expected.startsWith(':')) params[expected.slice(1)] = actual;
    else if (expected !== actual) return undefined;
  }
  return params;
}

function createContext(req: IncomingMessage, trustProxy: boolean): RequestContext {
  const url = new URL(req.url ?? '/', 'http://localhost');
  return {
    id: randomUUID(),
    method: req.method ?? 'GET',
    path: url.pathname,
    params: {},
    query: url.searchParams,
    headers: req.headers,
    remoteAddress: clientAddress(req, trustProxy),
    json: () => readJsonBody(req),
  };
}

/** The last entry of X-Forwarded-For is the one our own proxy added. */
function clientAddress(req: IncomingMessage, trustProxy: boolean): string {
  const forwarded = req.headers['x-forwarded-for'];
  if (trustProxy && typeof forwarded === 'string') {
    const last = forwarded.split(',').at(-1)?.trim();
    if (last) return last;
  }
  return req.socket.remoteAddress ?? 'unknown';
}

function send(res: ServerResponse, response: HttpResponse): void {
  const payload = response.body === undefined ? undefined : JSON.stringify(response.body);
  const type = payload === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  res.writeHead(response.status, { ...type, ...response.headers });
  res.end(payload);
}
