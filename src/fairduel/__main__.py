"""Run the command line: ``python -m fairduel``."""

from fairduel.cli import main

if __name__ == "__main__":
    main()
