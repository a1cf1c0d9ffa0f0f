"""Values that a browser keeps and cannot change."""

import hashlib
import hmac
from collections.abc import Sequence


class Signer:
    """Signs with the first key, accepts any of them."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [key.encode() for key in keys]

    def sign(self, value: str) -> str:
        return f"{value}.{_tag(self._keys[0], value)}"

    def open(self, signed: str) -> str | None:
        """The value, or None if nobody of ours signed it."""
        value, _, tag = signed.rpartition(".")
        if any(hmac.compare_digest(_tag(key, value), tag) for key in self._keys):
            return value
        return None


def _tag(key: bytes, value: str) -> str:
    return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()
