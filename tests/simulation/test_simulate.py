"""Big steps are exact: coupled with single rounds, and alike in law to the plain algorithms."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chance import alike
from fairduel._arrays import Floats
from fairduel.environments import random_instance
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners import (
    FairEpsilonGreedy,
    FairETC,
    FairVOI,
    Learner,
    UniformOverUsers,
    epsilon_greedy,
)
from fairduel.offers import Mix, Play
from fairduel.simulation import simulate
from fairduel.simulation.loop import play_against
from fairduel.simulation.responses import Responses
from fairduel.simulation.trajectory import (
    Trajectory,
    check_checkpoints,
    linear_checkpoints,
    logarithmic_checkpoints,
)
from fairduel.tally import Tally
from fairduel.welfare import Nash, Utilitarian
from reference import (
    Record,
    Solve,
    TapeResponses,
    fair_epsilon_greedy,
    fair_etc,
    simulate_round_by_round,
)

OF_THE_PAPER: dict[str, Any] = {
    "etc": FairETC(),
    "etc as run": FairETC.as_run(),
    "utilitarian etc": FairETC(welfare=Utilitarian()),
    "epsilon": FairEpsilonGreedy(),
    "epsilon as run": FairEpsilonGreedy.as_run(),
    "utilitarian epsilon": FairEpsilonGreedy.as_run(welfare=Utilitarian()),
    "epsilon, every third": FairEpsilonGreedy(solve_every=3),
    "uniform": UniformOverUsers(),
    "uniform as run": UniformOverUsers.as_run(),
}
LEARNERS = OF_THE_PAPER | {"voi": FairVOI(), "anytime voi": FairVOI(anytime=True)}
EACH = pytest.mark.parametrize("name", LEARNERS)
EACH_OF_THE_PAPER = pytest.mark.parametrize("name", OF_THE_PAPER)

# Different winners, and a third arm that both can live with; one comparison is a close call.
TWO_USERS = Instance(
    [
        [[0.5, 0.9, 0.63], [0.1, 0.5, 0.3], [0.37, 0.7, 0.5]],
        [[0.5, 0.1, 0.2], [0.9, 0.5, 0.68], [0.8, 0.32, 0.5]],
    ]
)


# Coupled with single rounds


def both_ways(
    learner: Learner[Any], instance: Instance, rounds: int, seed: int
) -> tuple[Trajectory, Trajectory]:
    """The same game in single rounds and in big steps, read off after every round."""
    tape = TapeResponses(instance, seed)
    plain = simulate_round_by_round(learner, instance, rounds, seed, tape, tape.dice)
    answers, marks = TapeResponses(instance, seed), plain.checkpoints
    fast = play_against(answers, learner, instance, rounds, seed, marks, Nash())
    return plain, fast


def assert_same(plain: Trajectory, fast: Trajectory) -> None:
    """Policies agree to the tolerance of the solver, everything else exactly."""
    assert sum(fast.phases.values()) == plain.rounds
    assert plain.phases == {phase: n for phase, n in fast.phases.items() if n > 0}
    np.testing.assert_array_equal(plain.checkpoints, fast.checkpoints)
    np.testing.assert_allclose(plain.earned, fast.earned, rtol=0, atol=1e-4)
    # An arm near the edge of the dice may be drawn otherwise, once in a long while.
    np.testing.assert_allclose(plain.utilities, fast.utilities, rtol=0, atol=1e-9)
    np.testing.assert_allclose(plain.regret, fast.regret, rtol=0, atol=1e-4)
    np.testing.assert_allclose(plain.policy, fast.policy, rtol=0, atol=1e-4)


@EACH
@settings(max_examples=8)
@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 200), st.integers(0, 999))
def test_coupled_after_known_winners(
    name: str, users: int, arms: int, rounds: int, seed: int
) -> None:
    instance = random_instance(users, arms, 0.1, seed)
    winners = tuple(instance.winners.tolist())
    learner = dataclasses.replace(LEARNERS[name], winners=winners)
    assert_same(*both_ways(learner, instance, rounds, seed))


@EACH
@pytest.mark.parametrize(("users", "arms", "rounds", "seed"), [(2, 3, 2200, 1), (3, 2, 1100, 2)])
def test_coupled_from_the_start(name: str, users: int, arms: int, rounds: int, seed: int) -> None:
    """Identification, if there is any, ends in time, so that every phase is met."""
    instance = random_instance(users, arms, 0.3, seed)
    plain, fast = both_ways(LEARNERS[name], instance, rounds, seed)
    assert 0 < plain.phases["explore" if "voi" in name else "identify"] < rounds
    assert plain.phases["exploit"] > 0
    assert_same(plain, fast)


@EACH_OF_THE_PAPER
@settings(max_examples=8)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 40), st.integers(0, 999))
def test_coupled_where_identification_outlasts_the_horizon(
    name: str, users: int, arms: int, rounds: int, seed: int
) -> None:
    instance = random_instance(users, arms, 0.0, seed)
    plain, fast = both_ways(LEARNERS[name], instance, rounds, seed)
    assert plain.phases == {"identify" if arms > 1 else "exploit": rounds}
    assert_same(plain, fast)


def test_coupled_through_many_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """More explorations than one script holds."""
    monkeypatch.setattr(epsilon_greedy, "_SCRIPT_ANSWERS", 0)
    instance = random_instance(2, 3, 0.1, 5)
    learner = FairEpsilonGreedy.as_run(exploration=5.0, winners=tuple(instance.winners.tolist()))
    plain, fast = both_ways(learner, instance, 1500, 5)
    assert plain.phases["explore"] > 1200
    assert_same(plain, fast)


@pytest.mark.parametrize("every", [1, 3])
def test_coupled_through_short_scripts(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of five steps, as with a thousand users and a thousand arms."""
    monkeypatch.setattr(epsilon_greedy, "_SCRIPT_SCORES", 5 * 6)
    instance = random_instance(2, 3, 0.1, 5)
    winners = tuple(instance.winners.tolist())
    assert_same(*both_ways(FairEpsilonGreedy(winners=winners, solve_every=every), instance, 300, 5))


