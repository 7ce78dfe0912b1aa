"""Many runs: cells that are data, on all cores or a cluster, kept as they finish."""

from fairduel.experiments.cells import Cell, Failure
from fairduel.experiments.results import Results
from fairduel.experiments.run import sweep

__all__ = ["Cell", "Failure", "Results", "sweep"]
