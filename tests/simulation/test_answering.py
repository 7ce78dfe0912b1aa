"""Answers that are missing or late: coupled with single rounds, and alike to known laws."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chance import alike, binomial_fits, fits
from fairduel._arrays import Floats, Ints
from fairduel.environments import bradley_terry_instance, random_instance
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners import (
    BradleyTerryThompson,
    FairEpsilonGreedy,
    FairETC,
    FairVOI,
    Learner,
    UniformOverUsers,
)
from fairduel.learners.tournament import Tournament
from fairduel.offers import Duels, Mix, Play, commit
from fairduel.simulation import hearing, simulate
from fairduel.simulation.answering import Answering
from fairduel.simulation.hearing import Asked, Patient
from fairduel.simulation.loop import play_against
from fairduel.simulation.responses import Responses
from fairduel.simulation.trajectory import Trajectory
from fairduel.tally import Tally
from fairduel.welfare import Nash
from reference import TapeResponses, simulate_round_by_round

# Quick to identify winners, so that every phase is met where answers are few.
QUICK = Tournament(gap_guess=0.9, confidence_scale=100.0)
LEARNERS: dict[str, Any] = {
    "etc": FairETC(tournament=QUICK),
    "epsilon": FairEpsilonGreedy(tournament=QUICK),
    "epsilon, every third": FairEpsilonGreedy(tournament=QUICK, solve_every=3, least_played=True),
    "uniform": UniformOverUsers(tournament=QUICK),
    "voi": FairVOI(),
    "anytime voi": FairVOI(anytime=True),
    "thompson": BradleyTerryThompson(),
}
EACH = pytest.mark.parametrize("name", LEARNERS)
WAYS = {
    "fewer": Answering(0.7),
    "one silent": Answering((1.0, 0.0)),
    "late": Answering(1.0, 20),
    "fewer and late": Answering((0.8, 0.6), 7),
    "too late": Answering(1.0, 10**6),
    "never": Answering(0.0),
}
INSTANCE = random_instance(2, 3, 0.35, 1)


# Coupled with single rounds


def both_ways(
    learner: Learner[Any], instance: Instance, rounds: int, seed: int, answering: Answering
) -> tuple[Trajectory, Trajectory]:
    """The same game in single rounds and in big steps, read off after every round."""
    rates, delay = answering.rates(len(instance.users)), answering.delay
    tape = TapeResponses(instance, seed, rates)
    plain = simulate_round_by_round(learner, instance, rounds, seed, tape, tape.dice, delay)
    answers, marks = TapeResponses(instance, seed, rates), plain.checkpoints
    fast = play_against(answers, learner, instance, rounds, seed, marks, Nash(), delay)
    return plain, fast


def assert_same(plain: Trajectory, fast: Trajectory) -> None:
    assert plain.phases == fast.phases
    np.testing.assert_allclose(plain.earned, fast.earned, rtol=0, atol=1e-4)
    np.testing.assert_allclose(plain.utilities, fast.utilities, rtol=0, atol=1e-9)
    np.testing.assert_allclose(plain.policy, fast.policy, rtol=0, atol=1e-4)


@EACH
@pytest.mark.parametrize("way", WAYS)
def test_coupled_from_the_start(name: str, way: str) -> None:
    """Every phase is met, unless too little is heard for that."""
    plain, fast = both_ways(LEARNERS[name], INSTANCE, 2500, 3, WAYS[way])
    if way in ("fewer", "late", "fewer and late"):
        assert plain.phases["exploit"] > 100
    assert_same(plain, fast)


@EACH
@settings(max_examples=6)
@given(
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 120),
    st.floats(0.0, 1.0),
    st.integers(0, 30),
    st.integers(0, 999),
)
def test_coupled_after_known_winners(
    name: str, users: int, arms: int, rounds: int, rate: float, delay: int, seed: int
) -> None:
    instance = random_instance(users, arms, 0.1, seed)
    learner = LEARNERS[name]
    if name != "thompson":
        learner = dataclasses.replace(learner, winners=tuple(instance.winners.tolist()))
    assert_same(*both_ways(learner, instance, rounds, seed, Answering(rate, delay)))


def test_prompt_answers_by_the_other_way_are_alike() -> None:
    """Everybody at once, the one way and the other: the tapes differ, the law does not."""
    runs = []
    for delay in (None, 0):
        found = []
        for seed in range(300):
            responses = Responses(
                INSTANCE, np.random.default_rng([seed, 1 if delay is None else 2])
            )
            learner = FairEpsilonGreedy(tournament=QUICK)
            marks = np.array([150, 300])
            found.append(
                play_against(responses, learner, INSTANCE, 300, seed, marks, Nash(), delay)
            )
        runs.append(found)
    for mark in range(2):
        assert alike(*([run.earned[mark] for run in found] for found in runs))
    assert alike(*([run.policy[0] for run in found] for found in runs))
    assert alike(*([run.utilities[-1, 1] for run in found] for found in runs))


# A learner whose offers show what was heard when


TOLD: list[Tally] = []


class Diary(Learner[int]):
    """Offers a few things in turn, and hands every tally on to ``TOLD``."""

    def init(self, users: int, arms: int, horizon: int, seed: int) -> int:
        TOLD.clear()
        return 0

    def ask(self, state: int) -> tuple[Play, int]:
        even, place = np.full(3, 1.0 / 3.0), state % 20
        if place < 8:
            return Mix(even, np.array([0.5, 0.5, 0.0]), 8 - place), state
        if place < 14:
            pairs, left = np.array([[0, 1], [2, 1], [0, 2]]), 14 - place
            return Duels(pairs, np.clip(left - np.array([3, 2, 0]), 0, [3, 1, 2])), state
        return commit(even, 20 - place), state

    def tell(self, state: int, tally: Tally) -> int:
        TOLD.append(tally)
        return state + tally.rounds

    def policy(self, state: int) -> Floats:
        return np.full(3, 1.0 / 3.0)


def diary(rounds: int, seed: int, answering: Answering, marks: Any = 1) -> list[Tally]:
    """The tallies that a simulated run tells, one after the other."""
    answers, delay = answering.answers, answering.delay
    simulate(INSTANCE, rounds, Diary(), seed=seed, checkpoints=marks, answers=answers, delay=delay)
    return list(TOLD)


@pytest.mark.parametrize("delay", [0, 1, 3, 11, 30])
def test_answers_come_as_late_as_they_should(delay: int) -> None:
    """After every tally: plays are all there, and answers those of the rounds before the delay.

    Everybody answers, so the answers to a pair are as many as its duels; those of duels in a known
    order are known exactly, and nothing is heard of rounds without listening.
    """
    tallies = diary(200, 5, Answering((1.0, 0.5), delay))
    played = heard = 0
    for tally in tallies:
        played += tally.rounds
        heard += int(tally.wins[0].sum())
        by_round = [t % 20 < 14 for t in range(max(0, played - delay))]
        # Of the rounds of a mix those with an arm against itself are not heard: a third.
        mixed = sum(t % 20 < 8 for t in range(max(0, played - delay)))
        assert sum(by_round) - mixed <= heard <= sum(by_round)
    assert played == 200
    assert heard > 0


def test_duels_are_answered_in_their_order() -> None:
    responses = Responses(INSTANCE, np.random.default_rng(1), np.array([1.0, 0.0]))
    patient = Patient(responses, 2, 3, delay=4)
    pairs, counts = np.array([[0, 1], [2, 1], [0, 2]]), np.array([[3, 1, 0], [0, 0, 2]])
    heard = [patient.hear(Asked(pairs, counts, in_order=True), 6)]
    heard += [patient.hear(None, 1) for _ in range(5)]
    answers = [Tally(np.zeros((3, 3), np.int64), wins).answers for wins in heard]
    assert [int(each[0, 0, 1]) for each in answers] == [2, 1, 0, 0, 0, 0]
    assert [int(each[0, 1, 2]) for each in answers] == [0, 0, 1, 0, 0, 0]
    assert [int(each[0, 0, 2]) for each in answers] == [0, 0, 0, 1, 1, 0]
    assert not any(each[1].any() for each in answers)  # the second user never answers


def test_while_answers_are_under_way_nobody_plays_past_them() -> None:
    responses = Responses(INSTANCE, np.random.default_rng(1))
    patient, blind = Patient(responses, 2, 3, delay=4), commit(np.full(3, 1 / 3), 50)
    assert patient.part(blind) == (blind, 50)
    asked = Asked(np.array([[0, 1]]), np.array([[2]]), in_order=True)
    patient.hear(asked, 2)
    assert [patient.part(blind)[1] for _ in range(2)] == [3, 3]
    assert patient.hear(None, 3).sum() == 2  # of two users, to the first of two duels
    assert patient.part(blind)[1] == 1
    assert patient.hear(None, 1).sum() == 2
    assert patient.part(blind)[1] == 50
    listening = Mix(blind.left, blind.left, 50)
    patient.hear(asked, 2)
    assert patient.part(listening) == (listening, 50)


# Known laws


def test_some_answers_are_binomial() -> None:
    rates = np.array([0.3, 0.8])
    responses = Responses(INSTANCE, np.random.default_rng(2), rates)
    pairs, counts = np.tile([[0, 1], [2, 0]], (5000, 1)), np.tile([12, 1], 5000)
    left, right = responses.some_answers(pairs, counts)
    for row, user in itertools.product(range(2), range(2)):
        chance = INSTANCE.preferences[user, pairs[row, 0], pairs[row, 1]]
        said = rates[user]
        for found, law in ((left, said * chance), (right, said * (1 - chance))):
            assert binomial_fits(found[row::2, user].astype(int), counts[row], law)
        total = (left + right)[row::2, user].astype(int)
        assert binomial_fits(total, counts[row], said)
    assert abs(np.asarray(np.corrcoef((left + right)[::2].T))[0, 1]) < 4 / np.sqrt(5000)


def test_the_earliest_rounds_are_any() -> None:
    responses = Responses(INSTANCE, np.random.default_rng(2))
    counts = np.array([5, 3, 12])
    first = np.array([responses.earliest(counts, 7) for _ in range(5000)])
    assert (first.sum(axis=1) == 7).all()
    assert responses.earliest(np.array([4, 0]), 3).tolist() == [3, 0]
    for place, count in enumerate(counts.tolist()):
        law = stats.hypergeom(20, count, 7).pmf(np.arange(21))
        assert fits(np.bincount(first[:, place], minlength=21), law)


def _answers_by_then(rounds: int, seeds: range, answering: Answering, cut: int) -> Ints:
    """How many answers about arms 0 and 2 the first user gave by the end, in each run."""
    marks = np.unique([cut, rounds])
    heard = [sum(t.wins[0, 0, 2] + t.wins[0, 2, 0] for t in diary(rounds, s, answering, marks))
             for s in seeds]  # fmt: skip
    return np.array(heard, np.int64)


@pytest.mark.parametrize("cut", [3, 8])
def test_the_number_of_late_answers_has_its_law(cut: int) -> None:
    """Eight rounds of a mix, the answers to the first three of which come in time.

    Arms 0 and 2 meet in a sixth of its rounds (2 is never on the right), and the first user
    answers every other time, so by then the answers are Binomial(3, 1/12). Wherever the run is
    read off, whole or after three rounds, the law is the same.
    """
    heard = _answers_by_then(8, range(4000), Answering((0.5, 1.0), 5), cut)
    assert binomial_fits(heard, 3, 1 / 12)


def test_batches_are_not_too_large_to_split(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hearing.AT_ONCE < 10**9  # what numpy can split
    run = simulate(INSTANCE, 10**10, BradleyTerryThompson(), seed=1, checkpoints=2, delay=10**6)
    assert run.rounds == 10**10
    far = simulate(INSTANCE, 10**15, FairETC(winners=(0, 1)), seed=1, checkpoints=2, answers=0.5)
    assert far.phases["exploit"] > 0.9 * 10**15
    monkeypatch.setattr(hearing, "AT_ONCE", 3)
    assert_same(*both_ways(FairVOI(), INSTANCE, 300, 3, WAYS["fewer and late"]))


# What comes of it


@EACH
def test_without_any_answer_nothing_breaks(name: str) -> None:
    run = simulate(INSTANCE, 500, LEARNERS[name], seed=1, checkpoints=3, answers=0)
    assert sum(run.phases.values()) == 500


def test_fewer_answers_teach_less() -> None:
    learner, instance = BradleyTerryThompson(), bradley_terry_instance(3, 5, seed=2)

    def regret(**how: Any) -> float:
        runs = [simulate(instance, 300, learner, seed=s, checkpoints=1, **how) for s in range(20)]
        return float(np.mean([run.regret[-1] for run in runs]))

    whole, nothing = regret(), regret(answers=0)
    assert 1.2 * whole < regret(delay=150) < nothing / 1.1
    assert 1.2 * whole < regret(answers=0.2) < nothing / 1.1


def test_answers_of_everybody_at_once_change_no_bit() -> None:
    plain = simulate(INSTANCE, 900, FairVOI(), seed=4)
    for ones in (1, 1.0, (1.0, 1.0), np.ones(2)):
        same = simulate(INSTANCE, 900, FairVOI(), seed=4, answers=ones, delay=0)  # type: ignore[arg-type]
        assert np.array_equal(same.earned, plain.earned)
        assert np.array_equal(same.utilities, plain.utilities)
        assert np.array_equal(same.policy, plain.policy)


def test_the_same_seed_gives_the_same_run() -> None:
    first, second, other = (
        simulate(INSTANCE, 500, FairVOI(), seed=seed, answers=(0.3, 0.9), delay=5)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first.earned, second.earned)
    assert not np.array_equal(first.earned, other.earned)


# Bad input


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"answers": 1.5}, r"answers is 1.5: give a number from 0 to 1\."),
        ({"answers": -0.1}, r"answers is -0.1"),
        ({"answers": float("nan")}, r"answers is nan"),
        ({"answers": "0.3"}, r"answers is '0.3'"),
        ({"answers": (0.3, 2)}, r"answers\[1\] is 2.0: give a number from 0 to 1\."),
        ({"answers": (0.3, 0.3, 0.3)}, r"answers has 3 probabilities for 2 users: give one for"),
        ({"answers": []}, r"answers has 0 probabilities for 2 users"),
        ({"answers": [[0.3, 0.3]]}, r"answers is \[\[0.3, 0.3\]\]: give a number"),
        ({"delay": -1}, r"delay is -1: give a whole number from 0"),
        ({"delay": 2.5}, r"delay is 2.5: give a whole number"),
        ({"delay": None}, r"delay is None: give a whole number"),
    ],
)
def test_bad_input(how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        simulate(INSTANCE, 50, **how)
