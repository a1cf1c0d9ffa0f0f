"""Standard input and output, reserved for a protocol.

After `claim_pipes`, file descriptor 1 is standard error and 0 is empty. No stray print, C library or child process can
write between messages or consume them.
"""

import os
from dataclasses import dataclass

from causalist.errors import UsageError


@dataclass(frozen=True, slots=True)
class Pipes:
    """File descriptors of the protocol."""

    reading: int
    writing: int


def claim_pipes() -> Pipes:
    """Reserve standard input and output for the protocol. Raises UsageError if one is closed."""
    try:
        # A closed descriptor would be reused by the first duplicate.
        os.fstat(0)
        os.fstat(1)
        pipes = Pipes(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(nothing, 1)
        os.close(nothing)
    except OSError as error:
        raise UsageError(f"standard input and output must be open: {error.strerror or error}") from error
    return pipes
