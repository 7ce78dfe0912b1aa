"""The fairest choice for the people whose votes or orders are in a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairduel._files import AnyPath
from fairduel.data import Ballots, read_votes
from fairduel.errors import InputError
from fairduel.fitting.majority import majority_choice
from fairduel.fitting.result import Fit
from fairduel.fitting.scoring import Progress, default_scoring, score
from fairduel.welfare import Nash, Welfare
from fairduel.welfare.welfare import check_welfare


def fit(
    votes: Ballots | AnyPath,
    *,
    by: str | None = None,
    users: int | None = None,
    per: str | None = None,
    welfare: Welfare | None = None,
    scoring: str | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Return the fairest policy for the users of a file, and what each of them gets.

    votes: a file of votes or orders, plain or gzip, "-" for standard input; or what
    ``fairduel.data.read_votes`` returns, which has options for files that it can't be sure of. by:
    a column of groups, which are the users then. users: a number of groups that people who say
    alike are joined into. Without either each person is a user. per: "person" weighs a user by its
    people, "group" all alike; default: per group with ``by``, and else per person. welfare: what
    to maximise; default: ``Nash()``. scoring: what an option is worth to a user, by the name in
    ``fairduel.scorings``; default: borda for stated orders, which are taken as they are, and
    condorcet for votes, from their posterior. progress: is called with the number of users that
    have been looked at since the last call.

    >>> from fairduel.data import example_file
    >>> fit(example_file("team-lunch.csv")).policy["pizza"] > 0.4
    True
    """
    ballots = _ballots(votes, by)
    if users is not None:
        ballots = ballots.clustered(users)
    welfare = Nash() if welfare is None else welfare
    check_welfare(welfare)
    scoring = default_scoring(ballots) if scoring is None else scoring
    per = ballots.per if per is None else per
    weights = ballots.weights(per)
    if np.ptp(weights) > 0:
        welfare = welfare.weighted(tuple(weights.tolist()))
    scores = score(ballots, weights, scoring, progress)
    found = replace(welfare.maximize(scores.means), users=ballots.users, arms=ballots.options)
    return Fit(
        ballots=ballots,
        welfare=welfare,
        scoring=scoring,
        per=per,
        weights=weights,
        scores=scores.means,
        solution=found,
        interval=scores.interval(found.policy),
        silent=scores.silent,
        majority=majority_choice(ballots.options, scores.prefer, scores.means, weights),
    )


def _ballots(votes: Ballots | AnyPath, by: str | None) -> Ballots:
    if not isinstance(votes, Ballots):
        return read_votes(votes, by=by)
    if by is not None:
        raise InputError("these votes are read already: give by=... to read_votes instead.")
    return votes
