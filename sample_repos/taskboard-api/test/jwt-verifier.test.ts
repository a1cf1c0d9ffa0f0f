import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TokenRejectedError, encodeBase64Url, hmacDigest, verifyToken } from '../src/index.js';
import type { TokenSettings } from '../src/index.js';

const NOW = Date.UTC(2025, 2, 1);
const NOW_SECONDS = NOW / 1000;

const settings: TokenSettings = {
  issuer: 'https://id.example',
  audience: 'taskboard-api',
  keys: new Map([['k1', 'first-secret']]),
  clockSkewSeconds: 30,
};

function mint(claims: object = {}, header: object = {}, secret = 'first-secret'): string {
  const parts = [
    { alg: 'HS256', kid: 'k1', ...header },
    { sub: 'p-7', iss: settings.issuer, aud: settings.audience, exp: NOW_SECONDS + 60, ...claims },
  ];
  const text = parts.map((part) => encodeBase64Url(JSON.stringify(part))).join('.');
  return `${text}.${encodeBase64Url(hmacDigest('sha256', secret, text))}`;
}

function rejection(token: string): string {
  try {
    verifyToken(token, settings, NOW);
  } catch (error) {
    if (error instanceof TokenRejectedError) return error.reason;
    throw error;
  }
  return 'accepted';
}

describe('verifyToken', () => {
  it('returns the claims of a good token', () => {
    assert.equal(verifyToken(mint(), settings, NOW).sub, 'p-7');
  });

  it('accepts one of several audiences', () => {
    assert.equal(rejection(mint({ aud: ['other', 'taskboard-api'] })), 'accepted');
  });

  it('tolerates clocks that differ a little', () => {
    assert.equal(rejection(mint({ exp: NOW_SECONDS - 29 })), 'accepted');
    assert.equal(rejection(mint({ exp: NOW_SECONDS - 30 })), 'expired');
    assert.equal(rejection(mint({ nbf: NOW_SECONDS + 31 })), 'not-yet-valid');
  });

  it('names the reason of every rejection', () => {
    assert.equal(rejection('abc'), 'malformed');
    assert.equal(rejection(mint({ sub: '' })), 'malformed');
    assert.equal(rejection(mint({}, { alg: 'none' })), 'unsupported-algorithm');
    assert.equal(rejection(mint({}, { kid: 'k2' })), 'unknown-key');
    assert.equal(rejection(mint({}, {}, 'other-secret')), 'bad-signature');
    assert.equal(rejection(`${mint()}=`), 'bad-signature');
    assert.equal(rejection(mint({ iss: 'https://elsewhere.example' })), 'wrong-issuer');
    assert.equal(rejection(mint({ aud: 'other' })), 'wrong-audience');
  });
});
