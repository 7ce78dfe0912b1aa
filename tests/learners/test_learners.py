"""Every learner obeys the laws, does what the paper says, and survives where its formulas break."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairduel._arrays import Ints
from fairduel.environments import random_instance
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners import (
    FairEpsilonGreedy,
    FairETC,
    Learner,
    UniformOverUsers,
    epsilon_greedy,
)
from fairduel.learners.phases import winner_pairs
from fairduel.learners.tournament import Tournament
from fairduel.offers import Duels, Mix, Play, Script
from fairduel.simulation import simulate
from fairduel.tally import Tally
from fairduel.testing.learners import (
    LEARNER_LAWS,
    a_run_does_not_depend_on_how_offers_are_cut,
    asked_again_it_offers_the_rest,
)
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Utilitarian

LEARNERS: dict[str, Any] = {
    "etc as written": FairETC.as_written(),
    "etc as run": FairETC.as_run(),
    "utilitarian etc": FairETC(welfare=Utilitarian()),
    "epsilon as written": FairEpsilonGreedy.as_written(),
    "epsilon as run": FairEpsilonGreedy.as_run(),
    "utilitarian epsilon": FairEpsilonGreedy(welfare=Utilitarian()),
    "epsilon, every seventh": FairEpsilonGreedy(solve_every=7, least_played=True),
    "uniform as written": UniformOverUsers.as_written(),
    "uniform as run": UniformOverUsers.as_run(),
}
EACH = pytest.mark.parametrize("name", LEARNERS)


@EACH
@pytest.mark.parametrize("law", LEARNER_LAWS, ids=lambda law: law.__name__)
def test_laws(law: Any, name: str) -> None:
    law(LEARNERS[name])


@pytest.mark.parametrize("name", ["epsilon as written", "epsilon, every seventh"])
@pytest.mark.parametrize(
    "law", [asked_again_it_offers_the_rest, a_run_does_not_depend_on_how_offers_are_cut]
)
def test_laws_hold_from_script_to_script(
    law: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In scripts of a few explorations, as with a thousand users and a thousand arms."""
    monkeypatch.setattr(epsilon_greedy, "_SCRIPT_SCORES", 100)
    law(LEARNERS[name])


# Only answers


# Presets


def test_presets() -> None:
    assert FairETC.as_written() == FairETC()
    assert FairEpsilonGreedy.as_written() == FairEpsilonGreedy()
    assert UniformOverUsers.as_written() == UniformOverUsers()
    for learner in (FairETC(), FairEpsilonGreedy(), UniformOverUsers()):
        assert learner.tournament == Tournament(0.0025, 0.5, True, True, False)
        as_run = type(learner).as_run().tournament
        assert as_run == Tournament(0.0025, 1.0, False, False, True)
    assert (FairETC().exploration, FairEpsilonGreedy().exploration) == (0.25, 0.1)
    assert FairETC().welfare == FairEpsilonGreedy().welfare == Nash()
    run = FairEpsilonGreedy.as_run()
    assert (run.welfare, run.solve_every, run.warm_up) == (FrankWolfe(), 50, False)
    assert (run.keep_identification, run.least_played, run.count_winners) == (True, True, False)
    etc = FairETC.as_run()
    assert (etc.welfare, etc.repeat_pairs, etc.count_winners) == (FrankWolfe(), False, False)


def test_a_preset_takes_other_settings() -> None:
    learner = FairETC.as_run(welfare=Utilitarian(), exploration=1.0)
    assert learner == replace(FairETC.as_run(), welfare=Utilitarian(), exploration=1.0)
    assert FairEpsilonGreedy.as_run(solve_every=3).solve_every == 3
    assert UniformOverUsers.as_run(winners=(1,)).winners == (1,)


# Driving a learner by hand


def tell_all(learner: Learner[Any], state: Any, play: Play, likes: float = 0.5) -> Any:
    """Play a whole offer; every user prefers the left arm in this share of the duels."""
    users = 2
    if isinstance(play, Mix):
        tally = Tally.empty(users, len(play.left))
        tally.plays[play.left.argmax(), play.right.argmax()] = play.rounds
        return learner.tell(state, tally)
    assert isinstance(play, Duels)
    arms = len(learner.policy(state))
    tally = Tally.empty(users, arms)
    for (i, j), count in zip(play.pairs, play.counts, strict=True):
        tally.plays[i, j] += count
        tally.wins[:, i, j] += likes * count
        tally.wins[:, j, i] += (1 - likes) * count
    return learner.tell(state, tally)


# Fair-ETC


