"""The tournament finds winners, spends no more than it may, and shares every duel."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chance import fits
from fairduel._arrays import Floats, Ints
from fairduel.environments import random_instance
from fairduel.errors import InputError
from fairduel.inference.estimates import empirical_scores, guessed_scores
from fairduel.instance import Instance
from fairduel.learners import FairEpsilonGreedy, FairETC
from fairduel.learners.phases import AS_RUN_TOURNAMENT
from fairduel.learners.tournament import Tournament, TournamentState, identify
from fairduel.offers import Duels, Mix
from fairduel.tally import Tally
from fairduel.welfare import Nash
from reference import TapeResponses

AS_WRITTEN = Tournament()
BOTH = pytest.mark.parametrize("tournament", [AS_WRITTEN, AS_RUN_TOURNAMENT])


def instance_of(*rows: float, arms: int = 2) -> Instance:
    """Each user's chance that arm i beats arm j > i, the same for all pairs."""
    upper = np.triu(np.ones((arms, arms)), 1)
    diagonal = 0.5 * np.eye(arms)
    return Instance([p * upper + (1 - p) * upper.T + diagonal for p in rows])


def play(duels: Duels, nature: TapeResponses, users: int, arms: int) -> Tally:
    """All duels of an offer, heard by everybody."""
    tally = Tally.empty(users, arms)
    likes = nature.answers(duels.pairs, duels.counts)
    for (i, j), count, share in zip(duels.pairs, duels.counts, likes, strict=True):
        tally.plays[i, j] += count
        tally.wins[:, i, j] += share
        tally.wins[:, j, i] += count - share
    return tally


def run(
    instance: Instance, budget: int, tournament: Tournament = AS_WRITTEN, seed: int = 1
) -> tuple[Ints, Tally, bool]:
    users, arms = instance.preferences.shape[:2]
    nature = TapeResponses(instance, seed)
    return identify(
        lambda duels: play(duels, nature, users, arms), users, arms, budget, seed, tournament
    )


def offers(instance: Instance, budget: int, tournament: Tournament) -> list[TournamentState]:
    """The state at every offer, after the decision to make it."""
    users, arms = instance.preferences.shape[:2]
    nature = TapeResponses(instance, 1)
    states = []
    duels, state = tournament.ask(tournament.init(users, arms, budget, 1))
    while duels is not None:
        states.append(state)
        duels, state = tournament.ask(tournament.tell(state, play(duels, nature, users, arms)))
    return [*states, state]


# Finding winners


@BOTH
@pytest.mark.parametrize("seed", range(20))
def test_winners_are_found(tournament: Tournament, seed: int) -> None:
    """An error has probability delta = 1 / 400 at most, and these seeds have none."""
    users, arms = 1 + seed % 4, 2 + seed % 5
    instance = random_instance(users, arms, 0.15, seed)
    winners, tally, finished = run(instance, 10**6, tournament, seed)
    assert finished
    assert winners.tolist() == instance.winners.tolist()
    assert tally.rounds < 10**6


def test_a_surer_tournament_takes_longer() -> None:
    instance = random_instance(3, 4, 0.1, 1)
    rounds = [run(instance, 10**6, Tournament(gap_guess=g))[1].rounds for g in (0.5, 0.0025)]
    assert rounds[0] > rounds[1]


def test_the_first_match_is_any_pair() -> None:
    counts = np.zeros((4, 4))
    for seed in range(4000):
        duels, _ = AS_WRITTEN.ask(AS_WRITTEN.init(2, 4, 1000, seed))
        assert duels is not None
        counts[tuple(duels.pairs[0])] += 1
    assert fits(counts, 1 - np.eye(4))


def test_the_winner_stays_on_for_the_user() -> None:
    """Users in order; for each, the arm that is left of a match is in the next one."""
    states = offers(random_instance(3, 6, 0.2, 3), 10**6, AS_WRITTEN)
    matches = [state.match for state in states if state.match is not None]
    users = [user for user, _, _ in matches]
    assert users == sorted(users)
    for before, after in itertools.pairwise(matches):
        if before[0] == after[0] and before != after:
            assert after[1] in before[1:]
    assert all(
        state.candidates[state.match[0], list(state.match[1:])].all()
        for state in states[:-1]
        if state.match is not None
    )


