"""What a welfare promises: an exact maximiser over the simplex, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fairduel._arrays import Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """The best policy for a score matrix, and the proof of how good it is.

    policy: (K,) probabilities of the arms; utilities: (D,) expected scores under it;
    value: the welfare that it attains; gap: no policy attains more than the welfare's own scale
    allows beyond this one by ``gap`` (see each welfare); unserved: users whose scores are all
    zero, so that no policy can give them anything.
    """

    policy: Floats
    utilities: Floats
    value: float
    gap: float
    unserved: tuple[int, ...] = ()


class Welfare(Protocol):
    """An objective over the users' utilities u = S pi, maximised over policies pi."""

    def maximize(self, scores: Floats, start: Floats | None = None) -> Solution:
        """The best policy for ``scores`` (D, K); ``start`` is a policy to begin from."""
        ...

    def value(self, utilities: Floats) -> Floats:
        """The welfare of utilities, over the last axis."""
        ...

    def follow(self, scores: Floats, start: Floats | None = None) -> Floats:
        """The best policy for each of ``scores`` (B, D, K), each begun from the one before."""
        ...
