import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '../logging.js';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Hands one finished message to whatever carries mail in this environment. */
export type MailTransport = (from: string, mail: Mail) => Promise<void>;

const log = createLogger('mail');

/** Sends mail in the background: no request ever waits for, or fails with, the mail server. */
export class Mailer {
  constructor(
    private readonly from: string,
    private readonly transport: MailTransport,
  ) {}

  send(mail: Mail): void {
    const safe = { ...mail, subject: singleLine(mail.subject) };
    this.transport(this.from, safe).catch((error: unknown) => {
      log.error('mail could not be sent', { subject: safe.subject, error });
    });
  }
}

/** Leaves messages in a directory that the mail relay empties; without one they are dropped. */
export function createMailTransport(spoolDir?: string): MailTransport {
  if (!spoolDir) {
    return async (_from, mail) => log.info('no spool directory, mail dropped', { subject: mail.subject });
  }
  return async (from, mail) => {
    const draft = join(spoolDir, `.${randomUUID()}`);
    await writeFile(draft, JSON.stringify({ from, ...mail }), { mode: 0o600 });
    // The relay ignores dot files, so it never picks up half a message.
    await rename(draft, join(spoolDir, `${randomUUID()}.json`));
  };
}

/** Task titles end up in subjects; a line break there would forge a header. */
function singleLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
