"""What a learner wants to play next, until it wants to hear the answers.

An offer is a promise: nothing heard while it lasts would change it. So a simulator may draw all
of its rounds at once and still be exact in law, and a live session may draw one round of it at a
time. A driver may stop an offer after any round; asked again, the learner offers the rest.

``listen`` says whether the learner wants the answers. Where it is False no user needs to vote, and
the driver tells the learner only that the duels were played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError

SLACK = 1e-6  # by which the probabilities of a policy may miss 1


@dataclass(frozen=True, eq=False)
class Duels:
    """Pairs, each played a given number of times, in the order listed.

    pairs: (n, 2) arms, left and right; counts: (n,) how often to play each; phase: for reports.
    """

    pairs: Ints
    counts: Ints
    phase: str = "explore"
    listen: bool = True

    @property
    def rounds(self) -> int:
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Mix:
    """Rounds whose left arm is drawn from ``left`` and right arm from ``right``, independently."""

    left: Floats
    right: Floats
    rounds: int
    phase: str = "exploit"
    listen: bool = True


@dataclass(frozen=True, eq=False)
class Script:
    """Duels at times fixed in advance, and between them a policy that follows their answers.

    Step b plays ``policies[b]`` on both sides for ``gaps[b]`` rounds (phase "exploit", without
    listening), then the duel ``pairs[b]`` once (phase "explore", its answers are heard). Neither
    the times nor the pairs depend on any answer; that is why all answers may be drawn first.

    ``follow(answers)`` takes ``answers[b, d]`` of the first n duels, 1.0 where user d preferred
    ``pairs[b, 0]``, and returns the policies (rows) of steps 0 to n, as far as these exist.
    """

    gaps: Ints
    pairs: Ints
    follow: Callable[[Floats], Floats]

    @property
    def rounds(self) -> int:
        return int(self.gaps.sum()) + len(self.gaps)


Play = Duels | Mix | Script
"""An offer: what a learner wants to play next, until it wants to hear the answers."""


def commit(policy: Floats, rounds: int) -> Mix:
    """Return the offer to draw both arms from one policy for ``rounds``, without listening."""
    return Mix(policy, policy, rounds, listen=False)


@dataclass(frozen=True)
class Shown:
    """One round of an offer: the two arms, and whether the learner wants the answers."""

    left: int
    right: int
    phase: str
    listen: bool


def draw_round(play: Play, users: int, rng: np.random.Generator) -> Shown:
    """Draw the first round of an offer."""
    if isinstance(play, Duels):
        left, right = play.pairs[np.flatnonzero(play.counts)[0]]
        return Shown(int(left), int(right), play.phase, play.listen)
    if isinstance(play, Mix):
        left, right = draw_arm(play.left, rng), draw_arm(play.right, rng)
        return Shown(left, right, play.phase, play.listen)
    return draw_round(next_part(play, users), users, rng)


def next_part(script: Script, users: int) -> Duels | Mix:
    """Return the rounds of a script before its first duel, or that duel if there are none."""
    if script.gaps[0] > 0:
        return commit(script.follow(np.zeros((0, users)))[0], int(script.gaps[0]))
    return Duels(script.pairs[:1], np.ones(1, np.int64))


def draw_arm(policy: Floats, rng: np.random.Generator) -> int:
    """Draw one arm from a policy."""
    edges = np.cumsum(policy)
    return int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))


def check_offer(play: Play, arms: int, learner: object) -> None:
    """Refuse an offer that is none: of no rounds, of no arms, or of policies that are none."""
    if not isinstance(play, Duels | Mix | Script):
        raise InputError(
            f"{type(learner).__name__} offers {play!r}: an offer is Duels, a Mix or a Script."
        )
    if play.rounds < 1:
        raise InputError(
            f"{type(learner).__name__} offers {play.rounds} rounds: an offer has at least 1."
        )
    if isinstance(play, Mix):
        check_policy(play.left, arms, learner)
        if play.right is not play.left:
            check_policy(play.right, arms, learner)
    else:
        _check_duels(play, arms, learner)


def check_policy(policy: object, arms: int, learner: object, axes: int = 1) -> None:
    """Refuse what is no policy, or with two axes no policies: probabilities of arms, in sum 1."""
    # Written so that NaN fails too.
    if not (
        isinstance(policy, np.ndarray)
        and policy.dtype.kind in "fiu"
        and policy.ndim == axes
        and policy.shape[-1] == arms
        and policy.size > 0
        and policy.min() >= 0.0
        and abs(policy.sum(axis=-1) - 1.0).max() <= SLACK
    ):
        shown = " ".join(repr(policy).split())  # in one line
        raise InputError(
            f"{type(learner).__name__} gives {shown} for a policy: a policy is an array with a "
            f"probability for each of the {arms} arms, none negative, and they sum to 1."
        )


def _check_duels(play: Duels | Script, arms: int, learner: object) -> None:
    """Refuse arms that do not exist (numpy takes -1 for the last one), and negative numbers."""
    name = type(learner).__name__
    for arm in (int(play.pairs.min()), int(play.pairs.max())):
        if not 0 <= arm < arms:
            raise InputError(f"{name} offers a duel of arm {arm}: the arms are 0 to {arms - 1}.")
    fewest = int((play.counts if isinstance(play, Duels) else play.gaps).min())
    if fewest < 0:
        raise InputError(f"{name} offers a part of {fewest} rounds: none has less than 0.")
