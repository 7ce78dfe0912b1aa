"""People divided into groups of two or more who are alike, whatever the order of the rows."""

from __future__ import annotations

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.data.cluster import by_size
from fairduel.data.rankings import totals
from fairduel.errors import InputError

FEWEST = 2  # people in a group
ROUNDS = 50  # of moving people to the nearest mean


def divided(tastes: Floats, people: Floats, groups: int) -> Ints:
    """Return a group for each row of ``tastes``, from 0 up, the largest group first.

    ``people[n]`` people have the taste of row n. The sum of squares within the groups is made
    small: the group that gains most is cut in two across its main axis (principal direction
    divisive partitioning; Boley, 1998), until there are enough; then rows move to the nearest mean
    (Lloyd). Neither step leaves a group with fewer than two people. Rows are sorted first and equal
    rows stay together, so that the order of the rows changes nothing, to the bit.
    """
    distinct, row = np.unique(tastes, axis=0, return_inverse=True)
    row = row.reshape(-1)
    sizes = totals(row, people)
    labels = _settled(distinct, sizes, _cut(distinct, sizes, groups))
    return by_size(labels, sizes)[row]


def _cut(rows: Floats, sizes: Floats, groups: int) -> Ints:
    labels = np.zeros(len(rows), np.int64)
    cuts = {0: _best_cut(rows, sizes)}
    while len(cuts) < groups:
        best = max(cuts, key=lambda group: cuts[group][0])
        gain, side = cuts[best]
        if gain <= 0:
            raise InputError(
                f"{len(cuts)} groups of {FEWEST} people or more can be made, and not {groups}: "
                "ask for fewer users."
            )
        members = np.flatnonzero(labels == best)
        labels[members[side]] = new = len(cuts)
        for group in (best, new):
            inside = labels == group
            cuts[group] = _best_cut(rows[inside], sizes[inside])
    return labels


def _best_cut(rows: Floats, sizes: Floats) -> tuple[float, Ints]:
    """Return how much a cut in two gains, and the rows beyond it; no gain if none is allowed."""
    total = sizes.sum()
    centred = rows - sizes @ rows / total
    axis = np.linalg.eigh((centred * sizes[:, np.newaxis]).T @ centred)[1][:, -1]
    along = np.round(centred @ axis, 12)  # what differs by rounding alone stays together
    order = np.argsort(along, kind="stable")
    before = np.cumsum(sizes[order])[:-1]
    sums = np.cumsum(sizes[order, np.newaxis] * centred[order], axis=0)[:-1]
    allowed = (before >= FEWEST) & (total - before >= FEWEST) & (np.diff(along[order]) > 0)
    if not allowed.any():
        return 0.0, order[:0]
    # Huygens: what the squares within lose is what the two means differ by.
    gains = (sums**2).sum(axis=1) * total / (before * (total - before))
    at = int(np.argmax(np.where(allowed, gains, -1.0)))
    return float(gains[at]), order[at + 1 :]


def _settled(rows: Floats, sizes: Floats, labels: Ints) -> Ints:
    """Move rows to the nearest mean until none moves; no group falls below two people."""
    groups = int(labels.max()) + 1
    for _ in range(ROUNDS):
        held = totals(labels, sizes)
        means = np.stack([totals(labels, sizes * column) for column in rows.T], 1)
        means /= held[:, np.newaxis]
        squares = (means**2).sum(axis=1) - 2.0 * rows @ means.T
        nearest = np.argmin(squares, axis=1)
        if (nearest == labels).all() or totals(nearest, sizes, groups).min() < FEWEST:
            break
        labels = nearest
    return labels
