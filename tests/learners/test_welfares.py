"""Every learner, session and simulation takes every welfare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairduel import Session, random_instance, simulate, solve
from fairduel.learners import FairEpsilonGreedy, FairETC, FairVOI
from fairduel.tally import Tally
from fairduel.welfare import Egalitarian, GeneralizedGini, Nash, PowerMean, Welfare

WELFARES = [
    Egalitarian(),
    PowerMean(0.5),
    PowerMean(-1.0),
    PowerMean(-20.0, (1.0, 2.0, 1.0)),
    GeneralizedGini(),
    GeneralizedGini((3.0, 2.0, 1.0)),
    GeneralizedGini((1.0, 0.0, 0.0, 0.0), sizes=(3.0, 1.0, 2.0)),
]


@pytest.mark.parametrize("welfare", WELFARES, ids=str)
@pytest.mark.parametrize(
    ("learner", "rounds"), [(FairVOI, 2000), (FairETC, 20_000), (FairEpsilonGreedy, 20_000)]
)
def test_learners_come_near_the_best_of_it(learner: Any, rounds: int, welfare: Welfare) -> None:
    instance = random_instance(3, 4, seed=2)
    known = learner(welfare=welfare, winners=tuple(instance.winners.tolist()))
    runs = [
        simulate(instance, rounds, known, seed=seed, checkpoints=4, welfare=welfare)
        for seed in (1, 2, 3, 4, 5, 6, 1)
    ]
    best, scores = welfare.maximize(instance.scores).value, instance.scores
    assert runs[0].best == best
    assert min(run.regret[-1] for run in runs) >= -1e-6 * rounds
    uniform = float(welfare.value(scores.mean(axis=1)))
    found = np.mean([welfare.value(scores @ run.policy) for run in runs[:6]])
    assert found > uniform + 0.8 * (best - uniform)
    assert runs[6].earned.tolist() == runs[0].earned.tolist()


@pytest.mark.parametrize("welfare", WELFARES, ids=str)
def test_sessions_keep_it_in_their_files(welfare: Welfare, tmp_path: Path) -> None:
    learner = FairVOI(welfare=welfare)
    session = Session(["ann", "bob", "cat"], ["x", "y", "z"], 300, learner=learner, seed=3)
    for _ in range(8):
        duel = session.ask()
        session.tell(duel, {"ann": duel.left, "bob": duel.right, "cat": duel.left})
    session.save(tmp_path / "session.json")
    loaded = Session.load(tmp_path / "session.json")
    assert loaded.learner == learner
    assert loaded.recommend().policy == session.recommend().policy
    assert [loaded.ask() for _ in range(3)] == [session.ask() for _ in range(3)]


@pytest.mark.parametrize("welfare", WELFARES, ids=str)
def test_solve_takes_it(welfare: Welfare) -> None:
    scores = random_instance(3, 4, seed=2).scores
    assert solve(scores, welfare).gap <= 1e-9


def test_egalitarian_learners_draw_as_much_as_the_others(monkeypatch: Any) -> None:
    """A welfare that is slow to maximise would be given fewer draws."""
    drawn: dict[str, int] = {}
    for welfare in (Nash(), Egalitarian(), PowerMean(), GeneralizedGini()):
        assert not welfare.slow
        follow = type(welfare).follow

        def counted(self: Any, scores: Any, start: Any = None, follow: Any = follow) -> Any:
            drawn[self.name] = max(drawn.get(self.name, 0), len(scores))
            return follow(self, scores, start)

        monkeypatch.setattr(type(welfare), "follow", counted)
        learner = FairVOI(welfare=welfare)
        tally = Tally(np.ones((3, 3), np.int64), np.ones((3, 3, 3)))
        learner.ask(learner.tell(learner.init(3, 3, 1000, seed=1), tally))
    assert len(set(drawn.values())) == 1, drawn
