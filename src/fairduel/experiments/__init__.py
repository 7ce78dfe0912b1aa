"""Many simulations: cells that are data, on all cores or a cluster, stored as they finish."""

from fairduel.experiments.cells import Cell, Failure
from fairduel.experiments.checkpoints import Checkpoints
from fairduel.experiments.grid import compare
from fairduel.experiments.results import Results
from fairduel.experiments.run import sweep

__all__ = ["Cell", "Checkpoints", "Failure", "Results", "compare", "sweep"]
