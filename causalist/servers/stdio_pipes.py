"""Standard input and output, kept for a protocol alone.

Once they are claimed, file descriptor 1 is standard error and 0 is empty, so that neither a stray print, nor a C
library, nor a program that is started can put a byte between the messages or take one away.
"""

import os
from dataclasses import dataclass

from causalist.errors import UsageError


@dataclass(frozen=True, slots=True)
class Pipes:
    """File descriptors of the protocol, out of reach of everything else."""

    reading: int
    writing: int


def claim_pipes() -> Pipes:
    """Takes standard input and output for the protocol alone. Raises UsageError where one of them is closed."""
    try:
        # A closed one would be what the first duplicate becomes.
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
