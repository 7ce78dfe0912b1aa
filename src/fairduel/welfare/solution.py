"""The result of maximising a welfare: a policy, and how far it can be from the best."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel._tables import Table, as_html


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The best policy for a score matrix, with its certificate.

    policy: (K,) probabilities of the arms. utilities: (D,) expected scores under the policy.
    value: the welfare of these utilities. gap: how much better any policy can be, at most, in the
    scale of the welfare (see ``Welfare.relative``). unserved: the users whose scores are all
    zero, so that no policy gives them anything. label: what the value is called. users, arms:
    their names; empty where they have none.
    """

    policy: Floats
    utilities: Floats
    value: float
    gap: float
    unserved: tuple[int, ...] = ()
    label: str = "welfare"
    users: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()

    def __repr__(self) -> str:
        played = np.count_nonzero(self.policy)
        return (
            f"Solution({self.label} {self.value:.4g}, gap {self.gap:.1g}, "
            f"{played} of {self.policy.size} arms)"
        )

    def _repr_html_(self) -> str:
        """Return the arms that are played as a table, most likely first."""
        order = np.argsort(-self.policy, kind="stable")[: np.count_nonzero(self.policy)]
        names = self.arms or [str(k) for k in range(self.policy.size)]
        rows = [(names[k], f"{self.policy[k]:.4f}") for k in order]
        return (
            f"<p>{html.escape(self.label)} {self.value:.4g}, gap {self.gap:.1g}; "
            f"utilities {self.utilities.min():.4g} to {self.utilities.max():.4g}</p>"
            + as_html(Table(("arm", "probability"), rows, right=(1,)))
        )