@pytest.mark.parametrize("learner", [FairETC, FairETC.as_run, FairEpsilonGreedy, FairVOI], ids=str)
def test_coupled_under_borda(learner: Any) -> None:
    instance = random_instance(2, 3, 0.1, 5).scored_by("borda")
    plain, fast = both_ways(learner(scoring="borda"), instance, 400, 5)
    assert "identify" not in plain.phases
    assert plain.phases["explore"] >= 3
    assert_same(plain, fast)


def test_coupled_under_borda_through_short_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epsilon_greedy, "_SCRIPT_SCORES", 5 * 6)
    instance = random_instance(2, 3, 0.1, 5).scored_by("borda")
    for every in (1, 3):
        learner = FairEpsilonGreedy(scoring="borda", solve_every=every, exploration=1.0)
        assert_same(*both_ways(learner, instance, 300, 5))


@dataclasses.dataclass(frozen=True, eq=False)
class ListenerState:
    horizon: int
    heard: Tally
    policy: Floats


@dataclasses.dataclass(frozen=True)
class Listener(Learner[ListenerState]):
    """Listens to a mix of two policies, one of which changes every ten rounds."""

    def init(self, users: int, arms: int, horizon: int, seed: int) -> ListenerState:
        return ListenerState(horizon, Tally.empty(users, arms), np.full(arms, 1 / arms))

    def ask(self, state: ListenerState) -> tuple[Play, ListenerState]:
        played = state.heard.rounds
        if played % 10 == 0:
            state = dataclasses.replace(state, policy=self.policy(state))
        rounds = max(1, min(10 - played % 10, state.horizon - played))
        return Mix(np.array([0.2, 0.8, 0.0]), state.policy, rounds), state

    def tell(self, state: ListenerState, tally: Tally) -> ListenerState:
        return dataclasses.replace(state, heard=state.heard + tally)

    def policy(self, state: ListenerState) -> Floats:
        wins = state.heard.wins.sum(axis=(0, 2)) + 1.0
        return np.asarray(wins / wins.sum())


