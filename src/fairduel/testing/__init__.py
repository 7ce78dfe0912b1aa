"""The laws that every learner and every welfare obeys, for testing your own.

    import pytest
    from fairduel.testing import LEARNER_LAWS

    @pytest.mark.parametrize("law", LEARNER_LAWS)
    def test_my_learner(law):
        law(MyLearner())

A law is a function that raises AssertionError with a sentence about what went wrong. It plays
the learner against made-up users whose n-th answer about a pair of arms is fixed in advance, so
that runs which ought to be the same can be compared to the last duel. Learners are tried with
problems of several sizes: give one that is not bound to a size, as known winners would be.
``WELFARE_LAWS`` do the same for a welfare, without weights of its users.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel._codec import classes_in, decode, encode
from fairduel.learners.learner import Learner
from fairduel.offers import Duels, Mix, Play, Script
from fairduel.tally import Tally
from fairduel.welfare import Welfare

USERS, ARMS = 2, 3
LONG = 12_000  # enough for the paper's learners to reach their last phase
SHORT = 60
CLOSE = 1e-3  # how far the policies of two solutions may lie apart; their values are far closer


# Learners


def tell_order_does_not_matter(learner: Learner[Any]) -> None:
    """Tallies told in any order, or added up, lead to the same offer and the same policy."""
    for game in _moments(learner):
        play = game.ask()
        played = game.draw(play, min(play.rounds, 30))
        third = np.arange(len(played.pairs)) % 3
        pieces = [game.issued(played, third == k) for k in range(3)]
        pieces += [game.answered(played, third == k) for k in range(3)]
        orders = (pieces, pieces[::-1], [sum(pieces[1:], pieces[0])])
        views = [_view(game.told(order)) for order in orders]
        _check(views[0] == views[1], "telling tallies in reverse order changes what comes next.")
        _check(views[0] == views[2], "telling the sum of tallies changes what comes next.")


def telling_nothing_changes_nothing(learner: Learner[Any]) -> None:
    """An empty tally changes neither the next offer nor the policy."""
    for game in _moments(learner):
        same = _view(game) == _view(game.told([Tally.empty(game.users, game.arms)]))
        _check(same, "telling an empty tally changes what comes next.")


def asked_again_it_offers_the_rest(learner: Learner[Any]) -> None:
    """After a part of an offer, whatever was answered, the rest of it is offered."""
    for game in _moments(learner):
        play = game.ask()
        _check(_text(_shape(play, 0)) == _text(_shape(game.ask(), 0)), "asking twice differs.")
        for part in {1, play.rounds // 2, play.rounds - 1} - {0, play.rounds}:
            fork = game.fork()
            fork.play(part)
            rest, offered = _text(_shape(play, part)), _text(_shape(fork.ask(), 0))
            _check(rest == offered, f"after {part} rounds of an offer the rest is not offered.")


def a_run_does_not_depend_on_how_offers_are_cut(learner: Learner[Any]) -> None:
    """However offers are cut, the same duels are asked about in the same rounds."""
    for horizon in (SHORT, LONG):
        cuts = [_whole, _at_random(1), _at_random(2)] + [_one] * (horizon == SHORT)
        runs = [_run(learner, cut, horizon=horizon) for cut in cuts]
        for run in runs[1:]:
            same = np.array_equal(runs[0].asked_about(), run.asked_about())
            _check(same, "the duels that are asked about depend on how offers are cut.")
            near = np.abs(runs[0].policy() - run.policy()).max() <= CLOSE
            _check(bool(near), "the policy in the end depends on how offers are cut.")


def a_script_looks_at_past_answers_only(learner: Learner[Any]) -> None:
    """``follow`` gives the same policies for the first answers whatever the later ones are."""
    for game in _moments(learner):
        play = game.ask()
        if not isinstance(play, Script):
            continue
        answers = game.answers(play.pairs)
        policies = play.follow(answers)
        _check(len(policies) == len(play.pairs), "follow gives not one policy for each step.")
        for policy in policies:
            _check_policy(policy, game.arms)
        for known in {0, 1, len(answers) // 2}:
            steps = min(known + 1, len(policies))
            first = play.follow(answers[:known])
            _check(len(first) == steps, f"follow gives {len(first)} policies for {steps} steps.")
            near = np.abs(first - policies[:steps]).max() <= CLOSE
            _check(bool(near), "a policy of a script depends on later answers.")


def a_state_can_be_saved_and_restored(learner: Learner[Any]) -> None:
    """A state that went through JSON goes on like the original, to the bit."""
    for game in _moments(learner):
        text = _text(game.state)
        twin = game.fork()
        twin.state = decode(json.loads(text), classes_in(type(game.state)))
        _check(_text(twin.state) == text, "a restored state differs from the one saved.")
        _check(_view(twin) == _view(game), "a restored state leads to another offer.")
        for _ in range(5):
            game.play(500)
            twin.play(500)
        _check(_text(twin.state) == _text(game.state), "a restored state goes another way.")


def answers_may_be_missing(learner: Learner[Any]) -> None:
    """Some users, or all of them, never answer; the learner goes on."""

    def never(rounds: int) -> Bools:
        return np.zeros((rounds, USERS), bool)

    def first_only(rounds: int) -> Bools:
        return np.tile(np.arange(USERS) == 0, (rounds, 1))

    def now_and_then(rounds: int) -> Bools:
        heard: Bools = (np.arange(rounds)[:, None] + 2 * np.arange(USERS)) % 3 == 0
        return heard

    for heard, horizon in itertools.product((never, first_only, now_and_then), (SHORT, LONG)):
        game = _run(learner, _at_random(3), horizon=horizon, heard=heard)
        _check_policy(game.policy(), game.arms)


def answers_may_be_late(learner: Learner[Any]) -> None:
    """Answers that come after other duels were played, or after all of them, are taken."""
    for delay, horizon in itertools.product((1, 10, LONG), (SHORT, LONG)):
        game = _Game(learner, USERS, ARMS, horizon)
        waiting: list[Tally] = []
        while game.left > 0:
            played = game.draw(game.ask(), 200)
            game.tell(game.issued(played))
            waiting.append(game.answered(played))
            if len(waiting) > delay:
                game.tell(waiting.pop(0))
            _check_policy(game.policy(), game.arms)
        for tally in waiting:
            game.tell(tally)
        game.ask()
        _check_policy(game.policy(), game.arms)


def answers_may_be_ties(learner: Learner[Any]) -> None:
    """Half a win for either arm is an answer like any other."""
    for horizon in (SHORT, LONG):
        game = _run(learner, _at_random(4), horizon=horizon, tied=True)
        _check_policy(game.policy(), game.arms)


def the_budget_is_kept(learner: Learner[Any]) -> None:
    """Offers add up to the horizon and no further; asked beyond it, the learner still answers."""
    for horizon in (1, 2, 3, SHORT, LONG):
        game = _Game(learner, USERS, ARMS, horizon)
        while game.left > 0:
            play = game.ask()
            _check(play.rounds >= 1, f"an offer has {play.rounds} rounds.")
            _check(
                play.rounds <= game.left,
                f"{play.rounds} rounds are offered where {game.left} are left.",
            )
            game.play(play.rounds)
        for _ in range(3):
            _check(game.ask().rounds >= 1, "beyond the horizon there is no offer.")
            game.play(1)
            _check_policy(game.policy(), game.arms)


def arguments_are_left_alone(learner: Learner[Any]) -> None:
    """``ask``, ``tell`` and ``policy`` change neither the state nor the tally they are given."""
    for game in _moments(learner):
        before = _text(game.state)
        play, _ = learner.ask(game.state)
        _check(_text(game.state) == before, "ask changes the state it is given.")
        learner.policy(game.state)
        _check(_text(game.state) == before, "policy changes the state it is given.")
        played = game.draw(play, 5)
        tally = game.issued(played) + game.answered(played)
        told = _text(tally)
        learner.tell(game.state, tally)
        _check(_text(game.state) == before, "tell changes the state it is given.")
        _check(_text(tally) == told, "tell changes the tally it is given.")


def the_same_seed_gives_the_same_run(learner: Learner[Any]) -> None:
    """Everything random comes from the seed."""
    first, second = (_run(learner, _whole, seed=5) for _ in range(2))
    same = np.array_equal(first.asked_about(), second.asked_about())
    _check(same and _text(first.state) == _text(second.state), "the same seed plays differently.")


def the_policy_is_a_distribution(learner: Learner[Any]) -> None:
    """At every moment the policy is made of probabilities that add up to one."""
    for game in _moments(learner):
        _check_policy(game.policy(), game.arms)
        game.ask()
        _check_policy(game.policy(), game.arms)
        game.play(1)
        _check_policy(game.policy(), game.arms)


def the_smallest_problems_work(learner: Learner[Any]) -> None:
    """One user, one or two arms, one round: nothing breaks."""
    for users, arms, horizon in itertools.product((1, 2), (1, 2), (1, 2, SHORT, 2000)):
        game = _run(learner, _whole, users=users, arms=arms, horizon=horizon)
        _check_policy(game.policy(), arms)


LEARNER_LAWS: tuple[Callable[[Learner[Any]], None], ...] = (
    tell_order_does_not_matter,
    telling_nothing_changes_nothing,
    asked_again_it_offers_the_rest,
    a_run_does_not_depend_on_how_offers_are_cut,
    a_script_looks_at_past_answers_only,
    a_state_can_be_saved_and_restored,
    answers_may_be_missing,
    answers_may_be_late,
    answers_may_be_ties,
    the_budget_is_kept,
    arguments_are_left_alone,
    the_same_seed_gives_the_same_run,
    the_policy_is_a_distribution,
    the_smallest_problems_work,
)


# Welfares


def a_solution_is_a_policy_and_its_utilities(welfare: Welfare) -> None:
    """The policy is a distribution, and utilities and value are those of the policy."""
    for scores in _score_matrices():
        solution = welfare.maximize(scores)
        _check_policy(solution.policy, scores.shape[1])
        near = np.allclose(solution.utilities, scores @ solution.policy, rtol=1e-9, atol=1e-12)
        _check(near, "the utilities are not those of the policy.")
        value = float(welfare.value(solution.utilities))
        _check(bool(np.isclose(solution.value, value)), "the value is not that of the utilities.")


def values_are_taken_over_the_last_axis(welfare: Welfare) -> None:
    """``value`` of many utilities at once is the value of each."""
    utilities = np.random.default_rng(1).random((4, 2, 3))
    values = welfare.value(utilities)
    _check(np.shape(values) == (4, 2), f"values of (4, 2, 3) utilities are {np.shape(values)}.")
    each = [[float(welfare.value(row)) for row in rows] for rows in utilities]
    _check(np.allclose(values, each), "values of many utilities differ from those of each.")


def no_policy_beats_the_gap(welfare: Welfare) -> None:
    """No other policy is worth more than the value and the gap allow, added or in log units."""
    rng = np.random.default_rng(2)
    for scores in _score_matrices():
        solution = welfare.maximize(scores)
        _check(solution.gap >= 0.0, f"the gap is {solution.gap}.")
        most = solution.value + solution.gap
        if solution.value > 0.0:
            most = max(most, solution.value * np.exp(min(solution.gap, 700.0)))
        arms = scores.shape[1]
        others = [np.eye(arms), rng.dirichlet(np.ones(arms), 50)]
        near = 0.99 * solution.policy + 0.01 * np.concatenate(others)
        best = welfare.value(np.concatenate([*others, near]) @ scores.T).max()
        _check(best <= most + 1e-12, f"a policy is worth {best}, and {most} should be the most.")


def nobody_is_preferred_by_number(welfare: Welfare) -> None:
    """Users and arms in another order get the same value."""
    rng = np.random.default_rng(3)
    for scores in _score_matrices():
        users, arms = rng.permutation(scores.shape[0]), rng.permutation(scores.shape[1])
        solution, other = welfare.maximize(scores), welfare.maximize(scores[users][:, arms])
        near = np.isclose(other.value, solution.value, rtol=_slack(solution.gap))
        _check(bool(near), "the value depends on the order of users and arms.")


def a_start_does_not_change_the_value(welfare: Welfare) -> None:
    """Begun from any policy, the result is worth the same."""
    rng = np.random.default_rng(4)
    for scores in _score_matrices():
        solution = welfare.maximize(scores)
        for start in (np.eye(scores.shape[1])[0], rng.dirichlet(np.ones(scores.shape[1]))):
            other = welfare.maximize(scores, start)
            near = np.isclose(other.value, solution.value, rtol=_slack(solution.gap))
            _check(bool(near), "the value depends on the policy to begin from.")


def following_is_maximizing_again_and_again(welfare: Welfare) -> None:
    """``follow`` gives policies worth as much as those of ``maximize``; of nothing, nothing."""
    rng = np.random.default_rng(5)
    for scores in _score_matrices():
        many = scores * rng.uniform(0.9, 1.0, (6, *scores.shape))
        policies = welfare.follow(many)
        _check(policies.shape == (6, scores.shape[1]), f"follow gives shape {policies.shape}.")
        for matrix, policy in zip(many, policies, strict=True):
            _check_policy(policy, scores.shape[1])
            solution = welfare.maximize(matrix)
            value = float(welfare.value(matrix @ policy))
            near = np.isclose(value, solution.value, rtol=_slack(solution.gap))
            _check(bool(near), "follow finds another value than maximize.")
        _check(len(welfare.follow(many[:0])) == 0, "follow of no scores gives policies.")


WELFARE_LAWS: tuple[Callable[[Welfare], None], ...] = (
    a_solution_is_a_policy_and_its_utilities,
    values_are_taken_over_the_last_axis,
    no_policy_beats_the_gap,
    nobody_is_preferred_by_number,
    a_start_does_not_change_the_value,
    following_is_maximizing_again_and_again,
)


def _score_matrices() -> Iterator[Floats]:
    """Scores of several sizes, some with zeros, equal users, equal arms."""
    rng = np.random.default_rng(6)
    for users, arms in ((1, 1), (1, 4), (4, 1), (2, 3), (3, 5), (6, 4), (10, 10)):
        scores = rng.uniform(0.05, 1.0, (users, arms))
        yield scores
        yield np.where(rng.random((users, arms)) < 0.3, 0.0, scores)
        yield np.repeat(scores, 2, axis=0)
        yield np.repeat(scores, 2, axis=1)


def _slack(gap: float) -> float:
    """How far two values may lie apart, relatively, that are both within the gap of the best."""
    return float(min(np.expm1(min(gap, 1.0)) + 1e-8, 1.0))


# The game that learners are tried in


class _Played:
    """Rounds that were played: the pairs shown, whether anybody listened, and the answers."""

    def __init__(self, pairs: Ints, listen: Bools, answers: Floats) -> None:
        self.pairs = pairs  # (n, 2)
        self.listen = listen  # (n,)
        self.answers = answers  # (n, D): 1 where the left arm was preferred; NaN where not heard


class _Game:
    """A learner among users whose n-th answer about a pair is always the same."""

    def __init__(
        self, learner: Learner[Any], users: int, arms: int, horizon: int, seed: int = 1
    ) -> None:
        self.learner, self.users, self.arms, self.left = learner, users, arms, horizon
        self.state = learner.init(users, arms, horizon, seed)
        self.tied = False
        self.heard: Callable[[int], Bools] | None = None
        self._log: list[_Played] = []
        # Each user likes the arms in an order of his own, and is rather sure of it.
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
        """Ask, play no more than so many rounds of the offer, and tell."""
        played = self.draw(self.ask(), most)
        self.tell(self.issued(played) + self.answered(played))

    def fork(self) -> _Game:
        """A copy that goes its own way from here."""
        fork = copy.copy(self)
        fork.state, fork._voters, fork._dice = copy.deepcopy((self.state, self._voters, self._dice))
        fork._log = list(self._log)
        return fork

    def told(self, tallies: list[Tally]) -> _Game:
        """A copy that was told these tallies, one after the other."""
        fork = self.fork()
        for tally in tallies:
            fork.tell(tally)
        return fork

    def draw(self, play: Play, most: int) -> _Played:
        """The first rounds of an offer."""
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
            played = _Played(pairs, np.full(rounds, play.listen), np.zeros((rounds, self.users)))
            if play.listen:
                played.answers = self.answers(pairs)
        self.left -= rounds
        self._log.append(played)
        return played

    def _script(self, play: Script, rounds: int) -> _Played:
        step = np.repeat(np.arange(len(play.gaps)), play.gaps + 1)[:rounds]
        ends = np.cumsum(play.gaps + 1) - 1
        duels = ends[ends < rounds]
        answers = np.zeros((rounds, self.users))
        answers[duels] = self.answers(play.pairs[: len(duels)])
        between = np.setdiff1d(np.arange(rounds), duels)
        pairs = play.pairs[step]
        policies = play.follow(answers[duels[: step[-1]]])[step[between]]
        pairs[between] = self._drawn(np.stack([policies, policies], axis=1))
        return _Played(pairs, np.isin(np.arange(rounds), duels), answers)

    def _drawn(self, policies: Floats) -> Ints:
        """An arm from each of the policies (n, 2, K)."""
        edges = policies.cumsum(axis=2)
        dice = self._dice.random(edges.shape[:2]) * edges[:, :, -1]
        return np.asarray((edges <= dice[:, :, None]).sum(axis=2), np.int64)

    def answers(self, pairs: Ints) -> Floats:
        """What the users say to each pair, in turn."""
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

    def issued(self, played: _Played, which: Bools | None = None) -> Tally:
        """Plays without answers."""
        tally = Tally.empty(self.users, self.arms)
        pairs = played.pairs if which is None else played.pairs[which]
        np.add.at(tally.plays, (pairs[:, 0], pairs[:, 1]), 1)
        return tally

    def answered(self, played: _Played, which: Bools | None = None) -> Tally:
        """Answers without plays."""
        tally = Tally.empty(self.users, self.arms)
        telling = played.listen & (played.pairs[:, 0] != played.pairs[:, 1])
        telling &= True if which is None else which
        left, right = played.pairs[telling].T
        for user, answers in enumerate(played.answers[telling].T):
            np.add.at(tally.wins[user], (left, right), np.nan_to_num(answers))
            np.add.at(tally.wins[user], (right, left), np.nan_to_num(1.0 - answers))
        return tally

    def asked_about(self) -> Ints:
        """Every round in which somebody listened, and the pair shown: (n, 3)."""
        pairs = np.concatenate([played.pairs for played in self._log])
        rounds = np.flatnonzero(np.concatenate([played.listen for played in self._log]))
        return np.column_stack([rounds, pairs[rounds]])


Cut = Callable[[int], int]  # of so many rounds offered, how many to play


def _whole(rounds: int) -> int:
    return rounds


def _one(rounds: int) -> int:
    return 1


def _at_random(seed: int) -> Cut:
    rng = np.random.default_rng(seed)
    return lambda rounds: int(rng.integers(1, rounds + 1))


def _run(
    learner: Learner[Any],
    cut: Cut,
    users: int = USERS,
    arms: int = ARMS,
    horizon: int = LONG,
    seed: int = 1,
    tied: bool = False,
    heard: Callable[[int], Bools] | None = None,
) -> _Game:
    """A whole game."""
    game = _Game(learner, users, arms, horizon, seed)
    game.tied, game.heard = tied, heard
    while game.left > 0:
        game.play(min(cut(game.ask().rounds), game.left))
    return game


def _moments(learner: Learner[Any]) -> Iterator[_Game]:
    """Copies of games on their way: at the start, in every phase, near the end."""
    for horizon in (SHORT, LONG):
        cut = _at_random(horizon)
        game = _Game(learner, USERS, ARMS, horizon)
        for number in itertools.count():
            if number < 4 or number % 5 == 0:
                yield game.fork()
            if game.left <= 0:
                break
            game.play(cut(game.ask().rounds))


def _view(game: _Game) -> str:
    """What a game's learner would say now, in full."""
    play, _ = game.learner.ask(game.state)
    follows = play.follow(np.zeros((0, game.users))) if isinstance(play, Script) else None
    return _text((_shape(play, 0), follows, game.policy()))


def _shape(play: Play, skip: int) -> tuple[object, ...]:
    """All of an offer but its first rounds, without the policies that answers decide."""
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


def _text(value: object) -> str:
    return json.dumps(encode(value))


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _check_offer(play: Play, arms: int) -> None:
    """Policies are distributions, arms exist, and nothing is played less than never."""
    if isinstance(play, Mix):
        _check_policy(play.left, arms)
        _check_policy(play.right, arms)
        return
    _check(bool(np.isin(play.pairs, range(arms)).all()), f"an arm offered is none of the {arms}.")
    times = play.counts if isinstance(play, Duels) else play.gaps
    _check(bool(np.all(times >= 0)), "something is offered a negative number of times.")
    _check(len(times) == len(play.pairs), "an offer has not one number for each pair.")


def _check_policy(policy: Floats, arms: int) -> None:
    """A probability for each arm."""
    _check(np.shape(policy) == (arms,), f"a policy for {arms} arms has shape {np.shape(policy)}.")
    fine = np.isfinite(policy).all() and np.all(policy >= 0.0) and abs(policy.sum() - 1.0) <= 1e-9
    _check(bool(fine), f"{policy} is no distribution over the arms.")
