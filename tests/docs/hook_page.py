"""The generated part of docs/hook.md: `python -m tests.docs.hook_page [--write]`.

The hook is run as a client would, on a copy of the sample repository with an index.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from causalist.pipeline.repository import Repository
from tests.docs.blocks import DOCS, ROOT, keep_in_sync

PAGE = DOCS / "hook.md"
SAMPLE = ROOT / "sample_repos" / "taskboard-api"
PROMPT = "where is the bearer token of a request verified"


@cache
def contents() -> dict[str, str]:
    """The generated blocks of the page."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / SAMPLE.name
        shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".causalist"))
        Repository.open(root, exact_root=True)
        payload = {"hook_event_name": "UserPromptSubmit", "cwd": str(root), "prompt": PROMPT}
        done = subprocess.run(
            [sys.executable, "-P", "-m", "causalist", "hook", "prompt", "--deadline", "60"],
            input=json.dumps(payload).encode(),
            capture_output=True,
            check=True,
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
                "XDG_CACHE_HOME": folder,
            },
        )
    context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    shown = json.dumps({**payload, "cwd": "/home/me/taskboard-api"})
    return {"hook": f"~~~~text\n→ {shown}\n\n← additionalContext\n{context.rstrip()}\n~~~~\n"}


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
