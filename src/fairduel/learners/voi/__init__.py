"""Fair-VOI: ask what is worth asking. See docs/fair-voi.md."""

from fairduel.learners.voi.learner import FairVOI

__all__ = ["FairVOI"]
