"""fairduel solve: the fairest policy for given scores."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from fairduel.cli.options import Maximised
from fairduel.cli.output import console, print_json


def solve(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A .csv or .json file, or - for standard input.")
    ],
    welfare: Maximised = "nash",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Find the fairest policy for given scores.

    CSV has a line for each user, with a score for each arm, and commas, semicolons or tabs
    between; arm names may come first, and user names in the first column. JSON is a list of
    lists, or an object with "scores" and, optionally, "users", "arms" (names) and "weights" of
    the users.

    \b
    Examples:
      printf ',tea,coffee\\nAda,1,0.2\\nBob,0.3,0.9\\n' | fairduel solve -
      echo '[[1, 0.2], [0, 0.9]]' | fairduel solve - --welfare egalitarian --json
      echo '[[1, 0.2], [0, 0.9]]' | fairduel solve - --welfare power-mean:p=-2
      echo '[[1, 0.2], [0, 0.9]]' | fairduel solve - --welfare gini:weights=3/1

    Settings of a welfare are the fields of its class; several numbers have / between.
    """
    from fairduel.cli import specs
    from fairduel.data.scores import read_scores, solve
    from fairduel.report import terminal

    scores = read_scores(sys.stdin.buffer.read(), "standard input") if file == "-" else file
    objective = specs.welfare(welfare)
    solution = solve(scores, objective)
    if as_json:
        print_json(terminal.solution_data(solution, objective))
    else:
        terminal.print_solution(console(), solution, objective)
