"""The base protocol of language servers: bytes -> bodies of messages, and back.

A message is a header with its length, an empty line, and that many bytes. What is no header is passed over until one
comes, and a body that is too long is passed over as a whole, so that whatever is sent, the next message is read.
"""

import re
from collections.abc import Callable, Iterator

# An editor sends whole documents; the index takes none that is longer than a few megabytes.
LONGEST_BODY = 64_000_000  # bytes
_LONGEST_HEADER = 8_192
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
_CHUNK = 1 << 16


def bodies(read: Callable[[int], bytes]) -> Iterator[bytes | None]:
    """Bodies of what `read(n)`, which returns at most n bytes, gives until it gives none; None stands for one that is
    too long.

    >>> from io import BytesIO
    >>> list(bodies(BytesIO(b"noise\\r\\nContent-Length: 2\\r\\n\\r\\n{}Content-Length: 3\\n\\nabc").read1))
    [b'{}', b'abc']
    """
    kept = bytearray()
    while True:
        end = _END_OF_HEADER.search(kept)
        if end is None:
            del kept[:-_LONGEST_HEADER]
            chunk = read(_CHUNK)
            if not chunk:
                return
            kept += chunk
            continue
        length = _LENGTH.search(bytes(kept[: end.start()]))
        del kept[: end.end()]
        if length is None:
            continue
        wanted = int(length[1])
        is_kept = wanted <= LONGEST_BODY
        body = bytearray(kept[:wanted])
        del kept[:wanted]
        missing = wanted - len(body)
        while missing:
            chunk = read(min(missing, _CHUNK))
            if not chunk:
                return
            missing -= len(chunk)
            if is_kept:
                body += chunk
        yield bytes(body) if is_kept else None


def frame(body: bytes) -> bytes:
    """A body as it is sent."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