def test_each_user_has_the_arms_in_a_random_order_of_their_own() -> None:
    codes = [
        AS_WRITTEN.init(2, 3, 1000, seed).order.ravel() @ 3 ** np.arange(6) for seed in range(7200)
    ]
    _, counts = np.unique(codes, return_counts=True)
    assert fits(counts, np.ones(36))


# Algorithm 3


def expected_samples(round_: int, confidence: float) -> int:
    adjusted = 6 * confidence / (math.pi**2 * round_**2)
    return math.ceil(8 * math.log(4 / adjusted) * 4.0 ** (round_ + 1))


def test_rounds_have_the_length_of_the_paper() -> None:
    """The pair that nobody can tell apart is played through rounds 1, 2, 3; nothing else is."""
    states = offers(instance_of(0.5, 0.5), 100_000, AS_WRITTEN)
    confidence = 0.5 * 2 * math.log(1.5) / (0.0025 * 100_000) / 2 / 2
    lengths = [expected_samples(r, confidence) for r in (1, 2, 3)]
    assert [state.due for state in states[:3]] == lengths
    assert states[0].confidence == pytest.approx(confidence)


def test_a_pair_goes_on_from_its_round_for_another_user() -> None:
    """User 0 tells the arms apart in round 1; user 1 then begins with round 2."""
    states = offers(instance_of(0.9, 0.55), 20_000, AS_WRITTEN)
    assert [state.match[0] for state in states[:2] if state.match] == [0, 1]
    assert states[1].trackers[0, 1] == states[1].trackers[1, 0] == 2
    assert states[1].due == expected_samples(2, states[1].confidence)


def judged(tournament: Tournament, first: Floats, second: Floats) -> TournamentState:
    """Two users, two arms; the shares of wins of arm 0 in rounds 1 and 2 are given."""
    state = tournament.init(2, 2, 10**6, 1)
    for shares in (first, second):
        duels, state = tournament.ask(state)
        assert duels is not None
        tally = Tally.empty(2, 2)
        tally.plays[tuple(duels.pairs[0])] = duels.rounds
        tally.wins[:, 0, 1] = shares * duels.rounds
        tally.wins[:, 1, 0] = (1 - shares) * duels.rounds
        state = tournament.tell(state, tally)
    return tournament.ask(state)[1]


def test_a_margin_has_to_pass_half_the_width() -> None:
    """Half the widths of rounds 1 and 2 are 1/8 and 1/16."""
    own = Tournament(pool_rounds=False)
    passed = judged(own, np.array([0.5, 0.62]), np.array([0.5, 0.57]))
    assert passed.candidates.tolist() == [[True, True], [True, False]]
    failed = judged(own, np.array([0.5, 0.62]), np.array([0.56, 0.44]))
    assert failed.candidates.all()
    lost = judged(own, np.array([0.3, 0.5]), np.array([0.5, 0.43]))
    assert lost.candidates.tolist() == [[False, True], [False, True]]


def test_pooled_rounds_judge_by_all_duels() -> None:
    """Of all duels of rounds 1 and 2, about one fifth are of round 1."""
    first, second = np.array([0.5, 0.62]), np.array([0.5, 0.555])
    pooled = judged(Tournament(), first, second)
    assert pooled.candidates.tolist() == [[True, True], [True, False]]
    own = judged(Tournament(pool_rounds=False), first, second)
    assert own.candidates.all()


def test_an_elimination_counts_for_all_users_at_once() -> None:
    """Users who agree need no more duels than one of them."""
    alone, together = instance_of(1.0, arms=5), instance_of(*[1.0] * 6, arms=5)
    tournament = Tournament(split_over_users=False)
    assert run(alone, 10**5, tournament)[1].rounds == run(together, 10**5, tournament)[1].rounds


