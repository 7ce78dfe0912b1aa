"""Stated orders as ballots: what people rank, taken as it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.data.ballots import Ballots, Orders
from fairduel.data.rankings import UNRANKED, Rankings, frozen, totals
from fairduel.errors import InputError


def stated(
    owners: Sequence[str],
    options: Sequence[str],
    ranks: Ints,
    people: Floats,
    what: str,
    grouped: bool = False,
    notes: tuple[str, ...] = (),
) -> Ballots:
    """Return ballots of orders: ``people[n]`` people gave ``ranks[n]``, for the user ``owners[n]``.

    what: what the file was read as. Rows that rank nothing are left out, which is noted.
    """
    said = np.flatnonzero((ranks != UNRANKED).any(axis=1))
    silent = len(ranks) - len(said)
    if not len(said):
        raise InputError("nobody ranks anything: fill in some rows.")
    if silent:
        notes = (*notes, f"rows that rank nothing are left out: {silent:,} of {len(ranks):,}.")
    number: dict[str, int] = {}
    user = np.array([number.setdefault(owners[n], len(number)) for n in said.tolist()])
    order = np.argsort(user, kind="stable")
    rows = said[order]
    orders = Orders(frozen(user[order]), frozen(ranks[rows]), frozen(people[rows]))
    return Ballots(
        "orders",
        tuple(number),
        tuple(options),
        orders,
        frozen(totals(orders.user, orders.people)),
        f"read as {what}; for example: {_example(owners[said[0]], options, ranks[said[0]])}",
        grouped=grouped,
        notes=notes,
    )


def stated_rankings(rankings: Rankings, what: str, notes: tuple[str, ...] = ()) -> Ballots:
    """Return ballots of rankings: each order is a user, which stands for those who gave it."""
    owners = [f"order {n}" for n in range(1, len(rankings.ranks) + 1)]
    people = rankings.counts.astype(np.float64)
    return stated(owners, rankings.items, rankings.ranks, people, what, notes=notes)


def closed_up(values: Floats) -> Ints:
    """Return ranks from 0 that leave out no number, from any numbers; NaN becomes unranked."""
    order = np.argsort(values, axis=1, kind="stable")  # NaN comes last
    ordered = np.take_along_axis(values, order, axis=1)
    steps = np.zeros(values.shape, np.int64)
    steps[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    ranks = np.empty(values.shape, np.int64)
    np.put_along_axis(ranks, order, np.cumsum(steps, axis=1), axis=1)
    ranks[np.isnan(values)] = UNRANKED
    return ranks


def _example(user: str, options: Sequence[str], ranks: Ints) -> str:
    """Say what a user prefers to what, by the best two of an order."""
    best = options[int(np.argmax(ranks == 0))]
    next_best = np.flatnonzero(ranks == 1)
    if len(next_best):
        return f"{user} prefers {best} to {options[next_best[0]]}"
    left_out = np.flatnonzero(ranks == UNRANKED)
    if len(left_out):
        return f"{user} prefers {best} to {options[left_out[0]]}, which is not ranked"
    return f"{user} likes all options equally"
