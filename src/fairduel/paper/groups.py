"""The users of Figure 3: people who rank alike, from the Sushi data or a stand-in for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fairduel._files import AnyPath, write_whole
from fairduel.data import (
    Clusters,
    DataMissing,
    Rankings,
    load_sushi,
    stability,
    sushi_stand_in,
    tree,
)
from fairduel.data.sushi import LABELS_SHA256
from fairduel.errors import InputError
from fairduel.experiments.batching import Lost, run_calls
from fairduel.experiments.pool import LocalPool
from fairduel.instance import Instance

USERS = (5, 10)
PERMUTATIONS = 20  # of the rows, to see how much the groups depend on their order
MEASURES = ["all winners", "all clear winners", "agreement"]  # of what is kept in the folder
SUSHI = "sushi"
MOST_WORKERS = 2  # each holds a tree of 0.3 GB


Counts = tuple[int, int, float]  # the MEASURES


@dataclass(frozen=True)
class Grouping:
    """People in groups, each a user, and the instance that they make.

    as_paper: whether the groups are the paper's, None where there is nothing to compare with.
    without: the names of the groups that have no Condorcet winner.
    tied: how many pairs of items have a share of exactly 1/2 in a group.
    clear: whether every group has a winner however those pairs are decided.
    orders: the number of random orders of the rows in which the people were grouped again.
    all_winners, all_clear: of these, the number in which every group had a winner, and in which
    it had one before the projection. agreement: the mean adjusted Rand index with these groups.
    """

    users: int
    instance: Instance
    sizes: tuple[int, ...]
    digest: str
    as_paper: bool | None
    without: tuple[str, ...]
    tied: int
    clear: bool
    orders: int
    all_winners: int
    all_clear: int
    agreement: float


@dataclass(frozen=True)
class Groups:
    """The groupings of Figure 3. ``missing`` says why they are synthetic, if they are."""

    groupings: tuple[Grouping, ...]
    missing: str = ""


def prepare(folder: Path, data: AnyPath | None, workers: int | None) -> Groups:
    """Group the Sushi data, or a stand-in where they are missing."""
    try:
        rankings, missing = load_sushi(data), ""
    except DataMissing as error:
        rankings, missing = sushi_stand_in(), str(error)
    kind = "synthetic" if missing else SUSHI
    whole = tree(rankings)
    cuts = [whole.cut(users) for users in USERS]
    del whole
    measured = _stability(folder, kind, [cut.digest for cut in cuts], rankings, workers)
    groupings = [_grouping(cut, kind, counts) for cut, counts in zip(cuts, measured, strict=True)]
    return Groups(tuple(groupings), missing)


def _grouping(cut: Clusters, kind: str, counts: Counts) -> Grouping:
    users = len(cut.sizes)
    instance = cut.projected()
    without = tuple(cut.names[d] for d in np.flatnonzero(~instance.has_winner))
    above = np.triu_indices(len(cut.people.items), 1)
    return Grouping(
        users=users,
        instance=instance,
        sizes=tuple(cut.sizes.tolist()),
        digest=cut.digest,
        as_paper=cut.digest == LABELS_SHA256[users] if kind == SUSHI else None,
        without=without,
        tied=int((cut.shares[:, *above] == 0.5).sum()),
        clear=bool(cut.projected(gap=0).has_winner.all()),
        orders=PERMUTATIONS,
        all_winners=counts[0],
        all_clear=counts[1],
        agreement=counts[2],
    )


def _stability(
    folder: Path, kind: str, digests: list[str], rankings: Rankings, workers: int | None
) -> list[Counts]:
    """Measure how stable the groups are, once: it takes longer than all of the figure."""
    file = folder / f"{kind}-stability.json"
    question = {"labels": digests, "permutations": PERMUTATIONS, "measures": MEASURES}
    try:
        kept = json.loads(file.read_text())
        if kept["question"] == question:
            return [(int(some), int(clear), float(same)) for some, clear, same in kept["answer"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # none yet, or not one of ours
    count = min(workers or MOST_WORKERS, MOST_WORKERS)
    executor = _Workers(count) if count > 1 else None
    measured = stability(rankings, USERS, PERMUTATIONS, executor=executor)
    answer = [
        (
            int(each.all_winners.sum()),
            int(each.all_clear_winners.sum()),
            float(each.agreement.mean()),
        )
        for each in measured
    ]
    write_whole(file, json.dumps({"question": question, "answer": answer}).encode())
    return answer


class _Workers(Executor):
    """An executor on processes like those of a sweep: they ignore Ctrl-C, and may die."""

    def __init__(self, count: int) -> None:
        self._pool = LocalPool(count)

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        """Return all results, in order, without a time limit and in chunks as they fit."""
        calls = list(zip(*iterables, strict=True))
        found: dict[int, Any] = {}
        finished = False
        try:
            for some in run_calls(self._pool, partial(_call, fn, calls), range(len(calls))):
                found.update(some)
            finished = True
        finally:
            self._pool.close(at_once=not finished)
        if any(isinstance(result, Lost) for result in found.values()):
            raise InputError(
                "the processes that group people end before they finish, perhaps for lack of "
                "memory: free some, or use 1 worker."
            )
        return iter([found[number] for number in range(len(calls))])


def _call(function: Callable[..., Any], calls: list[tuple[Any, ...]], number: int) -> Any:
    return function(*calls[number])
