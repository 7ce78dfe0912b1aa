"""What both suites of laws check with."""

from __future__ import annotations

import numpy as np

from fairduel._arrays import Floats


def check(holds: bool, otherwise: str) -> None:
    """Raise AssertionError with the sentence ``otherwise`` unless the law holds."""
    if not holds:
        raise AssertionError(otherwise)


def check_policy(policy: Floats, arms: int) -> None:
    """Check that a policy has a probability for each arm."""
    check(np.shape(policy) == (arms,), f"a policy for {arms} arms has shape {np.shape(policy)}.")
    fine = np.isfinite(policy).all() and np.all(policy >= 0.0) and abs(policy.sum() - 1.0) <= 1e-9
    check(bool(fine), f"{policy} is not a distribution over the arms.")
