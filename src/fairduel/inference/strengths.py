"""People who give every arm a strength: Bradley-Terry, with deviations of single pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.inference.independent import known_winners
from fairduel.inference.posterior import (
    DRAWS,
    Posterior,
    by_evidence,
    evenly_spaced,
    in_proportion,
    stratified,
)

# With their probabilities beforehand. A few answers hardly say how strong tastes are and whether
# people agree. Who takes weak tastes or agreement for likely then plays one arm where many are
# needed, and where people do agree some ten duels show it anyhow.
SPREADS = {0.5: 0.03, 1.0: 0.2, 2.0: 0.5, 4.0: 0.27}  # of strengths, in log-odds
RESIDUALS = {0.0: 0.5, 0.5: 0.5}  # by which single pairs deviate, in log-odds
CORRELATIONS = {0.0: 0.94, 0.4: 0.05, 0.8: 0.01}  # of what users think of an arm
HOPELESS = 200.0  # nats behind another model: nothing of this one is left
KEPT = 128  # draws that are kept by default: half of them are mirror images
TOGETHER = 200_000  # numbers in a table: larger ones are summed up as they come, to save memory

_KINDS = CORRELATIONS, RESIDUALS, SPREADS
HYPOTHESES = np.array([x[::-1] for x in itertools.product(*_KINDS)])
PRIOR = np.array([math.prod(x) for x in itertools.product(*(kind.values() for kind in _KINDS))])
_LOOSEST = [6]  # the largest deviations, a spread of 2, and nothing in common
_APART = len(SPREADS) * len(RESIDUALS)  # hypotheses with nothing in common; they come first
_WORTH_WEIGHING = 7.0  # nats behind the likeliest hypothesis: others are not weighed


@dataclass(frozen=True, eq=False)
class Strengths(Posterior):
    """The posterior of users with strengths, as draws from it.

    Spread, size of deviations and how much users have in common are not known, but the same for
    all of them; the posterior is a mixture over a few of each, weighted by evidence. Given these,
    it is normal by Laplace's method. The conditions that all users have a winner, and that a known
    winner wins, are met draw by draw.

    wins: (D, K, K) the answers. known: (D,) winners as far as they are known, else -1.
    weights: (H,) of the hypotheses. strengths, shifts: (n, D, K) drawn, and their deviations from
    the mode. drawn: (n, D, K) their scores. log_evidence: of the answers, in all.
    """

    wins: Floats
    known: Ints
    weights: Floats
    strengths: Floats
    shifts: Floats
    drawn: Floats
    log_evidence: float

    def sample(self, rng: np.random.Generator, n: int = DRAWS) -> Floats:
        """Draw scores (n, D, K): those kept, evenly spaced, or new ones if these are too few."""
        if n <= len(self.drawn):
            return evenly_spaced(self.drawn, n, rng)
        parts = _parts(self.wins, self.known, self.weights, n, rng)
        return np.concatenate([scores for _, (_, _, scores, _, _) in parts])[:n]


def weigh_strengths(wins: Floats, rival: float = -np.inf) -> tuple[Floats, float]:
    """Return the weights (H,) of all hypotheses, and the log evidence.

    rival: the log evidence of a model whose pairs are free. Where the hypothesis that is nearest to
    it, with deviations, is far behind, so are the others, and only this one is weighed.
    """
    from fairduel.kernels import strengths

    wins = _compared(wins)
    if rival > -np.inf:
        nearest = float(strengths.evidence(wins, *HYPOTHESES[_LOOSEST].T.copy())[0])
        if nearest < rival - HOPELESS:
            return np.eye(len(HYPOTHESES))[_LOOSEST[0]], nearest
    apart = strengths.evidence(wins, *HYPOTHESES[:_APART].T.copy())
    if len(wins) == 1:  # what is common to one user makes no difference
        return by_evidence(np.tile(apart, len(CORRELATIONS)), PRIOR)
    # What is common is tried with the best of these, with other likely ones if it may be, and with
    # all if it is: then spreads are other ones.
    evidence = np.full(len(HYPOTHESES), -np.inf)
    evidence[:_APART] = apart
    best = np.arange(len(HYPOTHESES)) % _APART == apart.argmax()
    best[:_APART] = False
    evidence[best] = strengths.evidence(wins, *HYPOTHESES[best].T.copy())
    after = evidence + np.log(PRIOR)
    ahead = after[best].max() - after[:_APART].max()
    if ahead > -_WORTH_WEIGHING:
        likely = np.tile((apart > apart.max() - _WORTH_WEIGHING) | (ahead > 0.0), len(CORRELATIONS))
        rest = likely & (evidence == -np.inf)
        evidence[rest] = strengths.evidence(wins, *HYPOTHESES[rest].T.copy())
    return by_evidence(evidence, PRIOR)


def _compared(wins: Floats) -> Floats:
    """Return the answers about those arms that were compared: of others they say nothing."""
    some = wins.any(axis=(0, 1)) | wins.any(axis=(0, 2))
    return np.ascontiguousarray(wins[:, some][:, :, some])


def infer_strengths(
    wins: Floats,
    winners: Sequence[int | None] | None = None,
    seed: int = 0,
    weighed: tuple[Floats, float] | None = None,
    draws: int = KEPT,
) -> Strengths:
    """Return the posterior given ``wins`` (D, K, K), with draws that depend on the seed.

    weighed: what ``weigh_strengths`` says of these answers, if it is known already. draws: how
    many to keep.
    """
    known = known_winners(winners, len(wins))
    weights, total = weigh_strengths(wins) if weighed is None else weighed
    found = _draw(wins, known, weights, draws, np.random.default_rng(seed))
    arms = wins.shape[1]
    return Strengths(
        probabilities=(found.winners[:, :, None] == np.arange(arms)).mean(axis=0),
        log_beats=np.log(np.maximum(found.beats, 1e-300)),
        scores=found.scores.mean(axis=0),
        wins=wins,
        known=known,
        weights=weights,
        strengths=found.strengths,
        shifts=found.shifts,
        drawn=found.scores,
        log_evidence=total,
    )


@dataclass(frozen=True, eq=False)
class _Drawn:
    strengths: Floats
    shifts: Floats
    scores: Floats
    winners: Ints
    beats: Floats


def _draw(wins: Floats, known: Ints, weights: Floats, n: int, rng: np.random.Generator) -> _Drawn:
    """Draw about n (an even number) from the mixture, each with its mirror image."""
    drawn, shares, beats = [], [], []
    for share, part in _parts(wins, known, weights, n, rng):
        drawn.append(part[:4])
        shares.append(share)
        beats.append(part[4])
        if wins.size > TOGETHER:
            beats, shares = [np.tensordot(shares, np.array(beats), 1)], [1.0]
    thetas, shifts, scores, winners = zip(*drawn, strict=True)
    return _Drawn(
        np.concatenate(thetas),
        np.concatenate(shifts),
        np.concatenate(scores),
        np.concatenate(winners),
        np.asarray(np.tensordot(shares, np.array(beats), 1)),
    )


def _parts(
    wins: Floats, known: Ints, weights: Floats, n: int, rng: np.random.Generator
) -> Iterator[tuple[float, tuple[Floats, Floats, Floats, Ints, Floats]]]:
    """Draw of each likely hypothesis: yield its share of the draws, and what the kernel returns."""
    half = (n + 1) // 2
    counts = in_proportion(weights, half, rng)
    for hypothesis, count in zip(HYPOTHESES, counts.tolist(), strict=True):
        if count > 0:
            yield count / half, _pairs_of_draws(wins, known, hypothesis, count, rng)


def _pairs_of_draws(
    wins: Floats, known: Ints, hypothesis: Floats, count: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Ints, Floats]:
    from fairduel.kernels import strengths

    users, arms, _ = wins.shape
    normals = _with_mirror(rng.standard_normal((count, users + 1, arms)), 0.0)
    spins = _with_mirror(stratified(count, users, rng), 1.0)
    uniforms = _with_mirror(rng.random((count, users, arms)), 1.0)
    found: tuple[Floats, Floats, Floats, Ints, Floats] = strengths.draw(
        wins, known, hypothesis, normals, spins, uniforms
    )
    return found


def _with_mirror(half: Floats, middle: float) -> Floats:
    return np.concatenate([half, middle - half])
