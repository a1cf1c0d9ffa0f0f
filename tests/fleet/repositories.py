"""Small git repositories for tests."""

import subprocess
from pathlib import Path


def commit_files(folder: Path, files: dict[str, str]) -> Path:
    """Write files into a repository, which is made if there is none, commit them and return the folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "x", "--date", "2026-01-01T00:00:00Z"]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)
    return folder
