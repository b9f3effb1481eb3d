"""`python -m recollect` is the command."""

from recollect.cli.app import main

if __name__ == "__main__":
    main()