def test_a_mix_that_is_listened_to() -> None:
    """What none of the paper's learners does has the same law all the same."""
    instance, rounds = random_instance(3, 3, 0.1, 6), 25
    fast = [simulate(instance, rounds, Listener(), seed=seed, checkpoints=1) for seed in range(500)]
    plain = []
    for seed in range(120):
        rng = np.random.default_rng([seed, 7])
        nature = Responses(instance, rng)
        plain.append(simulate_round_by_round(Listener(), instance, rounds, 0, nature, rng))
    assert alike([run.earned[-1] for run in fast], [run.earned[-1] for run in plain])
    for arm in range(3):
        assert alike([run.policy[arm] for run in fast], [run.policy[arm] for run in plain])
    for user in range(3):
        assert alike(
            [run.utilities[-1, user] for run in fast], [run.utilities[-1, user] for run in plain]
        )


def test_each_duel_of_two_arms_is_answered_once_by_everybody() -> None:
    heard: list[Tally] = []

    class Spy(Listener):
        def tell(self, state: ListenerState, tally: Tally) -> ListenerState:
            heard.append(tally)
            return super().tell(state, tally)

    simulate(random_instance(3, 3, 0.1, 6), 25, Spy(), seed=1, checkpoints=1)
    apart = sum(int(tally.plays.sum() - tally.plays.trace()) for tally in heard)
    assert [tally.rounds for tally in heard] == [10, 10, 5]
    assert 0 < apart < 25
    assert sum(tally.wins.sum() for tally in heard) == 3 * apart


# Alike in law to the paper's algorithms, written down plainly


def nash(scores: Floats, start: Floats | None) -> Floats:
    return Nash().maximize(scores, start).policy


