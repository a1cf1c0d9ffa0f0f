import { plans, readFields, requireUser } from '../index.js';
import type { Handler, Router } from '../index.js';
import { app } from '../main.js';

/** Everything under `/me`, plus the password reset e-mail. */
export function registerUserRoutes(router: Router): void {
  router
    .get('/me', showProfile)
    .patch('/me', updateProfile)
    .delete('/me', deactivate)
    .post('/me/plan', changePlan)
    .get('/me/activity', showActivity)
    .get('/me/notifications', listNotifications)
    .post('/me/notifications/:notificationId/read', markNotificationRead)
    .post('/password-resets', requestPasswordReset);
}

const showProfile: Handler = (ctx) => ({
  status: 200,
  body: app.users.profileOf(requireUser(ctx)),
});

const updateProfile: Handler = async (ctx) => {
  const user = requireUser(ctx);
  const fields = await readFields(ctx);
  const profile = app.users.updateProfile(user, {
    displayName: fields.optionalText('displayName', 80),
    emailNotifications: fields.optionalFlag('emailNotifications'),
  });
  return { status: 200, body: profile };
};

const deactivate: Handler = (ctx) => {
  app.users.deactivate(requireUser(ctx));
  return { status: 204 };
};

const changePlan: Handler = async (ctx) => {
  const user = requireUser(ctx);
  const planId = (await readFields(ctx)).oneOf('plan', plans.PLAN_IDS);
  return { status: 200, body: app.users.changePlan(user, planId) };
};

/** Lets users see for themselves what was done in their name, and from where. */
const showActivity: Handler = (ctx) => {
  const { id } = requireUser(ctx);
  return { status: 200, body: { entries: app.audit.entriesBy(id), sessions: app.audit.sessionsOf(id) } };
};

const listNotifications: Handler = (ctx) => ({
  status: 200,
  body: { notifications: app.notifications.inbox(requireUser(ctx)) },
});

const markNotificationRead: Handler = (ctx) => {
  app.notifications.markRead(requireUser(ctx), ctx.params.notificationId ?? '');
  return { status: 204 };
};

const requestPasswordReset: Handler = async (ctx) => {
  app.passwordResets.requestReset((await readFields(ctx)).text('email'));
  return { status: 202 };
};
