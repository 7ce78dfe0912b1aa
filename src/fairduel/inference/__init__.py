"""What answers say about preferences, and how certain that is."""

from fairduel.inference.independent import IndependentPairs, infer_pairs
from fairduel.inference.mixed import Mixed, infer, mix
from fairduel.inference.posterior import Estimates, Posterior, estimate_utilities
from fairduel.inference.preferences import Preferences, infer_preferences
from fairduel.inference.strengths import Strengths, infer_strengths

__all__ = [
    "Estimates",
    "IndependentPairs",
    "Mixed",
    "Posterior",
    "Preferences",
    "Strengths",
    "estimate_utilities",
    "infer",
    "infer_pairs",
    "infer_preferences",
    "infer_strengths",
    "mix",
]