@pytest.mark.parametrize(
    ("plain", "learner"), [(fair_etc, FairETC()), (fair_epsilon_greedy, FairEpsilonGreedy())]
)
def test_alike_in_law(
    plain: Callable[[Instance, int, np.random.Generator, Solve], Record], learner: Learner[Any]
) -> None:
    """Kolmogorov-Smirnov at 1 in 1000 for six figures of 40 plain and 300 fast runs."""
    rounds = 8000
    marks = np.array([rounds // 2, rounds])
    slow = [plain(TWO_USERS, rounds, np.random.default_rng(seed), nash) for seed in range(40)]
    fast = [
        simulate(TWO_USERS, rounds, learner, seed=seed, checkpoints=marks) for seed in range(300)
    ]
    assert np.mean([run.identified < rounds for run in slow]) > 0.9
    assert alike([run.identified for run in slow], [run.phases["identify"] for run in fast])
    assert alike([run.explored for run in slow], [run.phases.get("explore", 0) for run in fast])
    for column, mark in enumerate(marks):
        assert alike(
            [run.earned[:mark].sum() for run in slow], [run.earned[column] for run in fast]
        )
    for user in range(2):
        assert alike(
            [run.utilities[user] for run in slow], [run.utilities[-1, user] for run in fast]
        )


# Regret and utilities


@dataclasses.dataclass(frozen=True)
class Stubborn(Learner[int]):
    """Plays one policy for ever."""

    chances: tuple[float, ...]

    def init(self, users: int, arms: int, horizon: int, seed: int) -> int:
        return horizon

    def ask(self, state: int) -> tuple[Play, int]:
        policy = np.array(self.chances)
        return Mix(policy, policy, max(state, 1), listen=False), state

    def tell(self, state: int, tally: Tally) -> int:
        return state - tally.rounds

    def policy(self, state: int) -> Floats:
        return np.array(self.chances)


def test_regret_is_that_of_equation_5() -> None:
    best = Nash().maximize(TWO_USERS.scores)
    chances = (0.25, 0.25, 0.5)
    run = simulate(TWO_USERS, 1000, Stubborn(chances), seed=1, checkpoints=np.array([1, 10, 1000]))
    each = best.value - np.prod(TWO_USERS.scores @ np.array(chances))
    np.testing.assert_allclose(run.regret, each * np.array([1, 10, 1000]))
    assert run.phases == {"exploit": 1000}


def test_the_best_policy_has_no_regret() -> None:
    best = tuple(Nash().maximize(TWO_USERS.scores).policy.tolist())
    run = simulate(TWO_USERS, 10**9, Stubborn(best), seed=1)
    assert np.abs(run.regret).max() < 1e-3


def test_utilities_are_of_the_arms_that_were_drawn() -> None:
    """One round gives the mean score of two arms, and different seeds different arms."""
    scores = TWO_USERS.scores
    possible = [(scores[:, i] + scores[:, j]) / 2 for i in range(3) for j in range(3)]
    seen = set()
    for seed in range(40):
        utilities = simulate(TWO_USERS, 1, Stubborn((0.3, 0.3, 0.4)), seed=seed).utilities[0]
        near = [np.allclose(utilities, pair) for pair in possible]
        assert any(near)
        seen.add(near.index(True))
    assert len(seen) >= 5


# Rounds and checkpoints


@EACH
@pytest.mark.parametrize("rounds", [1, 2, 3, 17, 4096])
def test_no_round_is_lost_or_added(name: str, rounds: int) -> None:
    instance = random_instance(2, 3, 0.3, 1)
    run = simulate(instance, rounds, LEARNERS[name], seed=1, checkpoints=7)
    assert sum(run.phases.values()) == rounds
    assert run.rounds == rounds
    assert run.policy.shape == (3,)
    # Both arms of every round were shown to somebody: nobody's best arm was beaten.
    assert (run.utilities <= run.checkpoints[:, None] + 1e-9).all()


@given(st.integers(1, 10**12), st.integers(1, 300))
def test_checkpoints_end_with_the_last_round(rounds: int, count: int) -> None:
    for marks in (linear_checkpoints(rounds, count), check_checkpoints(count, rounds)):
        assert marks[0] >= 1
        assert marks[-1] == rounds
        assert len(marks) == min(rounds, count) or rounds > count >= len(marks)
        assert (np.diff(marks) >= 1).all()
    logarithmic = check_checkpoints(logarithmic_checkpoints(rounds, count), rounds)
    assert logarithmic[0] == 1 or count == 1
    assert logarithmic[-1] == rounds
    assert len(logarithmic) <= count + 1


def test_checkpoints_are_evenly_spaced() -> None:
    assert linear_checkpoints(100, 4).tolist() == [25, 50, 75, 100]
    assert logarithmic_checkpoints(1000, 4).tolist() == [1, 10, 100, 1000]
    assert linear_checkpoints(3, 100).tolist() == [1, 2, 3]


@EACH_OF_THE_PAPER
def test_checkpoints_change_nothing_but_where_to_look(name: str) -> None:
    """Read off at every round or at the end: the rounds that decide are the same."""
    instance = random_instance(2, 3, 0.3, 1)
    fine = simulate(instance, 3000, LEARNERS[name], seed=4, checkpoints=np.arange(1, 3001))
    coarse = simulate(instance, 3000, LEARNERS[name], seed=4, checkpoints=1)
    assert fine.phases == coarse.phases
    np.testing.assert_allclose(fine.regret[-1], coarse.regret[0], atol=1e-6)


def test_given_checkpoints_are_sorted_and_the_end_is_added() -> None:
    run = simulate(
        random_instance(1, 2), 50, UniformOverUsers(), seed=1, checkpoints=np.array([20, 5, 20])
    )
    assert run.checkpoints.tolist() == [5, 20, 50]


@pytest.mark.parametrize("marks", [np.array([0]), np.array([51]), np.array([], int), 0, -1])
def test_impossible_checkpoints_are_refused(marks: Any) -> None:
    with pytest.raises(InputError, match="checkpoints"):
        simulate(random_instance(1, 2), 50, UniformOverUsers(), seed=1, checkpoints=marks)


@pytest.mark.parametrize("rounds", [0, -5, 1e4, 10**30, "10"])
def test_impossible_rounds_are_refused(rounds: Any) -> None:
    with pytest.raises(InputError, match="rounds is"):
        simulate(random_instance(1, 2), rounds, FairETC(), seed=1)


def test_what_is_no_learner_or_instance_is_refused() -> None:
    instance = random_instance(2, 3, seed=1)
    for wrong in ("fair-voi", FairVOI):
        with pytest.raises(InputError, match="give a learner itself"):
            simulate(instance, 50, wrong, seed=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="give an Instance"):
        simulate(FairVOI(), 50, FairVOI(), seed=1)  # type: ignore[arg-type]


def test_unless_told_it_is_fair_voi_who_plays() -> None:
    instance = random_instance(2, 3, 0.1, 1)
    named = simulate(instance, 50, FairVOI(), seed=1, checkpoints=7)
    assert_identical(simulate(instance, rounds=50, seed=1, checkpoints=7), named)
    assert_identical(simulate(instance=instance, rounds=50, seed=1, checkpoints=7), named)
    assert_identical(simulate(instance, 50, None, seed=1, checkpoints=7), named)
    assert_identical(
        simulate(learner=FairVOI(), instance=instance, rounds=50, seed=1, checkpoints=7), named
    )


@pytest.mark.parametrize("seed", [-1, 0.5, None, "1"])
def test_impossible_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(InputError, match="the seed is"):
        simulate(random_instance(1, 2), 10, FairETC(), seed=seed)


def test_an_instance_without_a_winner_is_refused_by_name() -> None:
    circle = [[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]
    with pytest.raises(InputError, match="ann"):
        simulate(Instance([circle], users=["ann"]), 10, FairETC(), seed=1)


@EACH
def test_users_without_a_winner_may_be_allowed_and_are_told(name: str) -> None:
    """Bob goes round in a circle; scores are then relative to the arm whose worst duel is best."""
    circle = [[0.5, 0.9, 0.4], [0.1, 0.5, 0.8], [0.6, 0.2, 0.5]]
    tensor = [TWO_USERS.preferences[0], circle]
    run = simulate(Instance(tensor, ["ann", "bob"], scoring="maximin"), 500, LEARNERS[name], seed=1)
    assert run.without_winner == ("bob",)
    scores = np.array([TWO_USERS.scores[0], [1.0, 0.2, 1.0]])
    assert run.best == Nash().maximize(scores).value
    assert (run.utilities <= run.checkpoints[:, None] + 1e-9).all()
    assert simulate(TWO_USERS, 50, LEARNERS[name], seed=1).without_winner == ()


# Seeds


@EACH
def test_the_same_seed_gives_the_same_run(name: str) -> None:
    first, second = (simulate(TWO_USERS, 9000, LEARNERS[name], seed=9) for _ in range(2))
    assert_identical(first, second)
    other = simulate(TWO_USERS, 9000, LEARNERS[name], seed=10)
    assert not np.array_equal(first.utilities, other.utilities)


def assert_identical(first: Trajectory, second: Trajectory) -> None:
    for field in ("rounds", "earned", "utilities", "policy"):
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field))
    assert (first.phases, first.best) == (second.phases, second.best)


def test_a_generator_goes_on() -> None:
    """A generator may be given instead of a seed; it moves, so that runs differ."""

    def two() -> list[Trajectory]:
        rng = np.random.default_rng(3)
        return [
            simulate(TWO_USERS, 99, UniformOverUsers(winners=(0, 1)), seed=rng) for _ in range(2)
        ]

    for one, again in zip(two(), two(), strict=True):
        assert_identical(one, again)
    first, second = two()
    assert not np.array_equal(first.utilities, second.utilities)


PROGRAM = """
from fairduel.environments import random_instance
from fairduel.learners import FairEpsilonGreedy, FairETC, UniformOverUsers
from fairduel.simulation import simulate

instance = random_instance(2, 3, 0.3, 1)
for learner in (FairETC(), FairEpsilonGreedy(), UniformOverUsers.as_run()):
    run = simulate(instance, 5000, learner, seed=7, checkpoints=50)
    print(run.utilities.tobytes().hex(), run.earned.tobytes().hex(), run.policy.tobytes().hex())
"""


def test_the_same_in_another_process() -> None:
    here = []
    instance = random_instance(2, 3, 0.3, 1)
    learners: list[Any] = [FairETC(), FairEpsilonGreedy(), UniformOverUsers.as_run()]
    for learner in learners:
        run = simulate(instance, 5000, learner, seed=7, checkpoints=50)
        here.append([a.tobytes().hex() for a in (run.utilities, run.earned, run.policy)])
    environment = dict(os.environ, PYTHONHASHSEED="12345")
    there = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert [line.split() for line in there.stdout.splitlines()] == here


# Long horizons


def offers(learner: Any, rounds: int) -> int:
    """How many times a learner is asked."""

    asked = []

    class Counting(type(learner)):  # type: ignore[misc]
        def ask(self, state: Any) -> Any:
            asked.append(1)
            return super().ask(state)

    counting = Counting(**vars(learner))
    run = simulate(random_instance(3, 4, 0.2, 1), rounds, counting, seed=1, checkpoints=10)
    assert sum(run.phases.values()) == rounds
    return len(asked)


def test_a_billion_rounds_take_as_many_offers_as_a_million() -> None:
    long, short = offers(FairETC(), 10**9), offers(FairETC(), 10**6)
    assert long <= short + 10
    assert long < 60


def test_offers_of_epsilon_greedy_grow_with_its_explorations() -> None:
    """About 1.5 epsilon_T T explorations, a thousand or so in an offer."""
    assert offers(FairEpsilonGreedy(winners=(0, 1, 2)), 10**7) < 400


def test_checkpoints_accept_what_numpy_counts() -> None:
    counts: list[Any] = [5, np.int64(5)]
    runs = [
        simulate(random_instance(1, 2), 50, UniformOverUsers(), seed=1, checkpoints=c)
        for c in counts
    ]
    assert [len(run.checkpoints) for run in runs] == [5, 5]


def test_a_trajectory_shows_itself() -> None:
    run = simulate(random_instance(3, 4, seed=1), 2_000, UniformOverUsers(), seed=1)
    assert repr(run).startswith("Trajectory(2,000 rounds, regret ")
    left, right = run.plot().axes
    assert left.lines[0].get_ydata()[-1] == run.regret[-1]  # type: ignore[index]
    heights = [bar.get_height() for bar in right.patches]  # type: ignore[attr-defined]
    assert heights == (run.utilities[-1] / 2_000).tolist()


def test_modules_and_functions_do_not_shadow_each_other() -> None:
    import fairduel
    import fairduel.simulation

    assert fairduel.simulation.__name__ == "fairduel.simulation"
    assert callable(fairduel.simulate)
    assert fairduel.simulate is fairduel.simulation.simulate


def test_regret_is_measured_in_the_welfare_asked_for() -> None:
    instance = random_instance(3, 4, seed=2)
    for welfare in (Nash(), Utilitarian()):
        run = simulate(instance, 500, Stubborn((0.1, 0.2, 0.3, 0.4)), seed=1, welfare=welfare)
        best = welfare.maximize(instance.scores).value
        mine = float(welfare.value(instance.scores @ np.array([0.1, 0.2, 0.3, 0.4])))
        assert run.best == best
        assert run.regret[-1] == pytest.approx(500 * (best - mine))
