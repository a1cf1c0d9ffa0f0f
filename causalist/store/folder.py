"""Where an index lives: `.causalist/` in the root, which hides itself from git."""

from pathlib import Path

from causalist.errors import IndexNotWritable

FOLDER = ".causalist"
INDEX_NAME = "index.bin"
FACTS_NAME = "facts.db"


def prepare_folder(root: Path) -> Path:
    """Creates `.causalist/` with a `.gitignore` of its own. Raises IndexNotWritable."""
    folder = root / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise IndexNotWritable(f"cannot write {folder}: {error.strerror or error}") from error
    return folder
