"""What a memory loses when its writer is killed, the disk is full, or two write at once.

    python -m tests.benchmarks.memory.losses [--trials 100] [--seed 1] [--append]

Each trial changes some of 40 documents, then updates the memory in a process of its own: killed after a random time;
with a limit on the size of files, as on a full disk; or two at once, each with the documents of its own folder. After
it, the memory must open and be that before or after the update, without a note on damage; the next update must bring
it to the state of the documents, and no temporary file may be left. Prints trials, how many ended before their work was
done, and what was wrong. Exits 1 if something was. With `--append`, changes are appended to the file, as those of few
passages of a large memory are, instead of writing it whole. POSIX only.
"""

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from causalist.errors import CausalistError
from causalist.memory import saved_memory as storage
from causalist.memory.document_sync import MemoryFile

_DOCUMENTS = 40


def write_documents(folder: Path, chance: random.Random, share: float) -> None:
    """Write or change a share of the documents."""
    folder.mkdir(exist_ok=True)
    for i in range(_DOCUMENTS):
        if chance.random() < share:
            lines = [f"The Item {chance.randrange(500)} of Ada has {chance.randrange(9)} parts." for _ in range(20)]
            (folder / f"{i}.md").write_text(f"# Document {i}\n\n" + "\n\n".join(lines) + "\n", encoding="utf-8")


def state_of(memory: MemoryFile, notes: list[str]) -> dict[str, str]:
    index = memory.open(note=notes.append)
    return {passage: index.passage(passage)[0] for passage in index.passage_ids}


def start(work: Callable[[], object]) -> int:
    """Do `work` in a process of its own. Return its id; it exits 0 if the work is done, 1 if it raised."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except (CausalistError, OSError):
        pass
    finally:
        os._exit(code)


def ended(child: int) -> bool:
    """Wait for a process. Return True if it did its work."""
    return os.waitpid(child, 0)[1] == 0


def limit_files(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run_trial(kind: str, root: Path, chance: random.Random) -> tuple[bool, str]:
    """Return (True if the work was done, what was wrong or "")."""
    memory = MemoryFile(root / "memory.db", root)
    folders = [root / "one", root / "two"]
    for folder in folders:
        write_documents(folder, chance, 1.0)
    memory.add(folders)
    before = state_of(memory, [])
    for folder in folders:
        write_documents(folder, chance, 0.4)
    (folders[0] / f"{chance.randrange(_DOCUMENTS)}.md").unlink(missing_ok=True)
    if kind == "two writers":
        children = [start(lambda f=folder: memory.add([f])) for folder in folders]  # type: ignore[misc]
        done = [ended(child) for child in children]
        is_done = all(done)
    elif kind == "full disk":
        size = chance.randrange(memory.path.stat().st_size * 5 // 4)

        def update() -> None:
            limit_files(size)
            memory.add(folders)

        is_done = ended(start(update))
    else:
        child = start(lambda: memory.add(folders))
        time.sleep(chance.random() * 0.6)
        os.kill(child, signal.SIGKILL)
        is_done = ended(child)
    notes: list[str] = []
    after = state_of(memory, notes)
    fresh = MemoryFile(root / "fresh.db", root)
    fresh.add(folders)
    wanted = state_of(fresh, [])
    if notes:
        return is_done, f"damaged: {notes[0]}"
    if after != before and after != wanted and kind != "two writers":
        return is_done, "neither the memory before nor that after"
    if is_done and after != wanted:
        return is_done, "done, but not what the documents say"
    memory.add(folders)
    if state_of(memory, notes) != wanted or notes:
        return is_done, "the next update does not repair it"
    left = [path.name for path in root.iterdir() if path.name.endswith(".new")]
    return is_done, f"left behind: {left}" if left else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--append", action="store_true")
    given = parser.parse_args()
    if given.append:
        storage.APPENDED_SHARE = 10.0
    n_wrong = 0
    for kind in ("killed", "full disk", "two writers"):
        chance = random.Random(f"{given.seed} {kind}")
        n_cut, wrong = 0, dict[str, int]()
        for _ in range(given.trials):
            with tempfile.TemporaryDirectory() as root:
                is_done, problem = run_trial(kind, Path(root), chance)
            n_cut += not is_done
            if problem:
                wrong[problem] = wrong.get(problem, 0) + 1
        n_wrong += sum(wrong.values())
        print(f"{kind:12} {given.trials} trials, {n_cut} cut short, wrong: {wrong or 'none'}", flush=True)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
