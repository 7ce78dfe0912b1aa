"""The one loop that joins a learner and an instance."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import Seed
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners.learner import Learner
from fairduel.offers import Duels, Mix, Play, Script, check_offer, check_policy
from fairduel.simulation.answering import Answering
from fairduel.simulation.hearing import Asked, Patient, Prompt, add_answers
from fairduel.simulation.responses import Responses
from fairduel.simulation.trajectory import Trajectory, check_checkpoints
from fairduel.tally import Tally
from fairduel.welfare import Welfare

State = TypeVar("State")


def play(
    learner: Learner[State],
    instance: Instance,
    rounds: int,
    seed: Seed,
    checkpoints: Ints | int,
    welfare: Welfare,
    answering: Answering,
) -> Trajectory:
    """Play a learner against an instance; ``simulate`` says what the arguments are."""
    learner_seed, answers_seed = _two_seeds(seed)
    rates = answering.rates(len(instance.users))
    responses = Responses(instance, np.random.default_rng(answers_seed), rates)
    marks = check_checkpoints(checkpoints, rounds)
    delay = None if answering.prompt else answering.delay
    return play_against(responses, learner, instance, rounds, learner_seed, marks, welfare, delay)


def play_against(
    responses: Responses,
    learner: Learner[State],
    instance: Instance,
    rounds: int,
    learner_seed: int,
    marks: Ints,
    welfare: Welfare,
    delay: int | None = None,
) -> Trajectory:
    """Play a learner against a given source of answers.

    delay: how many rounds later answers come; None if everybody answers every duel at once.
    """
    stage = _Stage(instance, responses, welfare, learner)
    hearing: Prompt | Patient = (
        Prompt(responses, stage.users, stage.arms)
        if delay is None
        else Patient(responses, stage.users, stage.arms, delay)
    )
    best = welfare.maximize(instance.scores).value
    ledger = _Ledger(marks, stage.users)
    state = learner.init(stage.users, stage.arms, rounds, learner_seed)
    while ledger.played < rounds:
        offer, state = learner.ask(state)
        check_offer(offer, stage.arms, learner)
        part, most = hearing.part(offer)
        if part is not offer:  # the first rounds of a script, whose policy is known now
            check_offer(part, stage.arms, learner)
        lengths = ledger.stretches(most)
        outcome = stage.perform(part, lengths)
        ledger.add(lengths, outcome)
        heard = hearing.hear(outcome.asked, int(lengths.sum()))
        told = heard if outcome.wins is None else outcome.wins
        state = learner.tell(state, Tally(outcome.plays, told))
    policy = learner.policy(state)
    check_policy(policy, stage.arms, learner)
    return Trajectory(
        checkpoints=marks,
        earned=ledger.earned,
        utilities=ledger.utilities,
        best=best,
        phases=dict(ledger.phases),
        policy=policy,
        without_winner=instance.without_winner,
    )


@dataclass(frozen=True, eq=False)
class _Outcome:
    """The outcome of an offer: welfare and utilities by stretch, plays, and what was asked."""

    earned: Floats  # (C,)
    utilities: Floats  # (C, D)
    plays: Ints  # (K, K)
    phases: dict[str, int]
    asked: Asked | None = None  # None if nobody needs to answer, or everybody has
    wins: Floats | None = None  # (D, K, K), if everybody has


class _Stage:
    """Where offers are played: knows the truth, which learners never see."""

    def __init__(
        self, instance: Instance, responses: Responses, welfare: Welfare, learner: object
    ) -> None:
        self._learner = learner  # for what is said of its policies
        self.users, self.arms = instance.scores.shape
        self._responses = responses
        self._welfare = welfare
        self._scores = instance.scores
        values = welfare.value(self._scores.T)  # of playing one arm for certain
        self._pair_values = (values[:, None] + values) / 2  # Eq. 5, of a duel
        by_arm = self._scores.T
        self._pair_utilities = (by_arm[:, None] + by_arm) / 2  # Section 5.1, of a duel

    def perform(self, play: Play, lengths: Ints) -> _Outcome:
        """Play the first rounds of an offer, in stretches of these lengths."""
        if isinstance(play, Duels):
            return self._duels(play, lengths)
        if isinstance(play, Mix):
            return self._mix(play, lengths)
        return self._script(play, lengths)

    def _duels(self, play: Duels, lengths: Ints) -> _Outcome:
        """Play pairs in the order listed."""
        ends = play.counts.cumsum()
        cuts = lengths.cumsum()[:, None]
        by_cut = np.minimum(np.maximum(cuts - ends + play.counts, 0), play.counts)
        counts = by_cut[-1]  # how often each pair is played by the end, and by each cut
        stretches = by_cut.copy()
        stretches[1:] -= by_cut[:-1]
        left, right = play.pairs.T
        plays = np.zeros((self.arms, self.arms), np.int64)
        np.add.at(plays, (left, right), counts)
        return _Outcome(
            stretches @ self._pair_values[left, right],
            stretches @ self._pair_utilities[left, right],
            plays,
            {play.phase: int(counts.sum())},
            Asked(play.pairs, stretches, in_order=True) if play.listen else None,
        )

    def _mix(self, play: Mix, lengths: Ints) -> _Outcome:
        counts = self._responses.pairs(play.left, play.right, lengths)
        shown = counts.sum(axis=1) + counts.sum(axis=2)
        value = (self._value(play.left) + self._value(play.right)) / 2
        plays = counts.sum(axis=0)
        pairs = np.argwhere(plays)
        asked = Asked(pairs, counts[:, pairs[:, 0], pairs[:, 1]], in_order=False)
        return _Outcome(
            lengths * value,
            self._utilities(shown),
            plays,
            {play.phase: int(lengths.sum())},
            asked if play.listen else None,
        )

    def _script(self, play: Script, lengths: Ints) -> _Outcome:
        rounds = int(lengths.sum())
        ends = np.cumsum(play.gaps + 1)
        asked = int(np.searchsorted(ends, rounds, side="right"))
        pairs = play.pairs[:asked]
        answers = self._responses.answers(pairs, np.ones(asked, np.int64))
        policies = play.follow(answers)
        check_policy(policies, self.arms, self._learner, axes=2)
        steps = len(policies)
        shown, plays = self._responses.walk(
            policies, play.gaps[:steps], play.pairs[:steps], lengths
        )
        wins = Tally.empty(self.users, self.arms).wins
        add_answers(wins, pairs, np.ones(asked, np.int64), answers)
        return _Outcome(
            self._script_value(play, policies, lengths),
            self._utilities(shown),
            plays,
            {"explore": asked, "exploit": rounds - asked},
            wins=wins,
        )

    def _script_value(self, play: Script, policies: Floats, lengths: Ints) -> Floats:
        """Return the welfare of each stretch: between changes of policy it grows linearly."""
        steps = len(policies)
        pieces = np.stack([play.gaps[:steps], np.ones(steps, np.int64)], axis=1).ravel()
        duels = self._pair_values[play.pairs[:steps, 0], play.pairs[:steps, 1]]
        values = np.stack([self._value(policies), duels], axis=1).ravel()
        knots = np.append(0, np.cumsum(pieces))
        total = np.append(0.0, np.cumsum(pieces * values))
        cuts = np.append(0, np.cumsum(lengths))
        return np.diff(np.interp(cuts, knots, total))

    def _value(self, policies: Floats) -> Floats:
        """Return the welfare (Eq. 3 for Nash) of policies, over the last axis."""
        return self._welfare.value(policies @ self._scores.T)

    def _utilities(self, shown: Ints) -> Floats:
        """Return half the score of either arm shown (Section 5.1)."""
        return np.asarray(0.5 * (shown @ self._scores.T))


class _Ledger:
    """A ledger that sums what was earned and reads it off at the checkpoints."""

    def __init__(self, marks: Ints, users: int) -> None:
        self.marks = marks
        self.played = 0
        self.earned = np.zeros(len(marks))
        self.utilities = np.zeros((len(marks), users))
        self.phases: Counter[str] = Counter()
        self._passed = 0  # checkpoints read off
        self._earned_now = 0.0
        self._utilities_now = np.zeros(users)

    def stretches(self, rounds: int) -> Ints:
        """Return the next rounds, up to the last checkpoint, cut at every checkpoint."""
        end = min(self.played + rounds, int(self.marks[-1]))
        inside = self.marks[self._passed : self.marks.searchsorted(end)]
        lengths = np.append(inside, end)
        lengths[1:] -= inside
        lengths[0] -= self.played
        return lengths

    def add(self, lengths: Ints, outcome: _Outcome) -> None:
        """Book the stretches of an offer; all but perhaps the last end at a checkpoint."""
        earned = self._earned_now + outcome.earned.cumsum()
        utilities = self._utilities_now + outcome.utilities.cumsum(axis=0)
        self._earned_now, self._utilities_now = earned[-1], utilities[-1]
        self.played += int(lengths.sum())
        for phase, rounds in outcome.phases.items():
            self.phases[phase] += rounds
        reached = int(self.marks.searchsorted(self.played, side="right"))
        new = reached - self._passed
        self.earned[self._passed : reached] = earned[:new]
        self.utilities[self._passed : reached] = utilities[:new]
        self._passed = reached


def _two_seeds(seed: Seed) -> tuple[int, int]:
    """Return independent seeds for the learner and for the answers."""
    if isinstance(seed, np.random.Generator):
        a, b = seed.integers(0, 2**63, size=2)
    elif isinstance(seed, int | np.integer) and seed >= 0:
        a, b = np.random.SeedSequence(int(seed)).generate_state(2, np.uint64)
    else:
        raise InputError(f"the seed is {seed!r}: give a whole number from 0 up, or a Generator.")
    return int(a), int(b)
