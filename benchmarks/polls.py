"""How far a few answers of each get, and whether what is said of it comes true.

    python benchmarks/polls.py [--runs N] [--workers N] [--only TEXT ...]

In a poll everybody answers questions of their own, each pair at most once, and nothing is served
meanwhile. Prints after 5, 9, 15 and 25 answers of each, mean ± 1 standard error over instances: the
share of the best geometric mean of utilities that the policy gives, with the questions that
``advise`` finds worth most and with random pairs; and, for the former, the share that was
expected, how often its interval held the truth, how often the intervals of users' utilities did,
and what ten more answers of each were said to add, and did.
"""

from __future__ import annotations

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from _families import shown

from fairduel import Nash
from fairduel._arrays import Floats
from fairduel.environments import BradleyTerry, Environment
from fairduel.environments.people import families
from fairduel.live import advise

SEED = 5_000_000
STOPS = (5, 9, 15, 25)
PEOPLE = "people, two camps (10, 10)"


def places() -> dict[str, Environment]:
    return {PEOPLE: BradleyTerry(users=10, arms=10, spread=1.5, camps=2), **families()}


def poll(name: str, run: int, own: bool) -> list[tuple[float, ...]]:
    """Return kept, expected, low, high, ten more and users in their intervals, at each stop."""
    instance = places()[name].draw(run, 1, SEED)
    beats, scores = np.asarray(instance.preferences), instance.scores
    users, arms = scores.shape
    best = Nash().maximize(scores).value
    rng = np.random.default_rng([SEED, run])
    wins, open_ = np.zeros_like(beats), np.triu(np.ones_like(beats), 1).astype(bool)
    found: list[tuple[float, ...]] = []
    for answers in range(STOPS[-1] + 1):
        advice = advise(wins, seed=run)
        if answers in STOPS:
            gets, said, outlook = scores @ advice.policy, advice.estimates, advice.outlook
            kept = float((Nash().value(gets) / best) ** (1.0 / users))
            inside = float(((said.low <= gets) & (gets <= said.high)).mean())
            found.append((kept, outlook.share, outlook.low, outlook.high, outlook.ten_more, inside))
        worth = advice.worth if own else rng.random(wins.shape)
        for d in range(users):
            if open_[d].any():
                i, j = divmod(int(np.where(open_[d], worth[d], -1.0).argmax()), arms)
                first = rng.random() < beats[d, i, j]
                wins[d, i, j] += first
                wins[d, j, i] += not first
                open_[d, i, j] = False
    return found


def table(name: str, own: Floats, chance: Floats) -> None:
    print(f"\n{name}, {len(own)} instances")
    print(
        f"{'answers':>9}{'kept':>16}{'random pairs':>16}{'expected':>10}{'held':>7}{'users':>7}"
        "  ten more"
    )
    for n, (stop, later) in enumerate(itertools.zip_longest(STOPS, ("15", "", "25", ""))):
        kept, expected, low, high, more, inside = own[:, n].T
        held = float(((low <= kept) & (kept <= high)).mean())
        added = (own[:, STOPS.index(int(later)), 0] - kept).mean() if later else np.nan
        truly = f", {added:+.3f} came" if later else ""
        print(
            f"{stop:>9}{shown(kept):>16}{shown(chance[:, n, 0]):>16}{expected.mean():>10.3f}"
            f"{held:>7.0%}{inside.mean():>7.0%}  {more.mean():+.3f} said{truly}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        for name in places():
            if any(text in name for text in options.only):
                runs = range(options.runs)
                own, chance = (
                    np.array(list(pool.map(poll, [name] * len(runs), runs, [mine] * len(runs))))
                    for mine in (True, False)
                )
                table(name, own, chance)


if __name__ == "__main__":
    main()
