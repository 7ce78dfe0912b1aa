"""Many runs: cells that are data, on all cores or a cluster, kept as they finish."""

from fairduel.sweep.cells import Cell, Failure
from fairduel.sweep.results import Results
from fairduel.sweep.run import sweep

__all__ = ["Cell", "Failure", "Results", "sweep"]