def test_etc_explores_every_pair_with_a_winner() -> None:
    """Algorithm 1, line 3: L duels of (a, a*), and L as in Theorem 4.2 with |A*| = 2."""
    learner = FairETC(winners=(2, 0))
    play, _ = learner.ask(learner.init(2, 4, 10_000, 1))
    assert isinstance(play, Duels)
    assert play.phase == "explore"
    assert play.pairs.tolist() == [[1, 0], [2, 0], [3, 0], [0, 2], [1, 2], [3, 2]]
    size = (2 / (4 * 2)) ** (2 / 3) * 10_000 ** (2 / 3) * math.log(2 * 4 * 10_000) ** (1 / 3)
    assert play.counts.tolist() == [math.ceil(0.25 * size)] * 6


def test_etc_as_run_explores_a_pair_of_winners_once() -> None:
    learner = FairETC.as_run(winners=(2, 0))
    play, _ = learner.ask(learner.init(2, 4, 10_000, 1))
    assert isinstance(play, Duels)
    assert {frozenset(pair) for pair in play.pairs.tolist()} == {
        frozenset(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (2, 3))
    }
    assert len(play.pairs) == 5


@pytest.mark.parametrize(("learner", "distinct"), [(FairETC, 1), (FairETC.as_run, 2)])
def test_etc_counts_distinct_winners_and_as_run_users(learner: Any, distinct: int) -> None:
    """|A*| in L of Theorem 4.2, for two users with one winner."""
    made = learner(winners=(2, 2))
    play, _ = made.ask(made.init(2, 4, 10_000, 1))
    assert isinstance(play, Duels)
    size = (2 / (4 * distinct)) ** (2 / 3) * 10_000 ** (2 / 3) * math.log(80_000) ** (1 / 3)
    assert play.counts.tolist() == [math.ceil(0.25 * size)] * 3


def test_etc_commits_to_the_best_policy_of_its_estimates() -> None:
    """All arms win half their duels with a winner, so all scores are 1 and any policy is best."""
    learner = FairETC(winners=(0, 1), welfare=Utilitarian())
    play, state = learner.ask(learner.init(2, 3, 1000, 1))
    state = tell_all(learner, state, play, likes=0.75)
    # Arm 2 won 3/4 against either winner; of two winners each won 3/4 when on the left.
    commitment, state = learner.ask(state)
    assert isinstance(commitment, Mix)
    assert not commitment.listen
    assert commitment.left.tolist() == commitment.right.tolist() == [0.0, 0.0, 1.0]
    assert commitment.rounds == 1000 - play.rounds


def test_etc_uses_late_answers() -> None:
    learner = FairETC(winners=(0, 0), welfare=Utilitarian())
    play, state = learner.ask(learner.init(2, 2, 1000, 1))
    assert isinstance(play, Duels)
    played = Tally.empty(2, 2)
    played.plays[1, 0] = play.rounds
    state = learner.tell(state, played)
    assert learner.policy(learner.ask(state)[1]).tolist() == [1.0, 0.0]
    late = Tally.empty(2, 2)
    late.wins[:, 1, 0] = play.rounds
    state = learner.tell(learner.ask(state)[1], late)
    assert learner.policy(state).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("horizon", [1, 5, 6, 7, 20])
def test_exploration_that_does_not_fit_is_spread_evenly(horizon: int) -> None:
    learner = FairETC(winners=(2, 0), exploration=100.0)
    play, _ = learner.ask(learner.init(2, 4, horizon, 1))
    assert isinstance(play, Duels)
    assert play.rounds == horizon
    assert play.counts.max() - play.counts.min() <= 1


def test_a_utilitarian_learner_differs_in_its_commitment_only() -> None:
    instance = random_instance(3, 4, 0.3, 8)
    learners: list[Any] = [FairETC(), FairEpsilonGreedy()]
    for learner in learners:
        runs = [
            simulate(instance, 30_000, replace(learner, welfare=welfare), seed=2)
            for welfare in (Nash(), Utilitarian())
        ]
        assert runs[0].phases == runs[1].phases
        assert runs[0].phases["exploit"] > 1000
        assert not np.allclose(runs[0].policy, runs[1].policy)


# Fair-epsilon-Greedy


def script_of(learner: FairEpsilonGreedy, horizon: int, seed: int = 1) -> Script:
    """The first script after the warm-up, with two users and four arms."""
    state = learner.init(2, 4, horizon, seed)
    play, state = learner.ask(state)
    if isinstance(play, Duels):
        play, state = learner.ask(tell_all(learner, state, play))
    assert isinstance(play, Script)
    return play


