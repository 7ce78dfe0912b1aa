"""The posterior under scorings that need no winner: preferences are drawn, and then scored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel.inference.independent import JEFFREYS
from fairduel.inference.posterior import DRAWS, Posterior, evenly_spaced, in_proportion
from fairduel.inference.strengths import HYPOTHESES, weigh_strengths
from fairduel.scorings import SCORINGS

KEPT = 256  # draws that are kept ...
FEW = 32  # ... or with very many users and arms fewer, but at least these
MOST = 500_000  # probabilities that are kept
AT_ONCE = 8  # draws at least, where not all are drawn at once, to save memory


@dataclass(frozen=True, eq=False)
class Preferences(Posterior):
    """The posterior of users who need not have a winner, as draws of their preferences.

    People have strengths or independent pairs, by even odds beforehand; the draws are of either in
    proportion to the evidence. The winner of a user is the arm with the best score.

    scoring: by which preferences are scored. wins: (D, K, K) the answers. weights: (1 + H,) of
    independent pairs, and of spreads and deviations of strengths. chances: (n, D, P) drawn
    probabilities of the pairs i < j, row by row. drawn: (n, D, K) their scores.
    """

    scoring: str
    wins: Floats
    weights: Floats
    chances: Floats
    drawn: Floats

    def sample(self, rng: np.random.Generator, n: int = DRAWS) -> Floats:
        """Draw scores (n, D, K): those kept, evenly spaced, or new ones if these are too few."""
        if n <= len(self.drawn):
            return evenly_spaced(self.drawn, n, rng)
        drawn = _draws(self.wins, self.weights, n, rng)
        return np.concatenate([_score(some, self.scoring, self.wins.shape[1]) for some in drawn])

    def without_winner(self) -> tuple[int, ...]:
        """Return nobody under scorings by which every user has a favourite."""
        return super().without_winner() if self.scoring == "maximin" else ()


def infer_preferences(
    wins: Floats, scoring: str, seed: int = 0, draws: int | None = None
) -> Preferences:
    """Return the posterior given ``wins`` (D, K, K), with draws that depend on the seed.

    draws: how many to keep; default: some hundred, or fewer where users or arms are very many.
    """
    users, arms, _ = wins.shape
    weights = _weigh(wins)
    pairs = max(1, arms * (arms - 1) // 2)
    n = int(np.clip(MOST // (users * pairs), FEW, KEPT)) if draws is None else draws
    chances = _draw(wins, weights, n, np.random.default_rng(seed))
    drawn = _score(chances, scoring, arms)
    beaten = _tensors((chances > 0.5).mean(axis=0), arms)  # at [d, w, k] that w beats k
    return Preferences(
        probabilities=(drawn.argmax(axis=2)[:, :, None] == np.arange(arms)).mean(axis=0),
        log_beats=np.log(np.maximum(beaten.transpose(0, 2, 1), 1e-300)),
        scores=drawn.mean(axis=0),
        scoring=scoring,
        wins=wins,
        weights=weights,
        chances=chances,
        drawn=drawn,
    )


def _weigh(wins: Floats) -> Floats:
    """Return the probabilities of independent pairs and of all kinds of strengths, (1 + H,).

    Beforehand strengths, whose kinds have ``PRIOR``, are as likely as independent pairs: who scores
    without a winner does not take it that people have strengths.
    """
    from scipy.special import betaln

    i, j = np.triu_indices(wins.shape[1], 1)
    beta = betaln(wins[:, i, j] + JEFFREYS, wins[:, j, i] + JEFFREYS) - betaln(JEFFREYS, JEFFREYS)
    kinds, evidence = weigh_strengths(wins)
    odds = np.exp(np.clip(float(beta.sum()) - evidence, -700.0, 700.0))
    independent = float(odds / (1.0 + odds))
    return np.append(independent, (1.0 - independent) * kinds)


def _draw(wins: Floats, weights: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Draw probabilities (n, D, P) of the pairs i < j, of each kind about in proportion."""
    users, arms, _ = wins.shape
    chances, filled = np.empty((n, users, arms * (arms - 1) // 2)), 0
    for some in _draws(wins, weights, n, rng):
        chances[filled : filled + len(some)] = some
        filled += len(some)
    return chances


def _draws(wins: Floats, weights: Floats, n: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw the same, some at a time where there are very many users and arms.

    However many that are, the variates are drawn in the same order. What is yielded has to be used
    before the next: it may be written over.
    """
    from fairduel.kernels import strengths

    users, arms, _ = wins.shape
    i, j = np.triu_indices(arms, 1)
    counts = in_proportion(weights, n, rng)
    won, lost = wins[:, i, j] + JEFFREYS, wins[:, j, i] + JEFFREYS
    most = max(AT_ONCE, MOST // max(won.size, 1))
    for start in range(0, int(counts[0]), most):
        yield rng.beta(won, lost, (min(most, int(counts[0]) - start), *won.shape))
    room = np.empty((min(most, int(counts[1:].max())), *won.shape))
    for hypothesis, count in zip(HYPOTHESES, counts[1:].tolist(), strict=True):
        normals = rng.standard_normal((count, users + 1, arms))
        for start in range(0, count, most):
            some = normals[start : start + most]
            deviations = rng.standard_normal(out=room[: len(some)])
            yield strengths.draw_chances(wins, hypothesis, some, deviations)


def _score(chances: Floats, scoring: str, arms: int) -> Floats:
    """Return the scores (n, D, K) of drawn preferences; users one by one, to save memory."""
    score = SCORINGS[scoring].score
    users = [score(_tensors(chances[:, d], arms)) for d in range(chances.shape[1])]
    return np.stack(users, axis=1)


def _tensors(chances: Floats, arms: int) -> Floats:
    """Return matrices (n, K, K) with these probabilities (n, P) of the pairs i < j."""
    i, j = np.triu_indices(arms, 1)
    found = np.full((len(chances), arms, arms), 0.5)
    found[:, i, j], found[:, j, i] = chances, 1.0 - chances
    return found
