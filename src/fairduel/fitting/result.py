"""A fair choice from votes: the policy, whom it gives what, and the proof that it is the best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairduel._arrays import Bools, Floats
from fairduel.data import Ballots
from fairduel.errors import InputError
from fairduel.fitting.majority import WORSE, Majority
from fairduel.fitting.questions import Question, next_questions
from fairduel.fitting.scoring import SHOWN
from fairduel.learners import FairVOI
from fairduel.live import Session
from fairduel.live.recommendation import Interval, in_short
from fairduel.welfare import Solution, Welfare

if TYPE_CHECKING:  # slow to import
    from matplotlib.figure import Figure

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """How often to choose each option, and what each user gets from that; made by ``fit``.

    ballots: what was read. welfare: what was maximised, with the users' weights. scoring: what an
    option is worth to a user. per, weights: how users are weighted. scores: (D, K) the score of
    each option, its mean if votes leave it open. solution: the policy with its certificate.
    interval: what each user's utility is between with probability 95 %, two (D,) arrays; None for
    stated orders, which leave nothing open, and for users too many to keep draws for. silent: (D,)
    who prefers no option to another. majority: what the majority's single choice gives instead.

    Utilities are from 0 to 1, and 1 is the user's own favourite all the time.
    """

    ballots: Ballots
    welfare: Welfare
    scoring: str
    per: str
    weights: Floats
    scores: Floats
    solution: Solution
    interval: tuple[Floats, Floats] | None
    silent: Bools
    majority: Majority

    @property
    def policy(self) -> dict[str, float]:
        """The share of each option."""
        return dict(zip(self.ballots.options, self.solution.policy.tolist(), strict=True))

    @cached_property
    def utilities(self) -> dict[str, Interval]:
        """What each user gets, with its interval."""
        means = self.solution.utilities
        low, high = (means, means) if self.interval is None else self.interval
        figures = zip(means.tolist(), low.tolist(), high.tolist(), strict=True)
        return {u: Interval(*f) for u, f in zip(self.ballots.users, figures, strict=True)}

    @cached_property
    def favourites(self) -> dict[str, str | None]:
        """The option of the highest score; several with = between, None for who prefers none."""
        best = self.scores >= self.scores.max(axis=1, keepdims=True) - WORSE
        options = np.array(self.ballots.options, object)
        return {
            user: None if quiet else " = ".join(options[own])
            for user, own, quiet in zip(self.ballots.users, best, self.silent, strict=True)
        }

    @cached_property
    def worse_off(self) -> dict[str, float]:
        """How much each user would lose by the majority's choice; only those who would lose."""
        lost = self.solution.utilities - self.majority.utilities
        order = np.argsort(-lost, kind="stable")
        users = self.ballots.users
        return {users[d]: float(lost[d]) for d in order if lost[d] > WORSE}

    @cached_property
    def price_of_fairness(self) -> float:
        """The share by which the mean utility is below the highest that any policy reaches."""
        means = self.weights @ self.scores
        return max(0.0, 1.0 - float(means @ self.solution.policy) / float(means.max()))

    @cached_property
    def quantiles(self) -> dict[float, tuple[float, float]]:
        """What users get at each share of them, from the worst off: here, and by the majority.

        The two have their own order of users.
        """
        shares = np.array(QUANTILES)
        here, there = (
            np.quantile(each, shares, method="inverted_cdf", weights=self.weights).tolist()
            for each in (self.solution.utilities, self.majority.utilities)
        )
        return dict(zip(QUANTILES, zip(here, there, strict=True), strict=True))

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """What to ask whom next, the most telling first; see ``next_questions``."""
        return next_questions(self.ballots, self.welfare, self.scoring)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the answer doubtful, each in one sentence that says what to do."""
        return self.ballots.warnings

    @property
    def named(self) -> bool:
        """Whether users are few enough to be named one by one."""
        return len(self.ballots.users) <= SHOWN

    def __repr__(self) -> str:
        return f"Fit({in_short(self.policy)}; {len(self.ballots.users):,} users)"

    def __str__(self) -> str:
        """Return tables and sentences for a terminal."""
        from fairduel.fitting.words import text

        return text(self)

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        from fairduel.fitting.words import html

        return html(self)

    def session(self, *, seed: int | None = None) -> Session:
        """Return a live session that goes on from these votes, for the same welfare and scoring.

        seed: the same one issues the same duels again; default: a new one.
        """
        if self.ballots.kind == "orders":
            raise InputError(
                "stated orders leave nothing to ask: a session goes on from votes on pairs."
            )
        learner = FairVOI(self.welfare, anytime=True, scoring=self.scoring)
        users, options = self.ballots.users, self.ballots.options
        return Session.from_votes(users, options, self.ballots.wins(), learner=learner, seed=seed)

    def plot(self) -> Figure:
        """Draw the options that are chosen, and what users get, beside the majority's choice."""
        from fairduel.fitting.figure import draw

        return draw(self)

    def report(self, folder: str | Path, command: str = "") -> Path:
        """Write report.html, report.md and their picture; return the path of the page.

        ``command`` says in the report how to make it again.
        """
        from fairduel.fitting.document import document
        from fairduel.report.write import write_report

        return write_report(document(self, command), Path(folder))[0]