def test_epsilon_warms_up_with_every_pair_once() -> None:
    learner = FairEpsilonGreedy(winners=(2, 0))
    play, _ = learner.ask(learner.init(2, 4, 10_000, 1))
    assert isinstance(play, Duels)
    assert play.pairs.tolist() == [[1, 0], [2, 0], [3, 0], [0, 2], [1, 2], [3, 2]]
    assert play.counts.tolist() == [1] * 6


@pytest.mark.parametrize("horizon", [1, 4, 6, 7])
def test_a_warm_up_ends_with_the_horizon(horizon: int) -> None:
    """Six pairs, of which the first fit; after an identification that took some rounds, too."""
    learner = FairEpsilonGreedy(winners=(2, 0))
    state = learner.init(2, 4, 100 + horizon, 1)
    before = Tally.empty(2, 4)
    before.plays[0, 2] = 100
    state = replace(state, tournament=learner.tournament.tell(state.tournament, before))
    for began in (learner.init(2, 4, horizon, 1), state):
        play, _ = learner.ask(began)
        assert isinstance(play, Duels)
        assert play.counts.tolist() == [1] * min(horizon, 6) + [0] * (6 - min(horizon, 6))


def test_epsilon_explores_in_turn() -> None:
    """Algorithm 2, line 10."""
    pairs = script_of(FairEpsilonGreedy(winners=(2, 0)), 10_000).pairs
    turn = [[1, 0], [2, 0], [3, 0], [0, 2], [1, 2], [3, 2]]
    assert pairs.tolist() == [turn[step % 6] for step in range(len(pairs))]


def test_epsilon_goes_on_in_turn_from_script_to_script() -> None:
    """Also the times go on: rounds before the next script count."""
    learner = FairEpsilonGreedy(winners=(2, 0), warm_up=False)
    state = learner.init(2, 4, 10**8, 1)
    chances, pairs = [], []
    for _ in range(3):
        play, state = learner.ask(state)
        assert isinstance(play, Script)
        chances.append(len(play.gaps) / play.rounds)
        pairs.extend(play.pairs.tolist())
        tally = Tally.empty(2, 4)
        np.add.at(tally.plays, tuple(play.pairs.T), 1)
        np.add.at(tally.wins, (slice(None), *play.pairs.T), 1.0)
        tally.plays[0, 0] += play.gaps.sum()
        state = learner.tell(state, tally)
    assert chances[0] > 1.3 * chances[1] > 1.3 * chances[2]
    turn = [[1, 0], [2, 0], [3, 0], [0, 2], [1, 2], [3, 2]]
    assert pairs == [turn[step % 6] for step in range(len(pairs))]


def test_epsilon_as_run_explores_the_pair_played_least() -> None:
    """Identification counts: with arms 0 and 1 compared already, they come last."""
    learner = FairEpsilonGreedy.as_run(winners=(0, 0))
    state = learner.init(2, 3, 10_000, 1)
    known = Tally.empty(2, 3)
    known.plays[1, 0] = 2
    known.wins[:, 0, 1] = 2
    state = replace(state, tournament=learner.tournament.tell(state.tournament, known))
    play, _ = learner.ask(state)
    assert isinstance(play, Script)
    assert play.pairs[:6].tolist() == [[2, 0], [2, 0], [1, 0], [2, 0], [1, 0], [2, 0]]


def test_epsilon_as_run_explores_a_pair_of_winners_once() -> None:
    """In every five explorations each of the five pairs comes up, whatever its order."""
    pairs = script_of(FairEpsilonGreedy.as_run(winners=(2, 0)), 10_000).pairs[:100]
    every = {frozenset(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (2, 3))}
    for five in pairs.reshape(-1, 5, 2).tolist():
        assert {frozenset(pair) for pair in five} == every


@pytest.mark.parametrize(
    ("learner", "distinct"), [(FairEpsilonGreedy, 1), (FairEpsilonGreedy.as_run, 2)]
)
def test_epsilon_counts_distinct_winners_and_as_run_users(learner: Any, distinct: int) -> None:
    """|A*| in epsilon_t of Theorem 4.3, for two users with one winner: explorations in all."""
    horizon, runs = 30_000, 20
    chances = learner().rate(2, 4, distinct) * np.cbrt(
        np.log(8.0 * np.arange(1, horizon + 1)) / np.arange(1, horizon + 1)
    )
    chances = np.minimum(chances, 1.0)
    made = learner(winners=(2, 2), solve_every=1)
    explored = sum(len(script_of(made, horizon, seed).pairs) for seed in range(runs))
    deviation = math.sqrt(runs * (chances * (1.0 - chances)).sum())
    # The warm-up takes a few rounds of the last script; as run there is none.
    assert abs(explored - runs * chances.sum()) < 4.0 * deviation


