"""Slow and plain: what the fast simulator and the learners are compared with.

``simulate_round_by_round`` drives any learner one round at a time. ``TapeResponses`` fixes every
answer in advance, so that it and the fast simulator can play the very same game. ``fair_etc`` and
``fair_epsilon_greedy`` are the paper's algorithms written down without the package's learners.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.instance import Instance
from fairduel.learners import Learner
from fairduel.offers import Duels, Mix, Play, draw_arm, draw_round
from fairduel.simulation.responses import Responses
from fairduel.simulation.trajectory import Trajectory
from fairduel.tally import Tally
from fairduel.welfare import Nash

# Any learner, one round at a time


def simulate_round_by_round(
    learner: Learner[Any],
    instance: Instance,
    rounds: int,
    learner_seed: int,
    responses: Responses,
    dice: np.random.Generator,
    delay: int | None = None,
) -> Trajectory:
    """Ask, draw one round of the offer, hear one answer from each user, tell; every round counts.

    ``dice`` draw the arms of policies, ``responses`` the answers. Every round is a checkpoint.
    With a delay only some users answer, that many rounds later.
    """
    users, arms = instance.scores.shape
    scores = instance.scores
    state = learner.init(users, arms, rounds, learner_seed)
    earned, utilities = np.zeros(rounds), np.zeros((rounds, users))
    phases: Counter[str] = Counter()
    waiting: list[tuple[int, int] | None] = []
    for t in range(rounds):
        play, state = learner.ask(state)
        shown = draw_round(play, users, dice)
        earned[t] = np.mean([(scores @ policy).prod() for policy in _policies(play, users, arms)])
        utilities[t] = (scores[:, shown.left] + scores[:, shown.right]) / 2
        phases[shown.phase] += 1
        tally = Tally.empty(users, arms)
        tally.plays[shown.left, shown.right] = 1
        telling = shown.listen and shown.left != shown.right
        waiting.append((shown.left, shown.right) if telling else None)
        answered = waiting.pop(0) if len(waiting) > (delay or 0) else None
        if answered is not None:
            left, right = answered
            pair, once = np.array([answered]), np.array([1])
            if delay is None:
                likes = responses.answers(pair, once)[0]
                others = 1.0 - likes
            else:
                (likes,), (others,) = responses.some_answers(pair, once)
            tally.wins[:, left, right] = likes
            tally.wins[:, right, left] = others
        state = learner.tell(state, tally)
    return Trajectory(
        checkpoints=np.arange(1, rounds + 1),
        earned=earned.cumsum(),
        utilities=utilities.cumsum(axis=0),
        best=Nash().maximize(scores).value,
        phases=dict(phases),
        policy=learner.policy(state),
    )


def _policies(play: Play, users: int, arms: int) -> tuple[Floats, Floats]:
    """What the two arms of the first round of an offer are drawn from."""
    sure = np.eye(arms)
    if isinstance(play, Mix):
        return play.left, play.right
    if isinstance(play, Duels):
        left, right = play.pairs[play.counts > 0][0]
        return sure[left], sure[right]
    if play.gaps[0] == 0:
        left, right = play.pairs[0]
        return sure[left], sure[right]
    policy = play.follow(np.zeros((0, users)))[0]
    return policy, policy


class TapeResponses(Responses):
    """The n-th duel of a pair always gets the same answers, and the n-th draw the same dice."""

    def __init__(self, instance: Instance, seed: int, rates: Floats | None = None) -> None:
        self.dice = np.random.default_rng([seed, 0])
        super().__init__(instance, self.dice, rates)
        arms = len(instance.arms)
        self._voters = {
            (i, j): np.random.default_rng([seed, 1, i, j])
            for i in range(arms)
            for j in range(i, arms)
        }

    def answers(self, pairs: Ints, counts: Ints) -> Floats:
        users = len(self._preferences)
        answers = np.zeros((len(pairs), users))
        for row, ((left, right), count) in enumerate(
            zip(pairs.tolist(), counts.tolist(), strict=True)
        ):
            i, j = min(left, right), max(left, right)
            votes = self._voters[i, j].random((count, users)) < self._preferences[:, i, j]
            likes = votes.sum(axis=0)
            answers[row] = likes if left == i else count - likes
        return answers

    def some_answers(self, pairs: Ints, counts: Ints) -> tuple[Floats, Floats]:
        users = len(self._preferences)
        likes, others = np.zeros((2, len(pairs), users))
        for row, ((left, right), count) in enumerate(
            zip(pairs.tolist(), counts.tolist(), strict=True)
        ):
            i, j = min(left, right), max(left, right)
            dice = self._voters[i, j].random((count, 2, users))
            said, first = dice[:, 0] < self._rates, dice[:, 1] < self._preferences[:, i, j]
            votes = [(said & first).sum(axis=0), (said & ~first).sum(axis=0)]
            likes[row], others[row] = votes if left == i else votes[::-1]
        return likes, others

    def pairs(self, left: Floats, right: Floats, lengths: Ints) -> Ints:
        counts = np.zeros((len(lengths), left.size, right.size), np.int64)
        for stretch, rounds in enumerate(lengths.tolist()):
            for _ in range(rounds):
                counts[stretch, draw_arm(left, self.dice), draw_arm(right, self.dice)] += 1
        return counts

    def walk(self, policies: Floats, gaps: Ints, duels: Ints, lengths: Ints) -> tuple[Ints, Ints]:
        arms = policies.shape[1]
        stretch_of = np.repeat(np.arange(len(lengths)), lengths)
        step_of = np.repeat(np.arange(len(gaps)), gaps + 1)[: len(stretch_of)]
        is_duel = np.isin(np.arange(len(stretch_of)), np.cumsum(gaps + 1) - 1)
        shown = np.zeros((len(lengths), arms), np.int64)
        plays = np.zeros((arms, arms), np.int64)
        for stretch, step, duel in zip(stretch_of, step_of, is_duel, strict=True):
            policy = policies[step]
            i, j = (
                duels[step] if duel else (draw_arm(policy, self.dice), draw_arm(policy, self.dice))
            )
            shown[stretch, i] += 1
            shown[stretch, j] += 1
            plays[i, j] += 1
        return shown, plays


# The paper's algorithms, straight from the pseudo-code

Solve = Callable[[Floats, Floats | None], Floats]  # scores (D, K), the policy before -> policy

GAP_GUESS = 0.0025
ETC_CONSTANT = 0.25
EPSILON_CONSTANT = 0.1


@dataclass(frozen=True)
class Record:
    """What came of a run, round by round; ``identified`` and ``explored`` are rounds."""

    earned: Floats  # (T,): Nash welfare of what was played
    utilities: Floats  # (D,): totals
    identified: int
    explored: int
    winners: tuple[int, ...] | None  # None if the horizon came first


def fair_etc(instance: Instance, rounds: int, rng: np.random.Generator, solve: Solve) -> Record:
    """Algorithm 1."""
    arena = _Arena(instance, rounds, rng)
    users, arms = arena.users, arena.arms
    try:
        winners = _dkwt(arena, _delta(arms, rounds) / users)  # line 1
        arena.phase = "explore"
        best = sorted(set(winners))
        size = (users / (arms * len(best))) ** (2 / 3) * rounds ** (2 / 3)
        length = math.ceil(ETC_CONSTANT * size * math.log(users * arms * rounds) ** (1 / 3))
        estimates = _Estimates(winners, arms)  # line 2
        for w in best:  # line 3
            for a in range(arms):
                for _ in range(length if a != w else 0):
                    estimates.add(a, w, arena.duel(a, w))  # lines 4-6
        policy = solve(estimates.scores(), None)  # line 8
        arena.phase = "exploit"
        arena.use(policy)
        while True:
            arena.exploit()  # line 10
    except _Over:
        return arena.record()


def fair_epsilon_greedy(
    instance: Instance, rounds: int, rng: np.random.Generator, solve: Solve
) -> Record:
    """Algorithm 2, solved again wherever the estimates have changed."""
    arena = _Arena(instance, rounds, rng)
    users, arms = arena.users, arena.arms
    try:
        winners = _dkwt(arena, _delta(arms, rounds) / users)  # line 1
        best = sorted(set(winners))
        schedule = [(a, w) for w in best for a in range(arms) if a != w]
        estimates = _Estimates(winners, arms)  # line 2
        arena.phase = "explore"
        for a, w in schedule:  # lines 3-6
            estimates.add(a, w, arena.duel(a, w))
        rate = EPSILON_CONSTANT * users ** (2 / 3) * (arms * len(best)) ** (1 / 3)
        policy, stale, turn, t = None, True, 0, 0
        while True:  # line 7
            t += 1
            epsilon = rate * (math.log(users * arms * t) / t) ** (1 / 3)
            if rng.random() <= epsilon:  # lines 8-9
                a, w = schedule[turn % len(schedule)]
                arena.phase = "explore"
                estimates.add(a, w, arena.duel(a, w))  # line 10
                turn, stale = turn + 1, True
                continue
            if stale:
                policy = solve(estimates.scores(), policy)  # line 12
                arena.use(policy)
                stale = False
            arena.phase = "exploit"
            arena.exploit()  # lines 13-14
    except _Over:
        return arena.record()


class _Over(Exception):
    """The horizon is reached."""


class _Arena:
    """Plays rounds of an instance and keeps the books."""

    def __init__(self, instance: Instance, rounds: int, rng: np.random.Generator) -> None:
        self.users, self.arms = instance.scores.shape
        self.phase = "identify"
        self.winners: tuple[int, ...] | None = None
        self.rng = rng
        self._preferences = np.ascontiguousarray(instance.preferences.transpose(1, 2, 0))
        self._scores = instance.scores
        self._values = instance.scores.prod(axis=0)
        self._earned = np.zeros(rounds)
        self._shown = np.zeros(self.arms)
        self._phases = {"identify": 0, "explore": 0, "exploit": 0}
        self._t = 0

    def duel(self, i: int, j: int) -> Floats:
        """Play a pair; gives 1 for each user who prefers i, and else 0."""
        self._book(i, j, (self._values[i] + self._values[j]) / 2)
        likes = self.rng.random(self.users) < self._preferences[i, j]
        return np.asarray(likes, np.float64)

    def use(self, policy: Floats) -> None:
        """The policy of the rounds to come."""
        self._edges = np.cumsum(policy)
        self._edges[-1] = 1.0
        self._value = float((self._scores @ policy).prod())

    def exploit(self) -> None:
        i, j = np.searchsorted(self._edges, self.rng.random(2), side="right")
        self._book(i, j, self._value)

    def _book(self, i: int, j: int, value: float) -> None:
        if self._t == len(self._earned):
            raise _Over
        self._earned[self._t] = value
        self._shown[i] += 0.5
        self._shown[j] += 0.5
        self._phases[self.phase] += 1
        self._t += 1

    def record(self) -> Record:
        return Record(
            self._earned,
            self._scores @ self._shown,
            self._phases["identify"],
            self._phases["explore"],
            self.winners,
        )


class _Estimates:
    """Shares of duels won against each user's winner (lines 2 and 5 of Algorithm 1).

    Both (a, a*) and (a*, a) count for a pair of two winners.
    """

    def __init__(self, winners: tuple[int, ...], arms: int) -> None:
        users = len(winners)
        self._each, self._winners = np.arange(users), np.array(winners)
        self._wins = np.zeros((users, arms, arms))
        self._plays = np.zeros((arms, arms))

    def add(self, a: int, w: int, likes: Floats) -> None:
        self._wins[:, a, w] += likes
        self._wins[:, w, a] += 1.0 - likes
        self._plays[a, w] += 1
        self._plays[w, a] += 1

    def scores(self) -> Floats:
        plays = np.maximum(self._plays[:, self._winners].T, 1.0)
        scores = 2.0 * self._wins[self._each, :, self._winners] / plays
        scores[self._each, self._winners] = 1.0
        return np.asarray(scores)


def _delta(arms: int, rounds: int) -> float:
    """Theorem 4.2."""
    return arms * math.log(arms / 2) / (2 * GAP_GUESS * rounds)


def _dkwt(arena: _Arena, delta: float) -> tuple[int, ...]:
    """Algorithm 4: users in order, and for each the winner stays on against a random arm."""
    candidates = [set(range(arena.arms)) for _ in range(arena.users)]  # line 2
    trackers = np.ones((arena.arms, arena.arms), int)  # line 3
    wins = np.zeros((arena.users, arena.arms, arena.arms))
    for d, mine in enumerate(candidates):  # lines 5-6
        champion = None
        while len(mine) > 1:
            if champion is None:
                champion = arena.rng.choice(sorted(mine))
            challenger = arena.rng.choice(sorted(mine - {champion}))  # line 7
            _dkw_compare(
                arena, champion, challenger, d, delta / arena.arms, candidates, trackers, wins
            )
            champion = challenger if champion not in mine else champion
    arena.winners = tuple(min(mine) for mine in candidates)  # lines 11-14
    return arena.winners


def _dkw_compare(
    arena: _Arena,
    i: int,
    j: int,
    user: int,
    delta: float,
    candidates: list[set[int]],
    trackers: Ints,
    wins: Floats,
) -> None:
    """Algorithm 3; the empirical probability is over all duels of the pair so far."""
    while {i, j} <= candidates[user]:  # line 3
        r = int(trackers[i, j])
        width = 2.0 ** -(r + 1)  # line 4
        adjusted = 6 * delta / (math.pi**2 * r**2)  # line 5
        for _ in range(math.ceil(8 * math.log(4 / adjusted) / width**2)):  # lines 6-7
            likes = arena.duel(i, j)
            wins[:, i, j] += likes
            wins[:, j, i] += 1.0 - likes
        for d, mine in enumerate(candidates):
            if {i, j} <= mine:  # line 9
                share = wins[d, i, j] / (wins[d, i, j] + wins[d, j, i])  # line 11
                if abs(share - 0.5) > 0.5 * width:  # line 12
                    mine.remove(j if share > 0.5 else i)  # lines 13-17
        trackers[i, j] = trackers[j, i] = r + 1  # lines 21-22
