"""Importing this loads all compiled kernels, for processes that will need them soon."""

from fairduel import simulation  # noqa: F401  (and with it all learners)
from fairduel.kernels import (  # noqa: F401
    bradley_terry,
    course,
    frank_wolfe,
    game,
    judging,
    newton,
    posterior,
    power_mean,
    sampling,
    strengths,
    voi,
)
