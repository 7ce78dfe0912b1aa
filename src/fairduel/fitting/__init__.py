"""From votes or orders in a file to a fair choice: what is known, whom it serves, what to ask."""

from fairduel.fitting.majority import Majority
from fairduel.fitting.result import Fit
from fairduel.fitting.run import fit

__all__ = ["Fit", "Majority", "fit"]
