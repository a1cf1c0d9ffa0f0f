"""`python -m causalist` is the command line."""

import os
import sys

# `-m` puts the current folder first on the import path, and that folder is the repository in question: a `numpy/` in it
# must be searched, not run.
if sys.path and not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - pathlib is not needed for anything else here
    del sys.path[0]

from causalist.cli import main

if __name__ == "__main__":
    main()
