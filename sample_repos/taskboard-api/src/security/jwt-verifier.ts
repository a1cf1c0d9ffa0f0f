import type { TokenClaims, TokenSettings } from '../types.js';
import { constantTimeEqual, decodeBase64Url, hmacDigest } from './crypto-utils.js';
import type { DigestAlgorithm } from './crypto-utils.js';

export type RejectionReason =
  | 'malformed'
  | 'unsupported-algorithm'
  | 'unknown-key'
  | 'bad-signature'
  | 'expired'
  | 'not-yet-valid'
  | 'wrong-issuer'
  | 'wrong-audience';

export class TokenRejectedError extends Error {
  constructor(readonly reason: RejectionReason) {
    super(`Token rejected: ${reason}`);
    this.name = 'TokenRejectedError';
  }
}

interface DecodedToken {
  algorithm: DigestAlgorithm;
  keyId: string;
  claims: TokenClaims;
  /** The part of the token that the signature covers. */
  signedText: string;
  signature: Buffer;
}

/** An explicit list: the header of a token must never be able to ask for "none". */
const ALGORITHMS: ReadonlyMap<unknown, DigestAlgorithm> = new Map([
  ['HS256', 'sha256'],
  ['HS512', 'sha512'],
]);

/**
 * Checks a compact JWT and returns its claims. The signature is verified
 * before any claim is looked at, since claims mean nothing until then.
 */
export function verifyToken(token: string, settings: TokenSettings, now = Date.now()): TokenClaims {
  const decoded = decodeToken(token);
  verifySignature(decoded, settings.keys);
  verifyLifetime(decoded.claims, Math.floor(now / 1000), settings.clockSkewSeconds);
  verifyOrigin(decoded.claims, settings);
  return decoded.claims;
}

function decodeToken(token: string): DecodedToken {
  const parts = token.split('.');
  if (parts.length !== 3) throw new TokenRejectedError('malformed');
  const [header, payload, signature] = parts as [string, string, string];

  const { alg, kid } = parseSegment(header);
  const algorithm = ALGORITHMS.get(alg);
  if (!algorithm) throw new TokenRejectedError('unsupported-algorithm');
  if (typeof kid !== 'string') throw new TokenRejectedError('unknown-key');

  return {
    algorithm,
    keyId: kid,
    claims: toClaims(parseSegment(payload)),
    signedText: `${header}.${payload}`,
    signature: decodeBase64Url(signature),
  };
}

function parseSegment(segment: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(decodeBase64Url(segment).toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Falls through: broken encoding and broken JSON are the same to the caller.
  }
  throw new TokenRejectedError('malformed');
}

function toClaims(raw: Record<string, unknown>): TokenClaims {
  const complete =
    typeof raw.sub === 'string' &&
    raw.sub !== '' &&
    typeof raw.iss === 'string' &&
    typeof raw.exp === 'number' &&
    (raw.nbf === undefined || typeof raw.nbf === 'number') &&
    (typeof raw.aud === 'string' || Array.isArray(raw.aud));
  if (!complete) throw new TokenRejectedError('malformed');
  return raw as unknown as TokenClaims;
}

function verifySignature(token: DecodedToken, keys: TokenSettings['keys']): void {
  const key = keys.get(token.keyId);
  if (key === undefined) throw new TokenRejectedError('unknown-key');
  const expected = hmacDigest(token.algorithm, key, token.signedText);
  if (!constantTimeEqual(expected, token.signature)) throw new TokenRejectedError('bad-signature');
}

function verifyLifetime(claims: TokenClaims, nowSeconds: number, skew: number): void {
  if (claims.exp + skew <= nowSeconds) throw new TokenRejectedError('expired');
  if (claims.nbf !== undefined && claims.nbf - skew > nowSeconds) {
    throw new TokenRejectedError('not-yet-valid');
  }
}

function verifyOrigin(claims: TokenClaims, settings: TokenSettings): void {
  if (claims.iss !== settings.issuer) throw new TokenRejectedError('wrong-issuer');
  const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  if (!audiences.includes(settings.audience)) throw new TokenRejectedError('wrong-audience');
}
