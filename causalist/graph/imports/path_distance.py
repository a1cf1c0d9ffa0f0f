"""Distance of files by their paths alone."""

import posixpath


def shared_folders(a: str, b: str) -> int:
    """Count the folders that two paths have in common, from the root.

    >>> shared_folders("src/app/auth.py", "src/app/web/auth.py"), shared_folders("src/a.py", "a.py")
    (2, 0)
    """
    count = 0
    for x, y in zip(a.split("/")[:-1], b.split("/")[:-1], strict=False):
        if x != y:
            break
        count += 1
    return count


def as_ending(written: str) -> str:
    """Return the ending of paths that a relative path may mean, from whichever folder it is seen.

    >>> as_ending("../lib/./a.h"), as_ending("/.config/a.yml")
    ('/lib/a.h', '/.config/a.yml')
    """
    path = posixpath.normpath(written)
    while path.startswith("../"):
        path = path.removeprefix("../")
    return "/" + path.removeprefix("/")
