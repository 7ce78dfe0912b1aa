"""The default posterior: people with strengths, or independent pairs, whichever the answers say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel.inference.independent import IndependentPairs, infer_pairs
from fairduel.inference.posterior import DRAWS, Posterior, blank_or_not, by_evidence
from fairduel.inference.preferences import infer_preferences
from fairduel.inference.strengths import KEPT, Strengths, infer_strengths, weigh_strengths

ODDS = 30.0  # beforehand, that people have strengths rather than independent pairs
# A model less likely than this is left out. Over 200,000 rounds one in a thousand still counts: who
# leaves that out may be sure too early of something, and then never learn better.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Mixed(Posterior):
    """A mixture of posteriors.

    parts: each with its probability.
    """

    parts: tuple[tuple[float, Posterior], ...]

    def sample(self, rng: np.random.Generator, n: int = DRAWS) -> Floats:
        """Draw scores (n, D, K), of each part about in proportion to its probability."""
        edges = np.cumsum([weight for weight, _ in self.parts]) * n + rng.random()
        counts = np.diff(np.minimum(edges.astype(np.int64), n), prepend=0)
        counts[0] += n - counts.sum()
        drawn = [
            part.sample(rng, count)
            for (_, part), count in zip(self.parts, counts.tolist(), strict=True)
            if count
        ]
        return np.concatenate(drawn)


def infer(
    wins: Floats,
    winners: Sequence[int | None] | None = None,
    scoring: str = "condorcet",
    draws: int | None = None,
) -> Posterior:
    """Return the posterior given ``wins`` (D, K, K); ``winners`` are those that are known.

    By the paper's scoring all users have a winner; under others nothing of that kind is assumed.
    Beforehand people have strengths rather than independent pairs, all of them alike, by odds of
    ``ODDS``, but by even odds under other scorings; the evidence decides. The same answers always
    give the same posterior, its draws among them. draws: how many to keep of a posterior without a
    closed form, whose means are over them; default: as many as a learner needs.
    """
    seed = round(2.0 * float(wins.sum()))
    if scoring != "condorcet":
        return blank_or_not(infer_preferences(wins, scoring, seed, draws), wins)
    pairs = infer_pairs(wins, winners)
    weighed = weigh_strengths(wins, pairs.log_evidence)
    if pairs.log_evidence - weighed[1] - math.log(ODDS) > -math.log(NEGLIGIBLE):
        return pairs
    strengths = infer_strengths(wins, winners, seed, weighed, draws or KEPT)
    return blank_or_not(weigh(strengths, pairs), wins, winners)


def weigh(strengths: Strengths, pairs: IndependentPairs) -> Posterior:
    """Mix the posteriors of the two models by their evidence; what is negligible is left out."""
    evidence = np.array([strengths.log_evidence, pairs.log_evidence])
    (first, second), _ = by_evidence(evidence, np.array([ODDS, 1.0]) / (ODDS + 1.0))
    models = ((float(first), strengths), (float(second), pairs))
    likely = [model for model in models if model[0] > NEGLIGIBLE]
    return likely[0][1] if len(likely) == 1 else mix(likely)


def mix(parts: Sequence[tuple[float, Posterior]]) -> Mixed:
    """Mix posteriors, each with its probability."""
    beats = sum(weight * np.exp(part.log_beats) for weight, part in parts)
    return Mixed(
        probabilities=np.asarray(sum(weight * part.probabilities for weight, part in parts)),
        log_beats=np.log(np.maximum(beats, 1e-300)),
        scores=np.asarray(sum(weight * part.scores for weight, part in parts)),
        parts=tuple(parts),
    )
