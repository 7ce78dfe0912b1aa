"""Scores, weights and starts of every kind that breaks solvers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairduel._arrays import Floats


def with_winners(rng: np.random.Generator, users: int, arms: int) -> Floats:
    """Like the paper's: something below 0.8, and 1 for each user's winner."""
    scores = 0.8 * rng.random((users, arms))
    scores[np.arange(users), rng.integers(0, arms, users)] = 1.0
    return scores


def nasty_scores(rng: np.random.Generator, users: int, arms: int) -> Iterator[tuple[str, Floats]]:
    """Scores of every kind that breaks solvers. No user is left without any."""

    def plain() -> Floats:
        return with_winners(rng, users, arms)

    def noise() -> Floats:
        return rng.standard_normal((users, arms))

    def some_arms() -> Floats:
        return plain()[:, rng.integers(0, arms, arms)]

    def some_users() -> Floats:
        return plain()[rng.integers(0, users, users)]

    winners = plain() == 1.0
    yield "random", plain()
    yield "zeros", np.where(rng.random((users, arms)) < 0.7, winners, plain())
    yield "own arms only", 1.0 * winners
    yield "ties", np.maximum(winners, rng.integers(0, 3, (users, arms)) / 2.0)
    yield "equal arms", some_arms()
    yield "equal users", some_users()
    for size in (1e-5, 1e-7, 1e-9, 1e-12, 1e-15):
        yield f"arms equal to {size:g}", some_arms() * (1.0 + size * noise())
        yield f"users equal to {size:g}", some_users() * (1.0 + size * noise())
        yield f"all equal to {size:g}", 0.5 * (1.0 + size * noise())
    yield "tiny", 1e-12 * plain()
    yield "tiny for some users", plain() * 10.0 ** rng.uniform(-14.0, 0.0, (users, 1))
    yield "of many sizes", 10.0 ** rng.uniform(-12.0, 0.0, (users, arms))
    yield "denormal", 1e-310 * plain()
    yield "huge", 1e300 * plain()
    yield "estimates above 1", 2.0 * rng.binomial(5, 0.6, (users, arms)) / 5.0 + winners
    yield "of rank 1", rng.random((users, 1)) * rng.random((1, arms))
    yield "of rank 2", rng.random((users, 2)) @ rng.random((2, arms))
    mixtures = plain() @ rng.dirichlet(np.ones(arms), arms).T
    yield "arms that mix others", np.where(rng.random(arms) < 0.5, mixtures, mixtures[:, :1])
    places = np.linspace(0.0, 1.0, arms) - np.sort(rng.random(users))[:, None]
    yield "smooth", np.exp(-((places / 0.1) ** 2))
    yield "very smooth", np.exp(-(places**2))
    yield "ranks", rng.permuted(np.tile(np.arange(1.0, arms + 1), (users, 1)), axis=1) / arms


def nasty_weights(rng: np.random.Generator, users: int) -> Iterator[tuple[float, ...] | None]:
    yield None
    yield tuple((10.0 ** rng.uniform(-8.0, 0.0, users)).tolist())


def nasty_starts(rng: np.random.Generator, arms: int) -> Iterator[Floats | None]:
    yield None
    yield np.eye(arms)[rng.integers(0, arms)]
    yield rng.dirichlet(np.ones(arms))
    tiny = 10.0 ** rng.uniform(-300.0, 0.0, arms)
    yield tiny / tiny.sum()
