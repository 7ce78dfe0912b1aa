"""Fair-VOI obeys the laws, believes what it should, and does better than chance and the paper."""

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from fairduel.arrays import Floats
from fairduel.compiled import load
from fairduel.errors import InputError
from fairduel.generate import hard_instance, random_instance
from fairduel.instance import Instance
from fairduel.jsonable import classes_in, decode, encode
from fairduel.learners import FairETC, Learner
from fairduel.learners import fair_voi as voi
from fairduel.learners.fair_voi import FairVOI, VOIState
from fairduel.play import Mix
from fairduel.simulate import simulate
from fairduel.tally import Tally
from fairduel.testing import LEARNER_LAWS
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Utilitarian

LEARNERS = {"horizon known": FairVOI(), "anytime": FairVOI(anytime=True)}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("law", LEARNER_LAWS, ids=lambda law: law.__name__)
def test_laws(law: Any, name: str) -> None:
    law(LEARNERS[name])


# What it believes


def _posterior(wins: Floats, known: int = -1, prior: float = 0.5) -> tuple[Floats, ...]:
    said: tuple[Floats, ...] = load(voi.KERNELS).posterior(
        wins[None], np.array([known], np.int64), prior
    )
    return tuple(part[0] for part in said)


@settings(max_examples=60)
@given(st.integers(0, 200), st.integers(0, 200))
def test_beliefs_about_a_pair_are_those_of_a_beta_distribution(won: int, lost: int) -> None:
    """Chance, mean and deviation below 1/2, against numerical integration."""
    wins = np.array([[0.0, won], [lost, 0.0]])
    log_beats, means, deviations, _, _ = _posterior(wins)
    a, b = won + 0.5, lost + 0.5
    below = special.betainc(a, b, 0.5)
    if below < 1e-6:  # a normal tail is not a Beta's; nothing depends on it there
        return
    law = stats.beta(a, b)
    grid = law.ppf(below * (np.arange(20_000) + 0.5) / 20_000)
    exact = won + lost < 59  # beyond, cube roots are taken for normal
    close = 0.01 if exact else 0.1
    assert math.isclose(log_beats[0, 1], math.log(below), abs_tol=1e-9 if exact else 0.1)
    if exact or below > 0.2:
        assert math.isclose(means[0, 1], 2 * grid.mean(), abs_tol=close * 2 * law.std())
        assert math.isclose(deviations[0, 1], 2 * grid.std(), rel_tol=close)


def test_the_chances_of_winners_are_those_of_draws_that_have_one() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 5, (4, 4)).astype(np.float64)
    np.fill_diagonal(wins, 0.0)
    _, _, _, chances, scores = _posterior(wins)
    upper = np.triu_indices(4, 1)
    preferences = np.full((400_000, 4, 4), 0.5)
    drawn = rng.beta(wins[upper] + 0.5, wins.T[upper] + 0.5, (400_000, 6))
    preferences[:, upper[0], upper[1]] = drawn
    preferences[:, upper[1], upper[0]] = 1.0 - drawn
    beats_all = (preferences > 0.5).sum(axis=2) == 3
    has_winner = beats_all.any(axis=1)
    winners = beats_all[has_winner].argmax(axis=1)
    assert np.allclose(chances, np.bincount(winners, minlength=4) / len(winners), atol=0.01)
    against = preferences[has_winner][np.arange(len(winners)), :, winners]
    assert np.allclose(scores, (2.0 * against).mean(axis=0), atol=0.01)


def test_known_winners_are_believed() -> None:
    wins = np.array([[0.0, 9.0], [0.0, 0.0]])
    _, _, _, chances, scores = _posterior(wins, known=1)
    assert chances.tolist() == [0.0, 1.0]
    assert scores[1] == 1.0
    assert scores[0] < 1.0


# What it decides


def _told(learner: FairVOI, wins: Floats, horizon: int = 10_000) -> VOIState:
    state = learner.init(len(wins), wins.shape[1], horizon, seed=1)
    plays = np.triu((wins + wins.transpose(0, 2, 1)).max(axis=0)).astype(np.int64)
    return learner.tell(state, Tally(plays, wins))


def _sure(preferences: Floats, answers: float) -> Floats:
    wins = answers * preferences
    wins[:, np.arange(wins.shape[1]), np.arange(wins.shape[1])] = 0.0
    return wins


def test_it_stops_asking_when_all_is_known() -> None:
    wins = _sure(random_instance(3, 4, seed=2).preferences, 1e7)
    learner = FairVOI()
    state = _told(learner, wins, horizon=10**9)
    play, _ = learner.ask(state)
    assert isinstance(play, Mix)
    assert play.phase == "exploit"
    assert np.array_equal(play.left, play.right)
    outlook = learner.outlook(state)
    assert outlook.duels_worth_asking == 0
    assert outlook.near_best > 0.99


def test_it_asks_when_nothing_is_known() -> None:
    learner = FairVOI()
    state = learner.init(3, 4, 1000, seed=1)
    outlook = learner.outlook(state)
    assert outlook.duels_worth_asking > 0
    assert outlook.near_best < 0.9
    assert outlook.why == "Nothing has been asked yet."
    _, state = learner.ask(state)
    assert "worth most" in learner.outlook(state, arms=["a", "b", "c", "d"]).why


def test_the_last_round_is_not_for_learning() -> None:
    learner = FairVOI()
    state = learner.init(2, 3, 1, seed=1)
    play, _ = learner.ask(state)
    assert isinstance(play, Mix)
    assert play.phase == "exploit"


