import { createLogger } from '../logging.js';
import { Mailer } from '../mail/mailer.js';
import { encodeBase64Url, hmacDigest } from '../security/crypto-utils.js';
import { UserRepository } from '../storage/user-repository.js';
import type { Timestamp, User } from '../types.js';
import { AuditLog } from './audit-log.js';

export interface ResetLinkOptions {
  /** Page of the identity provider where a new password can be chosen. */
  resetPageUrl: string;
  /** Shared with the identity provider, which checks the link. */
  linkSecret: string;
}

const LINK_LIFETIME_MS = 60 * 60 * 1000;
const log = createLogger('password-reset');

/**
 * Sends the "forgot your password?" e-mail. Passwords are not kept here: the
 * link leads to the identity provider, and what follows the click is its job.
 */
export class PasswordResetService {
  constructor(
    private readonly users: UserRepository,
    private readonly mailer: Mailer,
    private readonly audit: AuditLog,
    private readonly options: ResetLinkOptions,
  ) {}

  /** Returns nothing either way, so that nobody can probe which users exist. */
  requestReset(email: string): void {
    const user = this.users.findByEmail(email);
    if (!user || user.deactivatedAt) {
      log.info('reset asked for an unknown address');
      return;
    }
    this.mailer.send({
      to: user.email,
      subject: 'Choose a new Taskboard password',
      text: [
        `Hello ${user.displayName},`,
        '',
        'somebody, probably you, asked for a new password. This link works for one hour:',
        this.buildLink(user, Date.now() + LINK_LIFETIME_MS),
        '',
        'If it was not you, there is nothing to do.',
      ].join('\n'),
    });
    this.audit.record('user.password-reset-mailed', user.id, {});
  }

  private buildLink(user: User, expiresAt: Timestamp): string {
    const link = new URL(this.options.resetPageUrl);
    link.searchParams.set('subject', user.subject);
    link.searchParams.set('expires', String(expiresAt));
    const seal = hmacDigest('sha256', this.options.linkSecret, `${user.subject}.${expiresAt}`);
    link.searchParams.set('seal', encodeBase64Url(seal));
    return link.toString();
  }
}
