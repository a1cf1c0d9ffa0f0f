import type { IncomingMessage } from 'node:http';
import { ValidationError } from '../errors.js';
import type { RequestContext } from '../types.js';

const MAX_BODY_BYTES = 256 * 1024;

export async function readJsonBody(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new ValidationError('Request body is too large');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new ValidationError('Request body is not valid JSON');
  }
}

/** Reads the body of a request whose payload must be a JSON object. */
export async function readFields(ctx: RequestContext): Promise<FieldReader> {
  const body = await ctx.json();
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ValidationError('Request body must be a JSON object');
  }
  return new FieldReader(body as Record<string, unknown>);
}

/** Typed access to the fields of a request body; every miss is a `ValidationError`. */
export class FieldReader {
  constructor(private readonly fields: Record<string, unknown>) {}

  text(name: string, maxLength = 200): string {
    const value = this.fields[name];
    if (typeof value !== 'string' || value.trim() === '') {
      throw new ValidationError(`"${name}" must be a non-empty string`, { field: name });
    }
    if (value.length > maxLength) {
      throw new ValidationError(`"${name}" is longer than ${maxLength} characters`, { field: name });
    }
    return value.trim();
  }

  optionalText(name: string, maxLength = 200): string | undefined {
    return this.fields[name] === undefined ? undefined : this.text(name, maxLength);
  }

  optionalFlag(name: string): boolean | undefined {
    const value = this.fields[name];
    if (value === undefined || typeof value === 'boolean') return value;
    throw new ValidationError(`"${name}" must be true or false`, { field: name });
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = allowed.find((candidate) => candidate === this.fields[name]);
    if (value === undefined) {
      throw new ValidationError(`"${name}" must be one of ${allowed.join(', ')}`, { field: name });
    }
    return value;
  }

  optionalOneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    return this.fields[name] === undefined ? undefined : this.oneOf(name, allowed);
  }

  listOf<T extends string>(name: string, allowed: readonly T[]): T[] {
    const value = this.fields[name];
    if (!Array.isArray(value) || value.length === 0) {
      throw new ValidationError(`"${name}" must be a non-empty list`, { field: name });
    }
    return value.map((_, index) => new FieldReader({ [name]: value[index] }).oneOf(name, allowed));
  }
}
