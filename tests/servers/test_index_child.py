"""The process that indexes for a server, by itself."""

import os
import subprocess
import sys

import pytest

# What numpy does when a signal ends it while it is being imported: the exception of the handler becomes another one.
SWALLOWED = """
import os, signal
from causalist.servers import index_child

def outcome(*_):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit:
        raise ImportError("could not import module")

index_child._outcome = outcome
index_child.main(["."])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_it_ends_without_a_word_although_the_exception_becomes_another_one() -> None:
    # In a group of its own, because what it leaves behind it ends by group.
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED], input='{"buffers": null}\n', capture_output=True, text=True, timeout=60,
        start_new_session=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