def test_no_script_repeats_the_random_numbers_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """In scripts of five explorations, waits that are five apart have nothing in common."""
    monkeypatch.setattr(epsilon_greedy, "_SCRIPT_SCORES", 5 * 8)
    learner = FairEpsilonGreedy(winners=(2, 0), warm_up=False)
    state = learner.init(2, 4, 10**8, 1)
    gaps: list[int] = []
    for _ in range(600):
        play, state = learner.ask(state)
        assert isinstance(play, Script)
        gaps += play.gaps.tolist()
        tally = Tally.empty(2, 4)
        tally.plays[0, 0] = play.rounds
        state = learner.tell(state, tally)
    ranks = np.argsort(np.argsort(gaps[1000:]))  # they grow quickly at first
    assert len(ranks) == 2000
    assert abs(np.corrcoef(ranks[5:], ranks[:-5])[0, 1]) < 4.0 / math.sqrt(2000)


def test_epsilon_solves_again_as_often_as_it_should() -> None:
    """Policies of a script change after every exploration, or after every third."""
    rng = np.random.default_rng(1)
    for every in (1, 3):
        learner = FairEpsilonGreedy(winners=(2, 0), solve_every=every, welfare=CountingNash())
        play = script_of(learner, 3000)
        CountingNash.solved.clear()
        policies = play.follow((rng.random((len(play.pairs), 2)) < 0.6).astype(float))
        assert len(policies) == len(play.pairs)
        assert sum(CountingNash.solved) == (len(play.pairs) - 1) // every
        changes = np.flatnonzero(np.abs(np.diff(policies, axis=0)).max(axis=1) > 1e-6) + 1
        assert set((changes % every).tolist()) == {0}


class CountingNash(Nash):
    solved: list[int] = []  # noqa: RUF012

    def follow(self, scores: Any, start: Any = None) -> Any:
        self.solved.append(len(scores))
        return super().follow(scores, start)


def test_epsilon_follows_the_estimates_of_its_explorations() -> None:
    """Each policy of a script is best for the estimates by then, computed from the start."""
    learner = FairEpsilonGreedy(winners=(2, 0))
    state = learner.init(2, 4, 3000, 1)
    play, state = learner.ask(state)
    state = tell_all(learner, state, play)
    play, state = learner.ask(state)
    assert isinstance(play, Script)
    answers = (np.random.default_rng(2).random((len(play.pairs), 2)) < 0.4).astype(float)
    policies = play.follow(answers)
    wins, plays = np.zeros((2, 4, 4)), np.zeros((4, 4))
    for i, j in [(1, 0), (2, 0), (3, 0), (0, 2), (1, 2), (3, 2)]:  # the warm-up: half a win each
        wins[:, [i, j], [j, i]] += 0.5
        plays[[i, j], [j, i]] += 1
    for step, ((i, j), likes) in enumerate(zip(play.pairs, answers, strict=True)):
        scores = np.array([[2 * wins[d, k, w] / max(plays[k, w], 1) for k in range(4)]
                           for d, w in enumerate((2, 0))])  # fmt: skip
        scores[[0, 1], [2, 0]] = 1.0
        found, best = Nash().value(scores @ policies[step]), Nash().maximize(scores).value
        assert found == pytest.approx(best, rel=1e-8)
        wins[:, i, j] += likes
        wins[:, j, i] += 1 - likes
        plays[[i, j], [j, i]] += 1


def test_epsilon_is_that_of_the_theorem() -> None:
    learner = FairEpsilonGreedy()
    assert learner.rate(5, 7, 3) == pytest.approx(0.1 * 5 ** (2 / 3) * 7 ** (1 / 3) * 3 ** (1 / 3))


