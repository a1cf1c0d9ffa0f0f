"""The transcript of docs/answers.md: `python -m tests.docs.answers_page [--write]`.

The program is run as a user would, on a copy of the sample repository. The model is a server on loopback that always
gives ANSWER; everything else is real. The count of tokens is left out, as it says nothing here.
"""

import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.cli.commands import run
from tests.docs.blocks import DOCS, ROOT, keep_in_sync
from tests.llm.models import configure
from tests.memory.fake_model import serving

PAGE = DOCS / "answers.md"
SAMPLE = ROOT / "sample_repos" / "taskboard-api"
COMMAND = ("ask", "how is the signature of a webhook checked?", "--max-tokens", "1500", "--answer", "--model", "local")
ANSWER = """\
The receiver checks it: it computes the HMAC-SHA-256 of the delivery's id and the raw body under the secret, and
compares that in constant time with `x-taskboard-signature` [docs/webhooks.md:31-42]. This service compares digests that
way for tokens, in `constantTimeEqual` [src/security/crypto-utils.ts:16-19]. It signs deliveries in `buildRequest`
[src/webhooks/webhook-dispatcher.ts:101-110].
"""


@cache
def contents() -> dict[str, str]:
    """The generated blocks of the page."""
    with tempfile.TemporaryDirectory() as folder, serving(lambda prompt: ANSWER) as address:
        root = Path(folder) / SAMPLE.name
        shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".causalist"))
        assert run("index", cwd=root, XDG_CACHE_HOME=folder).code == 0
        environment = configure(Path(folder) / "llm", address)
        done = run(*COMMAND, cwd=root, XDG_CACHE_HOME=folder, NO_PROXY="*", **environment)
        assert done.code == 0, done.stderr
    before, *after = re.sub(r"\d+ tokens", "… tokens", done.stderr).splitlines(keepends=True)
    words = " ".join(f'"{word}"' if " " in word else word for word in COMMAND)
    return {"transcript": f"~~~~text\n$ causalist {words}\n{before}{done.stdout}{''.join(after)}~~~~\n"}


def prompt() -> str:
    """The block with the prompt as it is in the package."""
    text = (ROOT / "causalist" / "llm_prompt.txt").read_text(encoding="utf-8")
    return f"~~~~text\n{text}~~~~\n"


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, {**contents(), "prompt": prompt()}, sys.argv[1:]))
