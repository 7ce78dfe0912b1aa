"""From votes or orders in a file to a fair choice: what is known, whom it serves, what to ask."""

from fairduel.fitting.run import fit
from fairduel.fitting.majority import Majority
from fairduel.fitting.result import Fit

__all__ = ["Fit", "Majority", "fit"]