@pytest.mark.parametrize("every", [1, 3])
def test_scripts_of_any_length_play_the_same(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many users and arms scripts are short; that saves memory and changes no law."""
    learner = FairEpsilonGreedy(winners=(2, 0), solve_every=every)
    lengths = []
    for scores in (5_000_000, 8 * 10):  # 8 scores at a time: ten steps
        monkeypatch.setattr(epsilon_greedy, "_SCRIPT_SCORES", scores)
        lengths.append(len(script_of(learner, 3000).pairs))
        run = simulate(random_instance(2, 4, 0.2, 3), 3000, learner, seed=1)
        assert sum(run.phases.values()) == 3000
    assert lengths[0] > 100
    assert lengths[1] == (10 if every == 1 else 9)


# Uniform-Over-Users


def test_uniform_plays_every_winner_in_proportion() -> None:
    learner = UniformOverUsers(winners=(2, 0, 2, 2))
    play, _ = learner.ask(learner.init(4, 3, 50, 1))
    assert isinstance(play, Mix)
    assert play.left.tolist() == play.right.tolist() == [0.25, 0.0, 0.75]
    assert (play.rounds, play.listen) == (50, False)


# Where the formulas break


@EACH
@settings(max_examples=8)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3000), st.integers(0, 99))
def test_any_size_and_horizon(name: str, users: int, arms: int, rounds: int, seed: int) -> None:
    run = simulate(
        random_instance(users, arms, 0.1, seed), rounds, LEARNERS[name], seed=seed, checkpoints=3
    )
    assert sum(run.phases.values()) == rounds
    assert run.policy.sum() == pytest.approx(1.0)
    assert np.isfinite(run.regret).all()


@EACH
def test_a_pair_at_one_half_ends_with_the_horizon(name: str) -> None:
    """User 0 cannot tell arms 1 and 2 apart, which are not its winner, and is found out."""
    matrix = [[0.5, 0.9, 0.9], [0.1, 0.5, 0.5], [0.1, 0.5, 0.5]]
    run = simulate(Instance([matrix, matrix]), 20_000, LEARNERS[name], seed=1)
    assert sum(run.phases.values()) == 20_000
    assert run.policy[0] > 0.9


@pytest.mark.parametrize("name", [name for name in LEARNERS if name[0] == "e"])
def test_with_time_enough_they_learn(name: str) -> None:
    """Regret in the second half is small beside that of a policy drawn blindly."""
    for seed in range(3):
        instance = random_instance(2, 3, 0.2, seed)
        run = simulate(instance, 400_000, LEARNERS[name], seed=seed, checkpoints=2)
        blind = run.best - (instance.scores.mean(axis=1)).prod()
        assert run.regret[1] - run.regret[0] < 0.25 * blind * 200_000
        assert run.phases["identify"] < 200_000


def test_any_welfare_will_do() -> None:
    """The max-min policy of two users who like nothing but their own arm is even."""
    apart = Instance([[[0.5, 1.0], [0.0, 0.5]], [[0.5, 0.0], [1.0, 0.5]]])
    learners: list[Any] = [FairETC, FairEpsilonGreedy]
    for learner in learners:
        run = simulate(apart, 3000, learner(welfare=Egalitarian()), seed=1)
        assert run.policy.tolist() == pytest.approx([0.5, 0.5])


@EACH
def test_known_winners_skip_identification(name: str) -> None:
    learner = replace(LEARNERS[name], winners=(1, 0))
    run = simulate(random_instance(2, 3, 0.1, 1), 500, learner, seed=1)
    assert "identify" not in run.phases


@EACH
@pytest.mark.parametrize("winners", [(0,), (0, 1, 2), (0, 3), (-1, 0), (0.5, 1), ()])
def test_impossible_winners_are_refused(name: str, winners: Any) -> None:
    with pytest.raises(InputError, match="winners"):
        replace(LEARNERS[name], winners=winners).init(2, 3, 100, 1)


@pytest.mark.parametrize("exploration", [0.0, -1.0, math.nan, math.inf, "a", None])
@pytest.mark.parametrize("learner", [FairETC, FairEpsilonGreedy])
def test_impossible_exploration_is_refused(learner: Any, exploration: Any) -> None:
    with pytest.raises(InputError, match=r"^exploration is .*: it must be a positive number\.$"):
        learner(exploration=exploration)


@pytest.mark.parametrize("every", [0, -1, 1.5, "a", None])
def test_impossible_solving_is_refused(every: Any) -> None:
    with pytest.raises(InputError, match=r"^solve_every is .*: give a whole number from 1 up\.$"):
        FairEpsilonGreedy(solve_every=every)


# Pairs with winners


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(5, 6))
def test_winner_pairs(winners: list[int], arms: int) -> None:
    def pairs(repeat: bool) -> Ints:
        return winner_pairs(np.array(winners), arms, repeat)

    every = [(a, w) for w in sorted(set(winners)) for a in range(arms) if a != w]
    assert list(map(tuple, pairs(True).tolist())) == every
    once = [frozenset(pair) for pair in pairs(False).tolist()]
    assert len(once) == len(set(once))
    assert set(once) == {frozenset(pair) for pair in every}
    assert set(map(tuple, pairs(False).tolist())) <= set(every)


def test_one_arm_has_no_pairs() -> None:
    assert winner_pairs(np.array([0, 0]), 1, True).shape == (0, 2)
