"""Importing this loads all compiled kernels, for processes that will need them soon."""

from fairduel import simulate  # noqa: F401  (and with it all learners)
from fairduel.compiled import load

KERNELS = (
    "fairduel._judge",
    "fairduel._posterior",
    "fairduel._walk",
    "fairduel.learners._script",
    "fairduel.learners._voi",
    "fairduel.welfare._frank_wolfe",
    "fairduel.welfare._newton",
)

for module in KERNELS:
    load(module)
