"""The command line: each command calls one library function and shows what it returns."""

from fairduel.cli.app import main, run

__all__ = ["main", "run"]
