"""One-way digests of secrets that people remember."""

import hashlib
import hmac
import os

_COST = {"n": 2**12, "r": 8, "p": 1}


def make_digest(secret: str, salt: bytes | None = None) -> str:
    salt = salt or os.urandom(16)
    return f"{salt.hex()}${hashlib.scrypt(secret.encode(), salt=salt, **_COST).hex()}"


def digest_matches(secret: str, digest: str) -> bool:
    """Compares in constant time."""
    salt, _, _ = digest.partition("$")
    return hmac.compare_digest(make_digest(secret, bytes.fromhex(salt)), digest)
