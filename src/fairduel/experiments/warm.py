"""Importing this loads all compiled kernels, and what else runs need, for processes that will soon.

So a run does not wait for any of it while it is timed.
"""

import scipy.special  # noqa: F401

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
