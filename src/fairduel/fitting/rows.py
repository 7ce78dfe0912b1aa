"""A fit as plain data for programs: JSON, and rows of a CSV file."""

from __future__ import annotations

from typing import Any

from fairduel.fitting.result import Fit
from fairduel.report.rows import Rows
from fairduel.report.terminal import solution_data


def data(fit: Fit) -> dict[str, Any]:
    """Return everything as plain data: that of ``solve``, and what votes add to it."""
    return solution_data(fit.solution, fit.welfare) | {
        "users": user_rows(fit),
        "read": fit.ballots.said,
        "kind": fit.ballots.kind,
        "scoring": fit.scoring,
        "per": fit.per,
        "majority": {
            "arm": fit.majority.option,
            "beats_all": fit.majority.beats_all,
            "worse_off": len(fit.worse_off),
            "largest_loss": max(fit.worse_off.values(), default=0.0),
        },
        "price_of_fairness": fit.price_of_fairness,
        "quantiles": [
            {"share": share, "utility": here, "by_majority": there}
            for share, (here, there) in fit.quantiles.items()
        ],
        "questions": [vars(question) for question in fit.questions],
        "warnings": list(fit.warnings),
    }


def user_rows(fit: Fit) -> Rows:
    """Return a row for each user; ends of an interval are None where there is none."""
    known = fit.interval is not None
    columns = (
        fit.utilities.items(),
        fit.majority.utilities.tolist(),
        fit.favourites.values(),
        fit.weights.tolist(),
        fit.ballots.answers.tolist(),
    )
    return [
        {
            "user": user,
            "utility": gets.mean,
            "low": gets.low if known else None,
            "high": gets.high if known else None,
            "by_majority": instead,
            "favourite": favourite,
            "weight": weight,
            "answers": answers,
        }
        for (user, gets), instead, favourite, weight, answers in zip(*columns, strict=True)
    ]
