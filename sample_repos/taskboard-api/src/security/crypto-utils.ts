import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export type DigestAlgorithm = 'sha256' | 'sha512';

const BASE64URL = /^[A-Za-z0-9_-]*$/;

/** Keyed digest of a text, for signatures that both sides can recompute. */
export function hmacDigest(algorithm: DigestAlgorithm, key: string, text: string): Buffer {
  return createHmac(algorithm, key).update(text, 'utf8').digest();
}

/**
 * Compares two digests without giving away, through timing, how many leading
 * bytes match. Lengths are public, so a difference in length may return early.
 */
export function constantTimeEqual(expected: Buffer, received: Buffer): boolean {
  if (expected.length !== received.length) return false;
  return timingSafeEqual(expected, received);
}

export function encodeBase64Url(bytes: Buffer | string): string {
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes;
  return buffer.toString('base64url');
}

/**
 * Node's own decoder skips characters it does not know; a signature must not
 * have several spellings, so anything outside the alphabet is refused here.
 */
export function decodeBase64Url(text: string): Buffer {
  if (!BASE64URL.test(text)) return Buffer.alloc(0);
  return Buffer.from(text, 'base64url');
}

/** Plain digest, for values that are random enough to need no salt. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Unguessable text that is safe in a URL. */
export function randomToken(bytes = 24): string {
  return randomBytes(bytes).toString('base64url');
}
