import type { TokenSettings } from './types.js';
import type { LogLevel } from './logging.js';

export interface Config {
  port: number;
  logLevel: LogLevel;
  /** Where the storage snapshot is kept; without it all data is lost on exit. */
  dataFile?: string;
  trustProxy: boolean;
  tokens: TokenSettings;
  rateLimit: { capacity: number; refillPerSecond: number };
  mail: { from: string; spoolDir?: string; resetPageUrl: string; linkSecret: string };
  deliverySweepMs: number;
}

type Env = Record<string, string | undefined>;

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Reads the whole configuration at once, so that a bad value stops the process at start-up. */
export function loadConfig(env: Env): Config {
  return {
    port: integer(env, 'PORT', 8080),
    logLevel: logLevel(env.LOG_LEVEL),
    dataFile: env.DATA_FILE || undefined,
    trustProxy: env.TRUST_PROXY === '1',
    tokens: {
      issuer: env.TOKEN_ISSUER ?? 'https://id.taskboard.localhost',
      audience: env.TOKEN_AUDIENCE ?? 'taskboard-api',
      keys: parseKeys(secret(env, 'TOKEN_KEYS', 'dev:local-development-key')),
      clockSkewSeconds: integer(env, 'TOKEN_CLOCK_SKEW', 30),
    },
    rateLimit: {
      capacity: integer(env, 'RATE_LIMIT_BURST', 60),
      refillPerSecond: integer(env, 'RATE_LIMIT_PER_SECOND', 10),
    },
    mail: {
      from: env.MAIL_FROM ?? 'Taskboard <no-reply@taskboard.localhost>',
      spoolDir: env.MAIL_SPOOL_DIR || undefined,
      resetPageUrl: env.RESET_PAGE_URL ?? 'https://id.taskboard.localhost/reset',
      linkSecret: secret(env, 'LINK_SECRET', 'local-link-secret'),
    },
    deliverySweepMs: integer(env, 'DELIVERY_SWEEP_MS', 15_000),
  };
}

function integer(env: Env, name: string, fallback: number): number {
  const raw = env[name];
  if (raw === undefined || raw === '') return fallback;
  const value = Number(raw);
  if (!Number.isInteger(value) || value < 0) {
    throw new Error(`${name} must be a non-negative integer, got "${raw}"`);
  }
  return value;
}

/** A secret may fall back to a fixed value on a developer's machine, never in production. */
function secret(env: Env, name: string, developmentValue: string): string {
  const value = env[name];
  if (value) return value;
  if (env.NODE_ENV === 'production') throw new Error(`${name} is required in production`);
  return developmentValue;
}

/** Parses `kid:secret,kid:secret`. */
function parseKeys(raw: string): Map<string, string> {
  const keys = new Map<string, string>();
  for (const entry of raw.split(',')) {
    const colon = entry.indexOf(':');
    if (colon < 1 || colon === entry.length - 1) {
      throw new Error('TOKEN_KEYS must look like "kid:secret,kid:secret"');
    }
    keys.set(entry.slice(0, colon).trim(), entry.slice(colon + 1).trim());
  }
  return keys;
}

function logLevel(raw: string | undefined): LogLevel {
  const level = LOG_LEVELS.find((known) => known === raw);
  if (raw && !level) throw new Error(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  return level ?? 'info';
}
