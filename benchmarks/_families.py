"""What the benchmarks on families of people share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fairduel import BradleyTerryThompson, FairVOI, Learner, Nash, compare
from fairduel._arrays import Floats
from fairduel.environments import Environment
from fairduel.environments.people import families
from fairduel.inference.estimates import champions, guessed_scores
from fairduel.instance import Instance

SEED, TUNING_SEED = 5_000_000, 7_000_000  # of instances to report, and to tune on
STOPS = (20, 40, 160, 640)  # duels after which is looked at what answers say
EXPLORED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)  # parts of the rounds
LEARNERS: dict[str, Learner[Any]] = {
    "Fair-VOI": FairVOI(),
    "Fair-VOI, T unknown": FairVOI(anytime=True),
    "BT-Thompson": BradleyTerryThompson(),
}


def shares(
    place: Environment,
    rounds: int,
    runs: int,
    workers: int | None,
    seed: int = SEED,
    **how: Any,
) -> dict[str, Floats]:
    """Return the share that each learner loses in each run."""
    found = compare(
        LEARNERS, place, rounds, runs=runs, seed=seed, checkpoints=1, workers=workers, **how
    )
    assert not found.failures, found.failures[0]
    ((_, players),) = found.settings.items()
    return {
        label: found.final(cells, "regret") / (rounds * found.final(cells, "best"))
        for label, cells in players.items()
    }


def instances(only: Sequence[str], runs: int) -> Iterator[tuple[str, list[Instance]]]:
    """Yield the families whose name has one of these texts in it, with instances to report."""
    for name, place in families().items():
        if any(text in name for text in only):
            yield name, [place.draw(run, 1, SEED) for run in range(runs)]


def of_chance(place: Environment, rounds: int, runs: int, seed: int = SEED) -> Floats:
    """Return the share that playing at random loses in each run, whoever answers."""
    lost = []
    for run in range(runs):
        scores = place.draw(run, rounds, seed).scores
        value = float(Nash().value(scores.mean(axis=1)))
        lost.append(1.0 - value / Nash().maximize(scores).value)
    return np.array(lost)


def answers(instance: Instance, duels: int, rng: np.random.Generator) -> Floats:
    """Return everybody's answers (D, K, K) to duels of two arms drawn at random."""
    users, arms, _ = instance.preferences.shape
    i, j = np.triu_indices(arms, 1)
    shown = rng.multinomial(duels, np.full(len(i), 1.0 / len(i)))
    wins = np.zeros((users, arms, arms))
    wins[:, i, j] = rng.binomial(shown, instance.preferences[:, i, j])
    wins[:, j, i] = shown - wins[:, i, j]
    return wins


def of_uniform(place: Environment, rounds: int, runs: int, seed: int = SEED) -> Floats:
    """Return the share that random play and then one policy lose, at the best length of all."""
    lengths = sorted({max(1, round(rounds * share)) for share in EXPLORED})
    lost = np.empty((len(lengths), runs))
    for run in range(runs):
        instance = place.draw(run, rounds, seed)
        best = Nash().maximize(instance.scores).value
        chance = float(Nash().value(instance.scores.mean(axis=1)))
        for n, length in enumerate(lengths):
            wins = answers(instance, length, np.random.default_rng([seed, run, length]))
            policy = Nash().maximize(guessed_scores(wins, champions(wins))).policy
            value = float(Nash().value(instance.scores @ policy))
            lost[n, run] = 1.0 - (length * chance + (rounds - length) * value) / (rounds * best)
    return np.asarray(lost[lost.mean(axis=1).argmin()])


def shown(values: Floats) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.3f} ± {error:.3f}"