@pytest.mark.parametrize("for_all", [False, True])
def test_who_an_arm_is_out_for(for_all: bool) -> None:
    """User 1 has arm 1 out already, and is sure that it beats arm 0."""
    tournament = Tournament(eliminate_for_all=for_all)
    _, state = tournament.ask(tournament.init(2, 3, 10**6, 1))
    candidates = np.array([[True, True, True], [True, False, True]])
    state = replace(state, match=(0, 0, 1), candidates=candidates)
    tally = Tally.empty(2, 3)
    tally.plays[0, 1] = state.due
    tally.wins[:, 1, 0] = state.due
    after = tournament.ask(tournament.tell(state, tally))[1].candidates
    assert after.tolist() == [[False, True, True], [not for_all, False, True]]


def test_nobody_loses_the_last_arm() -> None:
    tournament = Tournament(eliminate_for_all=True)
    _, state = tournament.ask(tournament.init(2, 3, 10**6, 1))
    candidates = np.array([[True, True, True], [True, False, False]])
    state = replace(state, match=(0, 0, 1), candidates=candidates)
    tally = Tally.empty(2, 3)
    tally.plays[0, 1] = state.due
    tally.wins[:, 1, 0] = state.due
    assert tournament.ask(tournament.tell(state, tally))[1].candidates[1, 0]


def test_few_answers_make_nobody_sure() -> None:
    """All answer alike; user 1 only nine times, which no width of round 1 is for."""
    state = AS_WRITTEN.init(3, 2, 10**5, 1)
    duels, state = AS_WRITTEN.ask(state)
    assert duels is not None
    tally = Tally.empty(3, 2)
    tally.plays[tuple(duels.pairs[0])] = duels.rounds
    tally.wins[:, 0, 1] = [duels.rounds, 9, 0]
    state = AS_WRITTEN.ask(AS_WRITTEN.tell(state, tally))[1]
    assert state.candidates.sum(axis=1).tolist() == [1, 2, 2]


def test_a_round_without_an_answer_is_not_judged() -> None:
    """It is played again at its length; with an answer of anybody's the next one is longer."""
    first, state = AS_WRITTEN.ask(AS_WRITTEN.init(2, 2, 10**5, 1))
    assert first is not None
    pair = tuple(first.pairs[0])
    silence, answered = Tally.empty(2, 2), Tally.empty(2, 2)
    silence.plays[pair] = answered.plays[pair] = first.rounds
    answered.wins[0, :, :] = [[0.0, 1.0], [1.0, 0.0]]
    again, state = AS_WRITTEN.ask(AS_WRITTEN.tell(state, silence))
    assert again is not None
    assert again.rounds == first.rounds
    assert state.trackers[0, 1] == state.trackers[1, 0] == 1
    longer, state = AS_WRITTEN.ask(AS_WRITTEN.tell(state, answered))
    assert longer is not None
    assert longer.rounds == expected_samples(2, state.confidence) > first.rounds
    assert state.trackers[0, 1] == state.trackers[1, 0] == 2


# The budget


@BOTH
@settings(max_examples=40)
@given(
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 6000),
    st.floats(0, 0.4),
    st.integers(0, 99),
)
def test_the_budget_is_kept(
    tournament: Tournament, users: int, arms: int, budget: int, gap: float, seed: int
) -> None:
    winners, tally, finished = run(random_instance(users, arms, gap, seed), budget, tournament)
    assert tally.rounds <= budget
    assert finished or tally.rounds == budget
    assert winners.shape == (users,)
    assert ((winners >= 0) & (winners < arms)).all()


def test_a_pair_at_one_half_ends_with_the_budget() -> None:
    winners, tally, finished = run(instance_of(0.5, 0.9), 30_000)
    assert not finished
    assert tally.rounds == 30_000
    assert winners[1] == 0


def test_a_guess_goes_by_what_was_heard() -> None:
    """No round fits the budget, yet the answers are clear enough."""
    winners, _, finished = run(instance_of(0.1, 0.9, 0.9), 50)
    assert not finished
    assert winners.tolist() == [1, 0, 0]


