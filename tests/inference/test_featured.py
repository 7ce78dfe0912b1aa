"""Arms with features: what is linear is learned, and what is not does little harm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairduel import FairVOI, InputError, Instance, Session, simulate
from fairduel._arrays import Floats
from fairduel.inference import infer_strengths
from fairduel.inference.featured import OWN, SPREADS, between_arms, infer_featured

ROWS = np.random.default_rng(4).standard_normal((12, 2))


def people(own: float, users: int = 3, seed: int = 1) -> Floats:
    """Strengths that are linear in the features but for a part of each arm's own."""
    rng = np.random.default_rng(seed)
    linear = rng.standard_normal((users, 2)) @ ROWS.T
    alone = rng.standard_normal((users, len(ROWS)))
    return np.asarray(1.5 * (np.sqrt(1.0 - own) * linear + np.sqrt(own) * alone))


def preferences(theta: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None])))


def votes(theta: Floats, each: int, seed: int, of: int | None = None) -> Floats:
    """A few answers of each user, about pairs of the first ``of`` arms."""
    rng, chances = np.random.default_rng(seed), preferences(theta)
    wins = np.zeros_like(chances)
    for d in range(len(theta)):
        for _ in range(each):
            i, j = rng.choice(of or theta.shape[1], 2, replace=False)
            first = rng.random() < chances[d, i, j]
            wins[d, i, j] += first
            wins[d, j, i] += not first
    return wins


def test_a_covariance_has_features_and_a_part_of_its_own() -> None:
    assert np.array_equal(between_arms(ROWS, 1.0), np.eye(len(ROWS)))
    shared = between_arms(5.0 * ROWS + 3.0, 0.0)  # whatever units they have
    np.testing.assert_allclose(shared, between_arms(ROWS, 0.0), atol=1e-12)
    assert np.diag(shared).mean() == pytest.approx(1.0)
    assert np.linalg.matrix_rank(shared) == 2


def test_features_tell_of_arms_that_nobody_was_asked_about() -> None:
    theta = people(own=0.0)
    found = infer_featured(votes(theta, 120, seed=2, of=6), ROWS)
    rest = found.strengths.mean(axis=0)[:, 6:]
    assert np.mean([np.corrcoef(rest[d], theta[d, 6:])[0, 1] for d in range(3)]) > 0.7


def test_the_evidence_says_what_features_are_good_for() -> None:
    """With many answers: linear strengths are found out, and so are those that are not."""
    linear = infer_featured(votes(people(0.0), 300, seed=3), ROWS).weights
    useless = infer_featured(votes(people(1.0), 300, seed=3), ROWS).weights
    kinds = len(SPREADS)
    assert linear[-kinds:].sum() > 0.9  # the least of their own
    assert useless[:kinds].sum() > 0.5  # nothing but their own
    assert OWN[0] == 1.0


def test_where_features_say_nothing_it_is_the_plain_model() -> None:
    wins = votes(people(1.0), 400, seed=5)
    found, plain = infer_featured(wins, ROWS), infer_strengths(wins)
    np.testing.assert_allclose(found.scores, plain.scores, atol=0.08)


def test_a_known_winner_wins() -> None:
    found = infer_featured(np.zeros((2, 12, 12)), ROWS, (3, None))
    assert found.probabilities[0, 3] == 1.0


def test_fair_voi_learns_more_by_features() -> None:
    instance = Instance(preferences(people(own=0.0)))
    table = tuple(map(tuple, ROWS.tolist()))
    with_, without = (
        np.mean(
            [simulate(instance, 120, learner, seed=s, checkpoints=1).regret[-1] for s in (1, 2)]
        )
        for learner in (FairVOI(features=table), FairVOI())
    )
    assert with_ < without


def test_a_session_takes_and_keeps_features(tmp_path: Path) -> None:
    arms = [f"dish {k}" for k in range(12)]
    session = Session(["ann", "bob"], arms, seed=1, features=ROWS)
    duel = session.ask()
    session.tell(duel, {"ann": duel.left})
    session.save(tmp_path / "s.json")
    again = Session.load(tmp_path / "s.json")
    assert again.learner == session.learner
    assert again.recommend() == session.recommend()
    with pytest.raises(InputError, match=r"'another dish' has no features.* Session.from_votes"):
        session.add_arm("another dish")
    assert session.arms == tuple(arms)


def test_arms_with_features_go_and_come_back() -> None:
    """Who is left keeps the features of their own."""
    arms = [f"dish {k}" for k in range(12)]
    session = Session(["ann", "bob"], arms, seed=1, features=ROWS)
    session.vote("ann", "dish 5", "dish 6", "dish 5")
    before = session.recommend()
    session.remove_arm("dish 2")
    left = [k for k in range(12) if k != 2]
    wins = np.zeros((2, 11, 11))
    wins[0, 4, 5] = 1.0
    other = Session.from_votes(
        ["ann", "bob"], [arms[k] for k in left], wins, seed=1, features=[ROWS[k] for k in left]
    )
    assert session.recommend() == other.recommend()
    session.add_arm("dish 2")
    assert session.recommend() == before


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ("abc", "no table of numbers"),
        (((1.0, 2.0), (3.0,)), "no table of numbers"),
        (((1.0,), (float("nan"),)), "no table of numbers"),
        ((), "no table of numbers"),
    ],
)
def test_features_that_are_none_are_refused(features: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        FairVOI(features=features)  # type: ignore[arg-type]


def test_features_go_with_the_papers_scoring_and_one_place() -> None:
    with pytest.raises(InputError, match="the scoring condorcet"):
        FairVOI(features=((1.0,), (2.0,)), scoring="borda")
    with pytest.raises(InputError, match="give the learner its features"):
        Session(["ann"], ["a", "b"], learner=FairVOI(), features=((1.0,), (2.0,)))
