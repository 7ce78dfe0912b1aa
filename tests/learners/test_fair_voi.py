"""Fair-VOI obeys the laws, and does better than chance and the paper."""

import dataclasses
import json
import math
from typing import Any, ClassVar

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel._codec import classes_in, decode, encode
from fairduel.environments import hard_instance, random_instance
from fairduel.errors import InputError
from fairduel.inference import IndependentPairs, Posterior, estimate_utilities, infer_pairs
from fairduel.instance import Instance
from fairduel.learners import FairETC, Learner
from fairduel.learners.learner import Rationale
from fairduel.learners.voi import candidates
from fairduel.learners.voi.learner import FairVOI, VOIState
from fairduel.learners.voi.plan import Offer, Planner
from fairduel.learners.voi.prospects import prospects
from fairduel.learners.voi.value import Situation, answer_rates, information_value
from fairduel.offers import Mix
from fairduel.simulation import simulate
from fairduel.simulation.responses import Responses
from fairduel.tally import Tally
from fairduel.testing import LEARNER_LAWS
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Utilitarian

LEARNERS = {"horizon known": FairVOI(), "anytime": FairVOI(anytime=True)}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("law", LEARNER_LAWS, ids=lambda law: law.__name__)
def test_laws(law: Any, name: str) -> None:
    law(LEARNERS[name])


class _Recorded(FairVOI):
    """A learner that keeps what it offers."""

    plays: ClassVar[list[Mix]] = []

    def ask(self, state: VOIState) -> tuple[Any, VOIState]:
        play, state = super().ask(state)
        assert isinstance(play, Mix)
        self.plays.append(play)
        return play, state


# What it decides


@pytest.mark.parametrize("anytime", [False, True])
@pytest.mark.parametrize(("users", "arms"), [(2, 4), (5, 10), (40, 6)])
def test_knowing_nothing_it_plays_all_arms_alike(users: int, arms: int, anytime: bool) -> None:
    learner, alike = FairVOI(anytime=anytime), np.full(arms, 1.0 / arms)
    for seed in range(3):
        state = learner.init(users, arms, 1000, seed)
        silent = learner.tell(state, Tally(np.eye(arms, dtype=np.int64), state.tally.wins))
        for nothing in (state, silent):
            assert np.array_equal(learner.policy(nothing), alike)
            play, _ = learner.ask(nothing)
            assert isinstance(play, Mix)
            assert np.array_equal(play.left, alike)
            assert np.array_equal(play.right, alike)
    told = FairVOI(winners=(1,) * users, anytime=anytime)
    assert told.policy(told.init(users, arms, 1000, 0)).argmax() == 1


