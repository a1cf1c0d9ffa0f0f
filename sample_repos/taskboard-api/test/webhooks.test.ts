import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Database,
  DeliveryRepository,
  EventBus,
  WebhookDispatcher,
  WebhookRepository,
  hmacDigest,
  planRetry,
  setLogLevel,
} from '../src/index.js';
import type { OutgoingRequest, Task } from '../src/index.js';

setLogLevel('error');

const HOUR = 60 * 60 * 1000;

function setUp(answers: number[]) {
  const db = new Database();
  const webhooks = new WebhookRepository(db);
  const deliveries = new DeliveryRepository(db);
  const sent: OutgoingRequest[] = [];
  const dispatcher = new WebhookDispatcher(webhooks, deliveries, async (request) => {
    sent.push(request);
    return answers.shift() ?? 200;
  });
  webhooks.create({ boardId: 'b1', url: 'https://hook.example/in', secret: 's3', events: ['task.updated'] });
  const bus = new EventBus(dispatcher);
  const publish = async (name: 'task.created' | 'task.updated'): Promise<void> => {
    bus.publish({ name, boardId: 'b1', actorId: 'u1', task });
    await nextTurn();
  };
  return { dispatcher, deliveries, sent, publish };
}

const task: Task = {
  id: 't1',
  createdAt: 0,
  boardId: 'b1',
  title: 'Paint the fence',
  description: '',
  status: 'doing',
  updatedAt: 0,
};

describe('webhook deliveries', () => {
  it('go out signed, and only for events that were asked for', async () => {
    const { sent, publish } = setUp([]);
    await publish('task.created');
    await publish('task.updated');
    assert.equal(sent.length, 1);
    const [request] = sent;
    const text = `${request?.headers['x-taskboard-delivery']}.${request?.body}`;
    const expected = hmacDigest('sha256', 's3', text).toString('hex');
    assert.equal(request?.headers['x-taskboard-signature'], `sha256=${expected}`);
  });

  it('are tried again once their delay is over', async () => {
    const { dispatcher, deliveries, sent, publish } = setUp([503]);
    await publish('task.updated');
    assert.equal(deliveries.countPending(), 1);
    assert.equal(await dispatcher.retryDue(Date.now()), 0);
    assert.equal(await dispatcher.retryDue(Date.now() + HOUR), 1);
    assert.equal(sent.length, 2);
    assert.equal(deliveries.countPending(), 0);
  });

  it('are abandoned when the receiver refuses for good', async () => {
    const { deliveries, publish } = setUp([410]);
    await publish('task.updated');
    assert.equal(deliveries.countPending(), 0);
  });
});

describe('planRetry', () => {
  it('doubles the delay up to an hour and then gives up', () => {
    const plan = (attempts: number) => planRetry(attempts, { status: 500 }, 0, () => 0);
    assert.deepEqual(plan(1), { retryAt: 10_000 });
    assert.deepEqual(plan(3), { retryAt: 40_000 });
    assert.deepEqual(plan(11), { retryAt: HOUR });
    assert.ok('giveUp' in plan(12));
  });
});
