"""Names that the shell completes. File names are its own business."""

from __future__ import annotations

from collections.abc import Iterable


def learners(incomplete: str) -> list[str]:
    """Return the learners that begin so."""
    from fairduel.learners import catalogue

    return _beginning(catalogue.NAMES, incomplete)


def presets(incomplete: str) -> list[str]:
    """Return the presets that begin so."""
    from fairduel.learners import catalogue

    return _beginning(catalogue.PRESETS, incomplete)


def environments(incomplete: str) -> list[str]:
    """Return the environments that begin so."""
    from fairduel.cli.specs import ENVIRONMENTS

    return _beginning(ENVIRONMENTS, incomplete)


def welfares(incomplete: str) -> list[str]:
    """Return the welfares that begin so."""
    from fairduel.welfare.registry import by_name

    return _beginning(by_name(), incomplete)


def scorings(incomplete: str) -> list[str]:
    """Return the scorings that begin so."""
    from fairduel.scorings import SCORINGS

    return _beginning(SCORINGS, incomplete)


def experiments(incomplete: str) -> list[str]:
    """Return the experiments of the paper that begin so."""
    from fairduel.paper.reproduction import ALL, NAMES

    return _beginning((*NAMES, ALL), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