def test_a_user_with_a_cycle_is_named_and_served() -> None:
    cycle = np.array([[0.5, 0.9, 0.2], [0.1, 0.5, 0.9], [0.8, 0.1, 0.5]])
    clear = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.6], [0.1, 0.4, 0.5]])
    wins = _sure(np.stack([cycle, clear]), 200.0)
    learner = FairVOI()
    state = _told(learner, wins)
    outlook = learner.outlook(state)
    assert outlook.without_winner == (0,)
    assert outlook.references.tolist() == [0, 0]  # arm 0 loses least badly
    assert abs(learner.policy(state).sum() - 1.0) < 1e-9


def test_an_outlook_holds_the_truth() -> None:
    """The interval of each user's utility, over many runs: 95 %, and this is no luck."""
    learner, inside, near = FairVOI(), [], []
    for seed in range(60):
        instance = random_instance(3, 4, seed=1000 + seed)
        rng = np.random.default_rng(seed)
        won = rng.binomial(20, np.triu(instance.preferences, 1)).astype(np.float64)
        wins = won + np.triu(20.0 - won, 1).transpose(0, 2, 1)
        state = _told(learner, wins)
        outlook, policy = learner.outlook(state), learner.policy(state)
        truth = instance.scores @ policy
        inside += ((outlook.low <= truth) & (truth <= outlook.high)).tolist()
        best = Nash().maximize(instance.scores).value
        near.append((outlook.near_best, truth.prod() >= 0.99 * best))
    assert 0.88 <= np.mean(inside) <= 1.0
    promised, kept = np.mean(near, axis=0)
    assert abs(promised - kept) < 0.2


@pytest.mark.parametrize(
    "welfare", [Nash(weights=(1.0, 2.0)), Utilitarian(), Egalitarian(), FrankWolfe()]
)
def test_every_welfare_is_learned(welfare: Any) -> None:
    scores = np.array([[1.0, 0.2, 0.7], [0.1, 1.0, 0.7]])
    preferences = np.full((2, 3, 3), 0.5)
    for d in range(2):
        for k in range(3):
            preferences[d, k, d], preferences[d, d, k] = scores[d, k] / 2, 1 - scores[d, k] / 2
    preferences[:, 2, :2] = np.minimum(preferences[:, 2, :2], 0.45)
    preferences[:, :2, 2] = 1.0 - preferences[:, 2, :2]
    instance = Instance(preferences)
    # Linear programs are slow, so the smallest utility is learned for a shorter while.
    seeds, rounds, enough = (1, 40, 0.5) if isinstance(welfare, Egalitarian) else (4, 3000, 0.85)
    runs = [
        simulate(FairVOI(welfare=welfare), instance, rounds, seed, checkpoints=1)
        for seed in range(seeds)
    ]
    best = welfare.maximize(instance.scores).value
    values = [welfare.value(instance.scores @ run.policy) for run in runs]
    assert np.mean(values) >= enough * best


def test_other_welfares_are_refused() -> None:
    class Mine:
        pass

    with pytest.raises(InputError, match="Mine"):
        FairVOI(welfare=Mine())  # type: ignore[arg-type]


def test_known_winners_must_fit() -> None:
    with pytest.raises(InputError, match="winners"):
        FairVOI(winners=(0, 1, 2)).init(2, 3, 100, seed=1)


def test_states_in_the_middle_are_saved_to_the_bit() -> None:
    learner = FairVOI()
    state = learner.init(2, 3, 500, seed=1)
    rng = np.random.default_rng(2)
    for _ in range(40):
        play, state = learner.ask(state)
        assert isinstance(play, Mix)
        i, j = rng.choice(3, p=play.left), rng.choice(3, p=play.right)
        tally = Tally.empty(2, 3)
        tally.plays[i, j] = 1
        if i != j:
            tally.wins[:, i, j] = 1.0
        state = learner.tell(state, tally)
    text = json.dumps(encode(state))
    again = decode(json.loads(text), classes_in(VOIState))
    assert json.dumps(encode(again)) == text
    assert json.dumps(encode(learner.ask(again)[1])) == json.dumps(encode(learner.ask(state)[1]))


def test_the_settings_can_be_saved() -> None:
    learner = FairVOI(welfare=Utilitarian(), winners=(0, 1), anytime=True)
    assert decode(json.loads(json.dumps(encode(learner))), [FairVOI, Utilitarian]) == learner
    assert {f.name for f in dataclasses.fields(learner)} == {"welfare", "winners", "anytime"}


# How well it does: fixed seeds, and bars that are far from what it reaches


def _mean_share(learner: Any, users: int, arms: int, rounds: int, runs: int) -> float:
    shares = []
    for seed in range(runs):
        run = simulate(learner, random_instance(users, arms, seed=500 + seed), rounds, seed, 1)
        shares.append(run.regret[-1] / (run.best * rounds))
    return float(np.mean(shares))


def test_it_learns_within_a_hundred_rounds() -> None:
    assert _mean_share(FairVOI(), 3, 5, 100, 20) < 0.4  # choosing at random: 0.57


def test_anytime_is_not_far_behind() -> None:
    known, anytime = (_mean_share(FairVOI(anytime=a), 3, 5, 1000, 12) for a in (False, True))
    assert anytime < 2.0 * known


def test_it_beats_fair_etc_where_the_lower_bound_is_proved() -> None:
    instance = hard_instance(6, 6, 100_000, epsilon=0.1, instance=1)
    winners = tuple(int(w) for w in instance.winners)
    learners: list[Learner[Any]] = [FairVOI(winners=winners), FairETC(winners=winners)]
    ours, theirs = (
        simulate(learner, instance, 100_000, seed=1, checkpoints=1).regret[-1]
        for learner in learners
    )
    assert ours < theirs
