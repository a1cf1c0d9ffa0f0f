export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Record<string, unknown>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const SEVERITY: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };

/** Field names whose values must never reach the log. */
const REDACTED = new Set(['token', 'secret', 'password', 'authorization', 'cookie']);

let threshold = SEVERITY.info;

export function setLogLevel(level: LogLevel): void {
  threshold = SEVERITY[level];
}

/** One JSON object a line, on stderr; `scope` names the part of the service that speaks. */
export function createLogger(scope: string): Logger {
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (SEVERITY[level] < threshold) return;
    const record = { time: new Date().toISOString(), level, scope, message, ...redact(fields) };
    process.stderr.write(`${JSON.stringify(record)}\n`);
  };
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
}

function redact(fields: LogFields): LogFields {
  const safe: LogFields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (REDACTED.has(name.toLowerCase())) safe[name] = '[redacted]';
    else if (value instanceof Error) safe[name] = { name: value.name, message: value.message };
    else safe[name] = value;
  }
  return safe;
}
