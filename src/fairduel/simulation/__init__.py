"""Learners against instances: exact in law, and many rounds at a time."""

from fairduel.simulation.run import simulate
from fairduel.simulation.trajectory import (
    Trajectory,
    linear_checkpoints,
    logarithmic_checkpoints,
)

__all__ = ["Trajectory", "linear_checkpoints", "logarithmic_checkpoints", "simulate"]
