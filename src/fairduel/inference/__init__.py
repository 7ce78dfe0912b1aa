"""What answers say about preferences, and how certain that is."""

from fairduel.inference.independent import infer
from fairduel.inference.posterior import Estimates, Posterior, estimate_utilities

__all__ = ["Estimates", "Posterior", "estimate_utilities", "infer"]
