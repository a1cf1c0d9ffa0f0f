import { Quota } from '../billing/quota.js';
import { createLogger } from '../logging.js';
import { UserRepository } from '../storage/user-repository.js';
import type { Id, PlanId, TokenClaims, User, UserDirectory } from '../types.js';
import { AuditLog } from './audit-log.js';

export interface Profile {
  id: Id;
  displayName: string;
  email: string;
  planId: PlanId;
  emailNotifications: boolean;
}

export interface ProfileChanges {
  displayName?: string;
  emailNotifications?: boolean;
}

const log = createLogger('users');

/**
 * User accounts as this service sees them: profile, plan and preferences.
 * Passwords are the business of the identity provider.
 */
export class UserService implements UserDirectory {
  constructor(
    private readonly users: UserRepository,
    private readonly quota: Quota,
    private readonly audit: AuditLog,
  ) {}

  /** The user with these claims; an account is created the first time we see one. */
  resolveUser(claims: TokenClaims): User | undefined {
    const known = this.users.findBySubject(claims.sub);
    if (known) return known.deactivatedAt ? undefined : known;
    return this.createAccount(claims);
  }

  profileOf(user: User): Profile {
    const { id, displayName, email, planId, emailNotifications } = user;
    return { id, displayName, email, planId, emailNotifications };
  }

  updateProfile(user: User, changes: ProfileChanges): Profile {
    const updated = this.users.update(user.id, {
      displayName: changes.displayName ?? user.displayName,
      emailNotifications: changes.emailNotifications ?? user.emailNotifications,
    });
    return this.profileOf(updated);
  }

  changePlan(user: User, planId: PlanId): Profile {
    this.quota.assertPlanFits(user, planId);
    this.audit.record('user.plan-changed', user.id, { from: user.planId, to: planId });
    return this.profileOf(this.users.update(user.id, { planId }));
  }

  /** Users are never deleted, since boards and comments keep pointing at them. */
  deactivate(user: User): void {
    this.users.update(user.id, { deactivatedAt: Date.now() });
    this.audit.record('user.deactivated', user.id, {});
  }

  private createAccount(claims: TokenClaims): User {
    const email = claims.email ?? `${encodeURIComponent(claims.sub)}@users.invalid`;
    const user = this.users.create({
      subject: claims.sub,
      email,
      displayName: claims.name ?? email,
      planId: 'free',
      emailNotifications: claims.email !== undefined,
    });
    this.audit.record('user.created', user.id, {});
    log.info('new user', { userId: user.id });
    return user;
  }
}
