"""The maps of docs/map.md: `python -m tests.docs.map_page [--write] [--clones DIR]`.

The sample's map is checked by a test. The others need clones: DIR holds OWNER+NAME/repo, with history.
"""

import sys
import tempfile
from pathlib import Path

from causalist.pipeline.repository import Repository
from tests.docs.blocks import DOCS, blocks_of, with_blocks
from tests.pipeline.sample import copy_sample, in_memory

PAGE = DOCS / "map.md"
SAMPLE_TOKENS = 900
# Block by the name of its repository: where the clone is, commit and budget.
PUBLIC = {
    "werkzeug": ("pallets+werkzeug", "1b00618e787f40dfb21eba29caf8f8be7c8e1d93", 1500),
    "got": ("sindresorhus+got", "d00d845a0b435365ec73ea5a1fca6e17ee677184", 1200),
}


def sample() -> str:
    """The block with the map of the sample repository, outside of git."""
    with tempfile.TemporaryDirectory() as folder:
        return _block(in_memory(copy_sample(Path(folder))).map(max_tokens=SAMPLE_TOKENS).text)


def public(name: str, clones: Path) -> str:
    """The block with the map of one of PUBLIC."""
    clone, commit, max_tokens = PUBLIC[name]
    return _block(Repository.at_commit(clones / clone / "repo", commit).map(max_tokens=max_tokens).text)


def _block(text: str) -> str:
    assert "```" not in text
    return f"```text\n{text}```\n"


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    there = blocks_of(text, "generated")
    fresh = {**there, "sample": sample()}
    if "--clones" in arguments:
        clones = Path(arguments[arguments.index("--clones") + 1])
        fresh.update({name: public(name, clones) for name in PUBLIC})
    if "--write" in arguments:
        PAGE.write_text(with_blocks(text, "generated", fresh), encoding="utf-8")
        return 0
    print("in sync" if there == fresh else "docs/map.md is older than the maps; --write brings it up to date")
    return int(there != fresh)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
