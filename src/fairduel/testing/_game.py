"""The game in which learners are tested: simulated users whose answers are fixed in advance."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel._codec import encode
from fairduel.learners.learner import Learner
from fairduel.offers import Duels, Mix, Play, Script
from fairduel.tally import Tally
from fairduel.testing._checks import check, check_policy

USERS, ARMS = 2, 3
LONG = 12_000  # enough for the paper's learners to reach their last phase
SHORT = 60


class Played:
    """Rounds that were played: the pairs shown, whether answers count, and the answers."""

    def __init__(self, pairs: Ints, listen: Bools, answers: Floats) -> None:
        self.pairs = pairs  # (n, 2)
        self.listen = listen  # (n,)
        self.answers = answers  # (n, D): 1 where the left arm was preferred; NaN where not heard


class Game:
    """A learner among users whose n-th answer about a pair is always the same."""

    def __init__(
        self, learner: Learner[Any], users: int, arms: int, horizon: int, seed: int = 1
    ) -> None:
        self.learner, self.users, self.arms, self.left = learner, users, arms, horizon
        self.state = learner.init(users, arms, horizon, seed)
        self.tied = False
        self.heard: Callable[[int], Bools] | None = None
        self._log: list[Played] = []
        # Each user likes the arms in an order of their own, and is rather sure of it.
        tastes = np.random.default_rng(users).permuted(np.tile(np.arange(arms), (users, 1)), axis=1)
        self._chances = 1.0 / (1.0 + np.exp(1.7 * (tastes[:, None, :] - tastes[:, :, None])))
        self._voters = {
            pair: np.random.default_rng([9, *pair])
            for pair in itertools.product(range(arms), repeat=2)
        }
        self._dice = np.random.default_rng(8)

    def ask(self) -> Play:
        play, self.state = self.learner.ask(self.state)
        _check_offer(play, self.arms)
        return play

    def tell(self, tally: Tally) -> None:
        self.state = self.learner.tell(self.state, tally)

    def policy(self) -> Floats:
        return self.learner.policy(self.state)

    def play(self, most: int) -> None:
        """Ask, play at most ``most`` rounds of the offer, and tell."""
        played = self.draw(self.ask(), most)
        self.tell(self.issued(played) + self.answered(played))

    def fork(self) -> Game:
        """Return a copy that goes its own way from here."""
        fork = copy.copy(self)
        fork.state, fork._voters, fork._dice = copy.deepcopy((self.state, self._voters, self._dice))
        fork._log = list(self._log)
        return fork

    def told(self, tallies: list[Tally]) -> Game:
        """Return a copy that was told these tallies, one after the other."""
        fork = self.fork()
        for tally in tallies:
            fork.tell(tally)
        return fork

    def draw(self, play: Play, most: int) -> Played:
        """Play the first rounds of an offer."""
        rounds = min(play.rounds, most)
        if isinstance(play, Script):
            if self.heard is not None:  # a script follows complete answers only: play one step
                rounds = min(rounds, int(play.gaps[0]) + 1)
            played = self._script(play, rounds)
        else:
            if isinstance(play, Duels):
                pairs = np.repeat(play.pairs, play.counts, axis=0)[:rounds]
            else:
                pairs = self._drawn(np.tile([play.left, play.right], (rounds, 1, 1)))
            played = Played(pairs, np.full(rounds, play.listen), np.zeros((rounds, self.users)))
            if play.listen:
                played.answers = self.answers(pairs)
        self.left -= rounds
        self._log.append(played)
        return played

    def _script(self, play: Script, rounds: int) -> Played:
        step = np.repeat(np.arange(len(play.gaps)), play.gaps + 1)[:rounds]
        ends = np.cumsum(play.gaps + 1) - 1
        duels = ends[ends < rounds]
        answers = np.zeros((rounds, self.users))
        answers[duels] = self.answers(play.pairs[: len(duels)])
        between = np.setdiff1d(np.arange(rounds), duels)
        pairs = play.pairs[step]
        policies = play.follow(answers[duels[: step[-1]]])[step[between]]
        pairs[between] = self._drawn(np.stack([policies, policies], axis=1))
        return Played(pairs, np.isin(np.arange(rounds), duels), answers)

    def _drawn(self, policies: Floats) -> Ints:
        """Draw an arm from each of the policies (n, 2, K)."""
        edges = policies.cumsum(axis=2)
        dice = self._dice.random(edges.shape[:2]) * edges[:, :, -1]
        return np.asarray((edges <= dice[:, :, None]).sum(axis=2), np.int64)

    def answers(self, pairs: Ints) -> Floats:
        """Return what the users say to each pair, in turn."""
        answers = np.empty((len(pairs), self.users))
        for i, j in np.unique(np.sort(pairs, axis=1), axis=0).tolist():
            here = (pairs.min(axis=1) == i) & (pairs.max(axis=1) == j)
            dice = self._voters[i, j].random((here.sum(), self.users))
            answers[here] = (dice < self._chances[:, i, j]) == (pairs[here, :1] == i)
        if self.tied:
            answers[:] = 0.5
        if self.heard is not None:
            answers[~self.heard(len(pairs))] = np.nan
        return answers

    def issued(self, played: Played, which: Bools | None = None) -> Tally:
        """Return plays without answers."""
        tally = Tally.empty(self.users, self.arms)
        pairs = played.pairs if which is None else played.pairs[which]
        np.add.at(tally.plays, (pairs[:, 0], pairs[:, 1]), 1)
        return tally

    def answered(self, played: Played, which: Bools | None = None) -> Tally:
        """Return answers without plays."""
        tally = Tally.empty(self.users, self.arms)
        telling = played.listen & (played.pairs[:, 0] != played.pairs[:, 1])
        telling &= True if which is None else which
        left, right = played.pairs[telling].T
        for user, answers in enumerate(played.answers[telling].T):
            np.add.at(tally.wins[user], (left, right), np.nan_to_num(answers))
            np.add.at(tally.wins[user], (right, left), np.nan_to_num(1.0 - answers))
        return tally

    def asked_about(self) -> Ints:
        """Return every round whose answers count, and the pair shown: (n, 3)."""
        pairs = np.concatenate([played.pairs for played in self._log])
        rounds = np.flatnonzero(np.concatenate([played.listen for played in self._log]))
        return np.column_stack([rounds, pairs[rounds]])


Cut = Callable[[int], int]  # how many of the rounds offered to play


def whole(rounds: int) -> int:
    return rounds


def one(rounds: int) -> int:
    return 1


def at_random(seed: int) -> Cut:
    rng = np.random.default_rng(seed)
    return lambda rounds: int(rng.integers(1, rounds + 1))


def play_out(
    learner: Learner[Any],
    cut: Cut,
    users: int = USERS,
    arms: int = ARMS,
    horizon: int = LONG,
    seed: int = 1,
    tied: bool = False,
    heard: Callable[[int], Bools] | None = None,
) -> Game:
    """Play a whole game."""
    game = Game(learner, users, arms, horizon, seed)
    game.tied, game.heard = tied, heard
    while game.left > 0:
        game.play(min(cut(game.ask().rounds), game.left))
    return game


def moments(learner: Learner[Any]) -> Iterator[Game]:
    """Yield copies of games on their way: at the start, in every phase, near the end."""
    for horizon in (SHORT, LONG):
        cut = at_random(horizon)
        game = Game(learner, USERS, ARMS, horizon)
        for number in itertools.count():
            if number < 4 or number % 5 == 0:
                yield game.fork()
            if game.left <= 0:
                break
            game.play(cut(game.ask().rounds))


def view(game: Game) -> str:
    """Return what a game's learner would say now, in full."""
    play, _ = game.learner.ask(game.state)
    follows = play.follow(np.zeros((0, game.users))) if isinstance(play, Script) else None
    return as_text((shape(play, 0), follows, game.policy()))


