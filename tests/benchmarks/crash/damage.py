"""Files beside an index that are damaged: found, said, and made again, or of no consequence."""

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from causalist.index.freshness import index_version
from causalist.index.open import index_folders
from causalist.pipeline.feedback_and_weights import FeedbackStore, weights_document
from causalist.rank import default_weights
from tests.benchmarks.crash.site import Site

_PAGE = 4096
_SILENT_SECONDS = 30.0


def run(repositories: Sequence[Path], n_damages: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    said = begun = time.monotonic()
    for number, repository in enumerate(repositories):
        n_here = n_damages // len(repositories) + (number < n_damages % len(repositories))
        with TemporaryDirectory() as folder, TemporaryDirectory() as elsewhere:
            site, other = (
                Site(repository, Path(folder)),
                Site(repository, Path(elsewhere), cache=Path(folder) / "cache"),
            )
            chance = random.Random(seed + number)
            _furnish(site)
            other.edit(chance)
            _furnish(other)
            for trial in range(n_here):
                files = _files(site)
                # The index and the facts more often than small files.
                large = [path for path in files if path.suffix in (".bin", ".db")]
                target = chance.choice(large if trial % 2 else files)
                counts.update(_damage(site, other, target, chance))
                _furnish(site)
                now = time.monotonic()
                if now - said >= _SILENT_SECONDS:
                    said = now
                    n_done = counts["damaged"]
                    print(f"damages: {n_done} of {n_damages} after {now - begun:.0f} s", file=sys.stderr, flush=True)
    return counts


def _furnish(site: Site) -> None:
    """All the files that there can be beside an index."""
    site.ask()
    with site.as_user():
        beside = FeedbackStore(index_folders(site.root))
        beside.write_weights(weights_document(default_weights(), index_version(), "of a trial", {}))
        beside.add_feedback("0" * 16, "where is it?", ("a.py",), ())


def _files(site: Site) -> list[Path]:
    found = [path for folder in (site.root / ".causalist", site.cache) for path in folder.rglob("*")]
    return sorted(path for path in found if path.is_file())


def _damage(site: Site, other: Site, target: Path, chance: random.Random) -> Counter[str]:
    before = target.read_bytes()
    kinds = ["a bit", "bits", "truncated", "zeros", "longer", "swapped", "emptied", "of elsewhere"]
    kind = chance.choice(kinds)
    target.write_bytes(_damaged(kind, before, target, site, other, chance))
    is_other = target.read_bytes() != before
    if chance.random() < 0.5:
        site.edit(chance)
    if target.suffix == ".db" and chance.random() < 0.7:
        # So that all facts are asked for; where edits left no file there is none.
        (site.root / ".causalist" / "index.bin").unlink(missing_ok=True)
    notes = site.check_recovered()
    if is_other and target.name == "index.bin":
        # An index of the other copy is whole; of flipped bits some are padding, others make it another format.
        # Of a folder in which nothing is left nothing more is said.
        told = {"index-unreadable", "nothing-to-index"} & set(notes)
        assert told or kind in ("a bit", "bits", "of elsewhere"), (kind, notes)
    after = site.check_recovered()
    assert "index-unreadable" not in after, after
    site.check_stored()
    said = "index-unreadable" in notes or "learned-weights" in notes
    return Counter({"damaged": 1, f"{target.name}": 1, kind: 1, "said so": said})


def _damaged(kind: str, data: bytes, target: Path, site: Site, other: Site, chance: random.Random) -> bytes:
    changed = bytearray(data)
    if kind in ("a bit", "bits") and data:
        for _ in range(1 if kind == "a bit" else 30):
            # As often in what comes first as in all the rest: there stands what tells how to read it.
            changed[chance.randrange(min(len(data), chance.choice((200, len(data)))))] ^= 1 << chance.randrange(8)
    elif kind == "truncated" and data:
        del changed[chance.randrange(len(data)) :]
    elif kind == "zeros" and data:
        start = chance.randrange(len(data)) // _PAGE * _PAGE
        changed[start : start + _PAGE] = bytes(len(changed[start : start + _PAGE]))
    elif kind == "longer":
        changed += chance.randbytes(chance.randrange(1, 5000))
    elif kind == "emptied":
        changed.clear()
    elif kind == "swapped":
        return chance.choice([path for path in _files(site) if path != target]).read_bytes()
    elif kind == "of elsewhere":
        same = other.root / ".causalist" / target.name
        return same.read_bytes() if same.exists() else data[: len(data) // 2]
    return bytes(changed)
