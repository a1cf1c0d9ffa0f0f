"""The process that indexes for a server, by itself."""

import os
import subprocess
import sys

import pytest

# What numpy does when a signal ends it while it is being imported: the exception of the handler becomes another one.
SWALLOWED = """
import os, signal
from causalist.servers import index_job as index_child

def outcome(*_):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit:
        raise ImportError("could not import module")

index_child._run_job = outcome
index_child.main(["."])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_it_ends_without_a_word_although_the_exception_becomes_another_one() -> None:
    # In a group of its own, because it ends what it leaves behind by group, and with an input that does not end.
    with subprocess.Popen(
        [sys.executable, "-c", SWALLOWED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write('{"buffers": null}\n')
        process.stdin.flush()
        code = process.wait(60)
        assert (code, process.stdout.read(), process.stderr.read()) == (0, "", "")