def cut_off(wins: Floats, candidates: list[list[bool]]) -> TournamentState:
    """A tournament whose budget ran out with these answers and arms still in."""
    users, arms = len(wins), wins.shape[1]
    state = AS_WRITTEN.init(users, arms, 100, 1)
    tally = Tally.empty(users, arms)
    tally.plays[0, 1] = 100
    tally.wins[:] = wins
    return AS_WRITTEN.tell(replace(state, candidates=np.array(candidates)), tally)


def test_a_guess_is_the_candidate_that_is_likeliest_to_beat_all() -> None:
    """Arm 2 beats both others a little, arm 0 beats arm 1 by far; user 1 has arm 2 out."""
    wins = np.array([[0.0, 30.0, 8.0], [5.0, 0.0, 8.0], [12.0, 12.0, 0.0]])
    state = cut_off(np.stack([wins] * 3), [[True] * 3, [True, True, False], [False, True, False]])
    assert AS_WRITTEN.ask(state)[0] is None
    assert not AS_WRITTEN.finished(state)
    assert AS_WRITTEN.winners(state).tolist() == [2, 0, 1]


@pytest.mark.parametrize("learner", [FairETC(), FairEpsilonGreedy()])
def test_the_policy_of_a_tournament_that_was_cut_off_is_best_for_guessed_scores(
    learner: Any,
) -> None:
    """Arm 1 loses all three duels to user 0's winner, which says little: its score is not 0."""
    wins = np.array([[[0.0, 3.0], [0.0, 0.0]], [[0.0, 5.0], [26.0, 0.0]]])
    state = learner.init(2, 2, 100, 1)
    state = replace(state, tournament=cut_off(wins, [[True] * 2] * 2))
    winners = AS_WRITTEN.winners(state.tournament)
    best = Nash().maximize(guessed_scores(wins, winners)).policy
    np.testing.assert_allclose(learner.policy(state), best, atol=1e-6)
    play, after = learner.ask(state)
    assert isinstance(play, Mix)
    np.testing.assert_allclose(play.left, best, atol=1e-6)
    np.testing.assert_allclose(learner.policy(after), best, atol=1e-6)
    assert np.abs(best - Nash().maximize(empirical_scores(wins, winners)).policy).max() > 0.05


def test_one_arm_needs_no_duel() -> None:
    winners, tally, finished = run(instance_of(0.5, 0.5, arms=1), 10)
    assert finished
    assert tally.rounds == 0
    assert winners.tolist() == [0, 0]


def test_known_winners_need_no_duel() -> None:
    state = AS_WRITTEN.init(2, 3, 10, 1, np.array([2, 0]))
    duels, state = AS_WRITTEN.ask(state)
    assert duels is None
    assert AS_WRITTEN.finished(state)
    assert AS_WRITTEN.winners(state).tolist() == [2, 0]


# Confidence


def test_confidence_is_that_of_the_theorem() -> None:
    delta = 10 * math.log(5) / (2 * 0.0025 * 200_000)
    assert AS_WRITTEN.confidence(7, 10, 200_000) == pytest.approx(delta / 7)
    assert AS_RUN_TOURNAMENT.confidence(7, 10, 200_000) == pytest.approx(2 * delta)


def test_confidence_where_the_formula_breaks() -> None:
    """With two arms it would be 0, and at a short horizon above 1."""
    assert 0 < AS_WRITTEN.confidence(1, 2, 10**6) < 0.01
    assert AS_RUN_TOURNAMENT.confidence(5, 10, 1) == 0.5
    assert 0 < AS_WRITTEN.confidence(1, 1, 1) <= 0.5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("gap_guess", value) for value in (0.0, 1.0, math.nan, "a", None)),
        *(("confidence_scale", value) for value in (0.0, math.nan, math.inf, "a", None)),
    ],
)
def test_settings_are_checked(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name} is .*: give a number"):
        Tournament(**{name: value})


def test_an_empty_budget_is_refused() -> None:
    with pytest.raises(InputError, match="budget"):
        AS_WRITTEN.init(2, 3, 0, 1)