def shape(play: Play, skip: int) -> tuple[object, ...]:
    """Return all of an offer but its first rounds, without the policies that answers decide."""
    if isinstance(play, Mix):
        return "mix", play.left, play.right, play.rounds - skip, play.phase, play.listen
    if isinstance(play, Duels):
        done = np.clip(skip - (np.cumsum(play.counts) - play.counts), 0, play.counts)
        counts = play.counts - done
        some = counts > 0
        return "duels", play.pairs[some], counts[some], play.phase, play.listen
    ends = np.cumsum(play.gaps + 1) - skip
    some = ends > 0
    gaps = np.diff(ends[some], prepend=0) - 1
    # A script whose last duel is over has been played to its end.
    return "script", gaps, play.pairs[some]


def as_text(value: object) -> str:
    return json.dumps(encode(value))


def _check_offer(play: Play, arms: int) -> None:
    """Check that policies are distributions, arms exist, and nothing is negative."""
    if isinstance(play, Mix):
        check_policy(play.left, arms)
        check_policy(play.right, arms)
        return
    check(bool(np.isin(play.pairs, range(arms)).all()), f"an arm offered is not one of the {arms}.")
    times = play.counts if isinstance(play, Duels) else play.gaps
    check(bool(np.all(times >= 0)), "something is offered a negative number of times.")
    check(len(times) == len(play.pairs), "an offer does not have one number for each pair.")
