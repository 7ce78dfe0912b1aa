"""Simulate: a learner plays an instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairduel._arrays import Ints
from fairduel._checks import Seed, whole_number
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners import FairVOI, Learner
from fairduel.learners.learner import check_learner
from fairduel.simulation.answering import Answering
from fairduel.simulation.loop import play
from fairduel.simulation.trajectory import Trajectory
from fairduel.welfare import Nash, Welfare
from fairduel.welfare.welfare import check_welfare

MOST_ROUNDS = 10**15  # sums over them stay exact in 64 bits


def simulate(
    instance: Instance,
    rounds: int,
    learner: Learner[Any] | None = None,
    *,
    seed: Seed = 0,
    checkpoints: Ints | int = 100,
    welfare: Welfare | None = None,
    answers: float | Sequence[float] = 1.0,
    delay: int = 0,
) -> Trajectory:
    """Simulate a learner (default: ``FairVOI()`` with the scoring of the instance) on an instance.

    Whole offers are drawn at once, which is exact in law (see ``fairduel.offers``), so the time
    it takes grows with the learner's decisions and not with the rounds. ``checkpoints`` are the
    rounds to read off at, or their number, evenly spaced; ``logarithmic_checkpoints`` spaces
    them otherwise. Regret is measured in ``welfare`` (default: Nash, as in the paper); the
    learner has its own setting of what to maximise. The same seed always gives the same result.

    Each user answers each duel with probability ``answers`` (one number, or one for each user), and
    answers are heard ``delay`` rounds later; those under way when the rounds end are not heard.
    Plays are known at once, as in a ``Session``.
    """
    if not isinstance(instance, Instance):
        raise InputError(f"the instance is {instance!r}: give an Instance, then the rounds.")
    rounds = whole_number("rounds", rounds, 1, MOST_ROUNDS)
    learner = FairVOI(scoring=instance.scoring) if learner is None else learner
    check_learner(learner)
    welfare = Nash() if welfare is None else welfare
    check_welfare(welfare)
    answering = Answering(answers, delay)
    return play(learner, instance, rounds, seed, checkpoints, welfare, answering)
