"""Welfares: what a policy is worth to all users together, and the policy that is worth most."""

from fairduel.welfare.egalitarian import Egalitarian
from fairduel.welfare.frank_wolfe import FrankWolfe
from fairduel.welfare.gini import GeneralizedGini
from fairduel.welfare.nash import Nash
from fairduel.welfare.power_mean import PowerMean
from fairduel.welfare.solution import Solution
from fairduel.welfare.utilitarian import Utilitarian
from fairduel.welfare.welfare import Welfare

__all__ = [
    "Egalitarian",
    "FrankWolfe",
    "GeneralizedGini",
    "Nash",
    "PowerMean",
    "Solution",
    "Utilitarian",
    "Welfare",
]
