import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { encodeBase64Url, hmacDigest, setLogLevel } from '../src/index.js';
import type { HttpResponse } from '../src/index.js';
import { app } from '../src/main.js';

function tokenFor(subject: string): string {
  const { issuer, audience, keys } = app.config.tokens;
  const [[kid, secret] = ['', '']] = keys;
  const exp = Math.floor(Date.now() / 1000) + 300;
  const claims = { sub: subject, iss: issuer, aud: audience, exp, email: `${subject}@example.com` };
  const text = [{ alg: 'HS256', kid }, claims].map((part) => encodeBase64Url(JSON.stringify(part))).join('.');
  return `${text}.${encodeBase64Url(hmacDigest('sha256', secret, text))}`;
}

function call(method: string, target: string, options: { as?: string; body?: unknown; key?: string } = {}) {
  const url = new URL(target, 'http://localhost');
  return app.router.handle({
    id: 'request-1',
    method,
    path: url.pathname,
    params: {},
    query: url.searchParams,
    headers: {
      ...(options.as && { authorization: `Bearer ${tokenFor(options.as)}` }),
      ...(options.key && { 'x-api-key': options.key }),
    },
    remoteAddress: '127.0.0.1',
    json: async () => options.body,
  });
}

function field(response: HttpResponse, name: string): string {
  return String((response.body as Record<string, unknown>)[name]);
}

describe('the HTTP API', () => {
  before(() => setLogLevel('error'));

  it('answers health checks without a token', async () => {
    assert.equal((await call('GET', '/health')).status, 200);
    assert.equal((await call('GET', '/ready')).status, 200);
  });

  it('asks for a token everywhere else', async () => {
    const response = await call('GET', '/boards');
    assert.equal(response.status, 401);
    assert.equal(response.headers?.['www-authenticate'], 'Bearer');
  });

  it('carries a task from creation to search', async () => {
    const board = await call('POST', '/boards', { as: 'grace', body: { name: 'Compiler' } });
    assert.equal(board.status, 201);
    const path = `/boards/${field(board, 'id')}/tasks`;
    const task = await call('POST', path, { as: 'grace', body: { title: 'Write the linker' } });
    assert.equal(task.status, 201);

    const found = await call('GET', '/search?q=linker', { as: 'grace' });
    assert.match(JSON.stringify(found.body), /Write the linker/);
    const others = await call('GET', '/search?q=linker', { as: 'mallory' });
    assert.deepEqual(others.body, { hits: [] });
  });

  it('hides boards from those who are not members', async () => {
    const board = await call('POST', '/boards', { as: 'grace', body: { name: 'Private' } });
    assert.equal((await call('GET', `/boards/${field(board, 'id')}`, { as: 'mallory' })).status, 404);
  });

  it('opens a feed to the key of its board', async () => {
    const board = await call('POST', '/boards', { as: 'joan', body: { name: 'Public' } });
    const boardId = field(board, 'id');
    const issued = await call('POST', `/boards/${boardId}/api-keys`, { as: 'joan', body: { label: 'wall' } });
    const feed = `/feeds/boards/${boardId}`;
    assert.equal((await call('GET', feed, { key: field(issued, 'key') })).status, 200);
    assert.equal((await call('GET', feed, { key: 'tbk_guess' })).status, 404);
  });
});
