"""`python -m causalist` is the command line."""

from causalist.cli import main

if __name__ == "__main__":
    main()