@pytest.mark.parametrize("scoring", ["condorcet", "borda"])
def test_other_draws_judge_than_those_that_chose(
    scoring: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A posterior may keep few draws, and then sampling twice gives many of them twice."""
    found: list[Floats] = []

    def recorded(scores: Floats, *rest: Any) -> Any:
        found.append(scores)
        return sample(scores, *rest)

    sample = candidates._sample
    monkeypatch.setattr(candidates, "_sample", recorded)
    wins = np.zeros((3, 5, 5))
    wins[0, 0, 1] = 1.0
    learner = FairVOI(scoring=scoring)
    for seed in range(4):
        found.clear()
        learner.policy(dataclasses.replace(_told(learner, wins), seed=seed))
        chose, judged = ({each.tobytes() for each in scores} for scores in found)
        assert len(judged) > 50
        assert not chose & judged


def test_knowing_next_to_nothing_it_hedges_but_for_chance() -> None:
    """One answer is no reason for an arbitrary arm among equals."""
    wins = np.zeros((10, 10, 10))
    wins[3, 0, 1] = 1.0
    state = _told(FairVOI(), wins)
    states = [dataclasses.replace(state, seed=seed) for seed in range(10)]
    spread = [FairVOI().policy(each).max() < 0.3 for each in states]
    assert sum(spread) >= 7


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
    assert outlook.share > 0.999
    assert outlook.enough
    _, state = learner.ask(state)
    assert learner.rationale(state, (0, 0)).kind == "exploit"


def test_it_asks_when_nothing_is_known() -> None:
    learner = FairVOI()
    state = learner.init(3, 4, 1000, seed=1)
    outlook = learner.outlook(state)
    assert outlook.share < 0.9
    assert outlook.ten_more > 0.05
    assert not outlook.enough
    assert learner.rationale(state, None) == Rationale("nothing-asked")
    _, state = learner.ask(state)
    assert learner.rationale(state, None).kind in ("winner", "scores")


class _Decided(FairVOI):
    """A learner that keeps, of every decision, the lead, the planner, and what it offers."""

    leads: ClassVar[list[float]] = []
    made: ClassVar[list[tuple[Planner, Offer]]] = []

    def _asks(self, sample: candidates.Sample, best: Floats) -> bool:
        self.leads.append(sample.lead(best))
        return super()._asks(sample, best)

    def _decide(self, state: VOIState) -> Offer:
        planner = self._planner(state, self.posterior(state.tally))
        self.made.append((planner, planner.offer(state.tally.rounds)))
        return self.made[-1][1]


def _for_answers_only(planner: Planner, offer: Offer) -> bool:
    """Whether a side of the offer is none of the policies that may be good."""
    sides = (offer.left, offer.right)
    return not all(any(np.array_equal(side, p) for p in planner.policies) for side in sides)


def test_nothing_is_played_for_its_answers_only_before_it_is_known_what_is_good() -> None:
    """The best policy first has to lead all arms alike; then what only teaches is played, too."""
    _Decided.leads.clear()
    _Decided.made.clear()
    for seed in range(3):
        simulate(random_instance(4, 6, seed=seed), 400, _Decided(), seed=seed, checkpoints=1)
    teaching = np.array([_for_answers_only(*made) for made in _Decided.made])
    sure = np.array(_Decided.leads) > candidates.SURE
    assert [planner.asks for planner, _ in _Decided.made] == sure.tolist()
    assert (~sure).sum() > 30
    assert not teaching[~sure].any()
    assert teaching[sure].sum() > 10


def test_how_sure_that_is() -> None:
    """A lead of one standard deviation: of normal draws, 84 % are ahead."""
    draws = np.random.default_rng(1).standard_normal(100_000)
    assert (draws + candidates.SURE > 0.0).mean() == pytest.approx(0.841, abs=0.005)


@pytest.mark.parametrize(
    ("learner", "asks"),
    [(FairVOI(scoring="borda"), True), (FairVOI(features=((0.0,), (1.0,), (2.0,))), False)],
)
def test_what_else_decides_whether_to_play_for_answers_only(learner: FairVOI, asks: bool) -> None:
    """Without a winner from the first answer on, and with features never."""
    state = learner.init(2, 3, 1000, 1)
    wins = np.zeros((2, 3, 3))
    for answers in (1.0, 100.0):
        wins[:, 0, 1:] = answers
        state = learner.tell(state, Tally(np.ones((3, 3), dtype=np.int64), wins))
        assert learner._planner(state, learner.posterior(state.tally)).asks == asks


def test_it_says_why_the_pair_that_was_shown_was_chosen() -> None:
    learner = FairVOI()
    wins = 3.0 * random_instance(3, 4, seed=5).preferences
    wins[:, np.arange(4), np.arange(4)] = 0.0
    _, state = learner.ask(_told(learner, wins, horizon=2000))
    assert state.offer is not None
    asked = state.offer.asked
    assert asked is not None
    assert len(asked.pairs) > 1
    assert np.isclose(asked.shares.sum(), 1.0)
    assert (np.diff(asked.shares) <= 0.0).all()
    assert asked.gain > asked.cost  # else it would not have been asked
    for at, (i, j) in enumerate(asked.pairs.tolist()):
        rationale = learner.rationale(state, shown=(j, i))
        assert rationale.kind == ("winner" if asked.about_winner[at] else "scores")
        assert rationale.pair == (i, j)
        assert rationale.share == asked.shares[at]
        assert rationale.rounds == state.offer.rounds
        assert (rationale.gain, rationale.cost) == (asked.gain, asked.cost)
    assert learner.rationale(state, None) == learner.rationale(state, (*asked.pairs[0].tolist(),))
    along = learner.rationale(state, shown=(2, 2))
    assert (along.kind, along.pair, along.share) == ("drawn-along", None, 0.0)


def test_who_never_answers_is_not_waited_for_long() -> None:
    """A silent third user costs the other two some of 400 rounds; waited for, nearly all."""
    alone, beside = (
        sum(_explored(silent, rounds=400, seed=seed) for seed in range(4)) for silent in (0, 1)
    )
    assert 0 < alone < 0.6 * 4 * 400
    assert beside < 0.5 * 4 * 400


def _explored(silent: int, rounds: int, seed: int) -> int:
    """The rounds that are played for answers, with two users who answer and some who never do."""
    learner, rng = FairVOI(), np.random.default_rng(seed)
    nature = Responses(random_instance(2, 5, seed=seed), rng)
    state, count = learner.init(2 + silent, 5, rounds, seed), 0
    while state.tally.rounds < rounds:
        play, state = learner.ask(state)
        assert isinstance(play, Mix)
        count += play.rounds if play.phase == "explore" else 0
        heard = _answered(play, play.rounds, nature, rng)
        wins = np.concatenate([heard.wins, np.zeros((silent, 5, 5))])
        state = learner.tell(state, Tally(heard.plays, wins))
    return count


def test_answer_rates_are_shares_of_the_duels_of_two_arms() -> None:
    """Of 99 such duels one user answers all, one every other, one none; others ask nothing."""
    tally = Tally.empty(3, 2)
    tally.plays[:] = [[40, 60], [39, 7]]
    tally.wins[0, 0, 1], tally.wins[0, 1, 0] = 30.0, 69.0
    tally.wins[1, 0, 1] = 49.0
    assert answer_rates(tally).tolist() == [1.0, 0.5, 0.0001]
    assert answer_rates(Tally.empty(3, 2)).tolist() == [1.0, 1.0, 1.0]


def test_an_early_unlucky_answer_hides_nobody_for_ever() -> None:
    """Arm 2 may be the winner but for two answers for arm 1: that pair is worth asking about.

    Not only the pair with the likeliest winner, arm 0, stands in its way.
    """
    wins = np.zeros((1, 3, 3))
    wins[0, 0, 1], wins[0, 1, 0] = 40.0, 20.0
    wins[0, 0, 2], wins[0, 2, 0] = 30.0, 29.0
    wins[0, 1, 2] = 2.0
    learner = FairVOI()
    state = _told(learner, wins, horizon=100_000)
    posterior, policy = infer_pairs(wins), learner.policy(state)
    rng = np.random.default_rng(1)
    value = information_value(posterior, Situation(Nash(), policy, state.tally, 90_000.0, rng))
    assert value.winner_slope[1, 2] > 0.01 * value.winner_slope.max() > 0.0


def test_what_it_promises_comes_true() -> None:
    """Its share of the best, and what more answers add, over many runs. And asking ends."""
    said, kept = [], []
    for seed in range(12):
        instance = random_instance(3, 4, seed=200 + seed)
        best = Nash().maximize(instance.scores).value
        learner, rng = FairVOI(), np.random.default_rng(seed)
        nature, state = Responses(instance, rng), learner.init(3, 4, 4000, seed)
        for stop in (60, 4000):
            while state.tally.rounds < stop:
                play, state = learner.ask(state)
                assert isinstance(play, Mix)
                rounds = min(play.rounds, stop - state.tally.rounds)
                state = learner.tell(state, _answered(play, rounds, nature, rng))
            outlook = learner.outlook(state)
            said.append((outlook.share, outlook.ten_more))
            kept.append((Nash().value(instance.scores @ learner.policy(state)) / best) ** (1 / 3))
    early, late = np.array(said)[::2], np.array(said)[1::2]
    assert abs(early[:, 0].mean() - np.mean(kept[::2])) < 0.06
    assert abs(late[:, 0].mean() - np.mean(kept[1::2])) < 0.02
    assert early[:, 1].mean() > 3.0 * late[:, 1].mean()
    assert (late[:, 1] < 0.01).all()


def _answered(play: Mix, rounds: int, nature: Responses, rng: np.random.Generator) -> Tally:
    arms = len(play.left)
    plays = rng.multinomial(rounds, np.outer(play.left, play.right).ravel()).reshape(arms, arms)
    pairs = np.argwhere((plays > 0) & ~np.eye(arms, dtype=bool))
    won = nature.answers(pairs, plays[tuple(pairs.T)]).T
    wins = np.zeros((len(won), arms, arms))
    wins[:, pairs[:, 0], pairs[:, 1]] += won
    wins[:, pairs[:, 1], pairs[:, 0]] += plays[tuple(pairs.T)] - won
    return Tally(plays, wins)


def test_an_outlook_of_a_clear_case_says_enough() -> None:
    """One user who always prefers the same of two: soon there is nothing more to ask."""
    learner = FairVOI(anytime=True)
    wins = np.zeros((1, 2, 2))
    assert not learner.outlook(_told(learner, wins)).enough
    wins[0, 0, 1] = 20.0
    assert learner.outlook(_told(learner, wins)).enough


def test_what_is_played_for_answers_asks_something() -> None:
    """A lean so small that it is left out must not leave an exploring block without a duel."""
    _Recorded.plays.clear()
    learner = _Recorded(anytime=True)
    simulate(random_instance(1, 5, seed=3), 100_000, learner, seed=1, checkpoints=1)
    explored = [play for play in _Recorded.plays if play.phase == "explore"]
    assert explored
    for play in explored:
        assert play.left @ play.right < 1.0


def test_a_thousand_users_are_not_silently_done() -> None:
    """Their welfare is too small a number for the machine, and so is every gain."""
    for welfare in (Nash(), FrankWolfe(), Nash(weights=(1.0, 2.0) * 500)):
        with pytest.raises(InputError, match="1000 users are too many"):
            FairVOI(welfare=welfare).init(1000, 10, 1000, seed=1)
    with pytest.raises(InputError, match="501 users are too many"):
        FairVOI().init(501, 3, 1000, seed=1)
    FairVOI().init(500, 3, 1000, seed=1)
    for other in (Utilitarian(), Egalitarian()):  # nothing is multiplied
        FairVOI(welfare=other).init(1000, 3, 1000, seed=1)
    _, state = FairVOI().ask(FairVOI().init(300, 4, 1000, seed=1))
    assert state.offer is not None
    assert state.offer.asked is not None


def test_anytime_does_not_look_at_the_horizon() -> None:
    learner = FairVOI(anytime=True)
    wins = 5.0 * random_instance(3, 4, seed=5).preferences
    wins[:, np.arange(4), np.arange(4)] = 0.0
    offers = [learner.ask(_told(learner, wins, horizon))[1].offer for horizon in (1, 30, 10**9)]
    texts = {json.dumps(encode(offer)) for offer in offers}
    assert len(texts) == 1


def test_the_last_round_is_not_for_learning() -> None:
    learner = FairVOI()
    state = learner.init(2, 3, 1, seed=1)
    play, _ = learner.ask(state)
    assert isinstance(play, Mix)
    assert play.phase == "exploit"


@dataclasses.dataclass(frozen=True, eq=False)
class _Drawn(IndependentPairs):
    """A posterior whose sample is given."""

    given: Floats

    def sample(self, rng: np.random.Generator, n: int = 400) -> Floats:
        return self.given


def _drawn(wins: Floats, given: Floats, **changed: Floats) -> _Drawn:
    """Return the posterior of these answers, but for its sample and what is changed."""
    found = infer_pairs(wins)
    arrays = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    return _Drawn(**(arrays | changed), given=given)


@dataclasses.dataclass(frozen=True)
class _Given(FairVOI):
    """One user who surely prefers arm 0 as far as it knows, and a sample where arm 1 may win."""

    ratios: tuple[float, ...] = ()  # of arm 0's score to arm 1's, in a part of the sample

    def posterior(self, tally: Tally) -> Posterior:
        given = np.ones((len(self.ratios) + 24, 1, 2))
        given[: len(self.ratios), 0, 0] = self.ratios
        given[len(self.ratios) :, 0, 1] = 0.1
        return _drawn(tally.wins, given)


def test_the_share_of_the_best_is_that_of_the_sample() -> None:
    learner = _Given(ratios=(0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0, 1.0))
    state = _told(learner, np.array([[[0.0, 1e6], [0.0, 0.0]]]))
    assert learner.policy(state).tolist() == [1.0, 0.0]
    outlook = learner.outlook(state)
    assert outlook.share == pytest.approx((sum(learner.ratios) + 24) / 32)
    assert outlook.low == pytest.approx(0.2)
    assert outlook.high == 1.0


def test_the_interval_of_the_share_leaves_out_one_draw_in_40_at_either_end() -> None:
    given = np.ones((119, 1, 2))
    given[:, 0, 0] = np.arange(1, 120) / 120  # what arm 0 keeps of arm 1's
    posterior = _drawn(np.zeros((1, 2, 2)), given)
    answers, rng = np.zeros(1), np.random.default_rng(1)
    outlook = prospects(posterior, Utilitarian(), np.array([1.0, 0.0]), answers, rng)
    assert (outlook.low, outlook.high) == pytest.approx((3 / 120, 117 / 120))


@pytest.mark.parametrize("answers", [0.0, 5.0])
def test_what_ten_more_answers_add_is_what_choosing_by_them_adds(answers: float) -> None:
    """One user, arm 0 with score 0.6 for sure, arm 1 with 0.1 or 0.9, and arm 0 chosen so far.

    Ten answers on top of n move the expected score of arm 1 by r = sqrt(10 / (10 + n + 1)) of the
    way to the truth, up or down. What is left may make it better or worse than that.
    """
    resolved = math.sqrt(10.0 / (11.0 + answers))
    rest = math.sqrt(1.0 - resolved**2)
    gains = []
    for more in (-0.4, 0.4):
        score = min(0.5 + 0.4 * resolved + more * rest, 1.0)  # in truth, where arm 1 is chosen
        gains.append((score - 0.6) / max(score, 0.6))
    given = np.full((128, 1, 2), 0.6)
    given[:, 0, 1] = np.where(np.arange(128) % 2, 0.9, 0.1)
    posterior = _drawn(np.zeros((1, 2, 2)), given, scores=np.array([[0.6, 0.5]]))
    said = [
        prospects(
            posterior,
            Utilitarian(),
            np.array([1.0, 0.0]),
            np.array([answers]),
            np.random.default_rng(seed),
        ).ten_more
        for seed in range(50)
    ]
    assert np.mean(said) == pytest.approx(0.5 * np.mean(gains), rel=0.05)


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
        posterior = learner.posterior(state.tally)
        found = estimate_utilities(posterior, policy, posterior.sample(rng))
        truth = instance.scores @ policy
        inside += ((found.low <= truth) & (truth <= found.high)).tolist()
        best = Nash().maximize(instance.scores).value
        near.append((outlook.share, (truth.prod() / best) ** (1.0 / 3.0)))
    assert 0.9 <= np.mean(inside) <= 0.99
    promised, kept = np.mean(near, axis=0)
    assert abs(promised - kept) < 0.02


@pytest.mark.parametrize(
    "welfare", [Nash(weights=(1.0, 2.0)), Utilitarian(), Egalitarian(), FrankWolfe()]
)
def test_every_welfare_is_learned(welfare: Any) -> None:
    """The third arm is best for all welfares, and the fourth is nobody's: chance gets 2/3 of it."""
    scores = np.array([[1.0, 0.1, 0.7, 0.05], [0.1, 1.0, 0.7, 0.05]])
    preferences = np.full((2, 4, 4), 0.5)
    for d in range(2):
        preferences[d, 2, 1 - d], preferences[d, 1 - d, 2] = 0.9, 0.1
        preferences[d, :, 3], preferences[d, 3, :] = 0.975, 0.025
        preferences[d, 3, 3] = 0.5
        preferences[d, :, d], preferences[d, d, :] = scores[d] / 2, 1 - scores[d] / 2
    instance = Instance(preferences)
    runs = [
        simulate(instance, 3000, FairVOI(welfare=welfare), seed=seed, checkpoints=1)
        for seed in range(4)
    ]
    best = welfare.maximize(instance.scores).value
    values = [welfare.value(instance.scores @ run.policy) for run in runs]
    assert welfare.value(instance.scores.mean(axis=1)) < 0.7 * best
    assert np.mean(values) >= 0.85 * best


def test_what_is_no_welfare_is_refused() -> None:
    class Mine:
        pass

    with pytest.raises(InputError, match="Mine is not a welfare: derive the class from"):
        FairVOI(welfare=Mine())  # type: ignore[arg-type]
    for wrong in ("nash", Nash):
        with pytest.raises(InputError, match="give a welfare itself"):
            FairVOI(welfare=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weights has 2 entries, but the scores have 3 users"):
        FairVOI(welfare=Nash(weights=(1.0, 2.0))).init(3, 4, 100, seed=1)


def test_known_winners_must_fit() -> None:
    with pytest.raises(InputError, match="winners"):
        FairVOI(winners=(0, 1, 2)).init(2, 3, 100, seed=1)


def test_some_winners_may_be_known() -> None:
    learner = FairVOI(winners=(2, None))
    with pytest.raises(InputError, match="winners"):
        learner.init(3, 3, 100, seed=1)
    state = _told(learner, np.zeros((2, 3, 3)))
    assert learner.posterior(state.tally).probabilities[0].tolist() == [0.0, 0.0, 1.0]
    assert decode(json.loads(json.dumps(encode(learner))), [FairVOI, Nash]) == learner
    # By draws, to about 0.04.
    assert np.allclose(learner.posterior(state.tally).probabilities[1], 1 / 3, atol=0.15)


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
    assert {f.name for f in dataclasses.fields(learner)} == {
        "welfare",
        "winners",
        "anytime",
        "scoring",
        "features",
    }


# How well it does: fixed seeds, and bars that are far from what it reaches


def _mean_share(learner: Any, users: int, arms: int, rounds: int, runs: int) -> float:
    shares = []
    for seed in range(runs):
        run = simulate(
            random_instance(users, arms, seed=500 + seed), rounds, learner, seed=seed, checkpoints=1
        )
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
        simulate(instance, 100_000, learner, seed=1, checkpoints=1).regret[-1]
        for learner in learners
    )
    assert ours < theirs


def test_too_many_pairs_are_refused_before_anything_is_allocated() -> None:
    with pytest.raises(InputError, match="500 users and 100 arms are too many"):
        FairVOI().init(500, 100, 1000, 1)
    FairVOI(welfare=Utilitarian()).init(200, 100, 1000, 1)
