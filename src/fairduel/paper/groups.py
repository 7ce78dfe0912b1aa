"""The users of Figure 3: people who rank alike, from the Sushi data or a stand-in for them."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from fairduel.data import DataMissing, Rankings, load_sushi, stability, sushi_stand_in, tree
from fairduel.data.sushi import LABELS_SHA256
from fairduel.errors import InputError
from fairduel.files import AnyPath, write_whole
from fairduel.sweep.pool import GUARD

USERS = (5, 10)
PERMUTATIONS = 20  # of the rows, to see how much the groups owe to their order
MOST_WORKERS = 2  # each holds a tree of 0.3 GB


@dataclass(frozen=True)
class Grouping:
    """People in so many groups; ``file`` has the instance.

    as_paper: whether the groups are the paper's, None where there is nothing to compare with.
    all_winners, agreement: over the permutations of the rows, how often every group has a winner,
    and the mean adjusted Rand index with these groups.
    """

    users: int
    file: Path
    sizes: tuple[int, ...]
    digest: str
    as_paper: bool | None
    all_winners: float
    agreement: float


@dataclass(frozen=True)
class Groups:
    """The groupings of Figure 3. ``missing`` says why they are synthetic, if they are."""

    groupings: tuple[Grouping, ...]
    missing: str = ""


def prepare(folder: Path, data: AnyPath | None, workers: int | None) -> Groups:
    """Group the Sushi data, or a stand-in where they are missing, and write the instances."""
    try:
        rankings, missing = load_sushi(data), ""
    except DataMissing as error:
        rankings, missing = sushi_stand_in(), str(error)
    kind = "synthetic" if missing else "sushi"
    whole = tree(rankings)
    cuts = [whole.cut(users) for users in USERS]
    del whole
    measured = _stability(folder, kind, [cut.digest for cut in cuts], rankings, workers)
    groupings = []
    for cut, (all_winners, agreement) in zip(cuts, measured, strict=True):
        users = len(cut.sizes)
        file = folder / f"{kind}-{users}.npz"
        cut.instance().save(file)
        as_paper = None if missing else cut.digest == LABELS_SHA256[users]
        sizes = tuple(cut.sizes.tolist())
        groupings.append(Grouping(users, file, sizes, cut.digest, as_paper, all_winners, agreement))
    return Groups(tuple(groupings), missing)


def _stability(
    folder: Path, kind: str, digests: list[str], rankings: Rankings, workers: int | None
) -> list[tuple[float, float]]:
    """Measured once: it takes longer than all of the figure."""
    file = folder / f"{kind}-stability.json"
    question = {"labels": digests, "permutations": PERMUTATIONS}
    try:
        kept = json.loads(file.read_text())
        if kept["question"] == question:
            return [(share, agreement) for share, agreement in kept["answer"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # none yet, or not one of ours
    count = min(workers or MOST_WORKERS, MOST_WORKERS)
    try:
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            executor = pool if count > 1 else None
            measured = stability(rankings, USERS, PERMUTATIONS, executor=executor)
    except BrokenProcessPool as error:
        raise InputError(f"a worker process stopped (see above); {GUARD}.") from error
    answer = [(float(each.all_winners.mean()), float(each.agreement.mean())) for each in measured]
    write_whole(file, json.dumps({"question": question, "answer": answer}).encode())
    return answer
