"""How fast welfares are maximised: ratios within one run, next to what they should be.

python benchmarks/welfare.py [--quick]

Everything gets the same random scores, uniform in [0, 0.8] with 1 for each user's winner, and is
timed in turn, many times over; the shortest time counts. It is the thread's own time, so that a
busy machine does not decide. "Core" is the compiled solver, called from Python once for each
matrix, to a gap of 1e-9; so is the compiled Frank-Wolfe, with the paper's settings. The cores of
the other welfares are timed in turn with that of the Nash welfare, cold. cvxpy solves one
parametrised problem again and again, with the fastest of its installed solvers that can be had to
a tight tolerance.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fairduel._arrays import Floats
from fairduel.environments import random_instance
from fairduel.kernels import frank_wolfe, game, newton, power_mean
from fairduel.learners import FairVOI
from fairduel.welfare import Egalitarian, GeneralizedGini, Nash, PowerMean, Welfare

Call = Callable[[Floats], Any]

POWERS = (0.9, 0.5, -1.0, -2.0)

# First-order solvers (SCS) need seconds for what these do in milliseconds.
TIGHT: dict[str, dict[str, float]] = {
    "CLARABEL": {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9},
    "ECOS": {"abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9},
    "MOSEK": {},
}


def random_scores(count: int, users: int, arms: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    scores = 0.8 * rng.random((count, users, arms))
    winners = rng.integers(0, arms, (count, users))
    np.put_along_axis(scores, winners[:, :, None], 1.0, axis=2)
    return scores


def drifting_scores(count: int, users: int, arms: int, seed: int = 0) -> Floats:
    """Each differs a little from the one before, in one arm."""
    rng = np.random.default_rng(seed)
    scores = np.repeat(random_scores(1, users, arms, seed), count, axis=0)
    for b in range(1, count):
        scores[b] = scores[b - 1]
        column = scores[b, :, rng.integers(0, arms)]
        column[:] = np.clip(column + 0.02 * rng.standard_normal(users), 0.0, 1.0)
    return scores


def core_call(users: int) -> Call:
    follow = newton.follow
    weights, no_start = np.ones(users), np.empty(0)
    return lambda scores: follow(scores[None], weights, no_start, 1e-9)


def frank_wolfe_call() -> Call:
    follow = frank_wolfe.follow
    return lambda scores: follow(scores[None], 300, 2e-4, 1e-12)


def power_mean_call(users: int, p: float) -> Call:
    follow = power_mean.follow
    weights, no_start = np.ones(users), np.empty(0)
    return lambda scores: follow(scores[None], weights, p, no_start, 1e-9)


def game_call(users: int, delta: float, weights: tuple[float, ...] = ()) -> Call:
    """Return the core of egalitarian (delta = inf) and Gini welfares, by delta or by rank."""
    follow, shares, no_start = game.follow, np.full(users, 1.0 / users), np.empty(0)
    sums = np.cumsum(weights) / sum(weights) if weights else no_start
    levels = np.append(0.0, sums) if weights else no_start
    return lambda scores: follow(scores[None], shares, delta, levels, no_start, 1e-9)


def other_cores(users: int) -> dict[str, Call]:
    return {
        **{f"power mean {p:g}": power_mean_call(users, p) for p in POWERS},
        "egalitarian": game_call(users, np.inf),
        "Gini, delta 2": game_call(users, 2.0),
        "Gini, halving": game_call(users, 0.0, tuple(0.5**i for i in range(users))),
        "Gini, worst quarter": game_call(users, 0.0, (1.0, 0.0, 0.0, 0.0)),
    }


def objectives(cp: Any, utilities: Any, users: int) -> dict[str, Any]:
    """Return what cvxpy maximises: the same as the cores."""

    def gini(weights: Any) -> Any:
        drops = np.append(-np.diff(weights), weights[-1]) / weights.sum()
        return sum(drops[i - 1] * cp.sum_smallest(utilities, i) for i in range(1, users + 1))

    return {
        "Nash": cp.sum(cp.log(utilities)),
        **{f"power mean {p:g}": cp.pnorm(utilities, p) for p in POWERS},
        "egalitarian": cp.min(utilities),
        "Gini, delta 2": gini(np.diff(1.0 - np.linspace(1.0, 0.0, users + 1) ** 2)),
        "Gini, halving": gini(0.5 ** np.arange(users)),
        "Gini, worst quarter": gini(np.clip(users / 4.0 - np.arange(users), 0.0, 1.0)),
    }


def cvxpy_calls(users: int, arms: int, name: str = "Nash") -> dict[str, Call]:
    cp: Any = importlib.import_module("cvxpy")
    parameter = cp.Parameter((users, arms), nonneg=True)
    policy = cp.Variable(arms, nonneg=True)
    objective = cp.Maximize(objectives(cp, parameter @ policy, users)[name])
    problem = cp.Problem(objective, [cp.sum(policy) == 1])

    def call(solver: str) -> Call:
        def solve(scores: Floats) -> None:
            parameter.value = scores
            problem.solve(solver=solver, **TIGHT[solver])

        return solve

    return {solver: call(solver) for solver in TIGHT if solver in cp.installed_solvers()}


def microseconds(calls: dict[str, Call], scores: Floats, repeats: int) -> dict[str, float]:
    """The mean time of each call over all scores, at the best of so many repeats."""
    for call in calls.values():
        call(scores[0])  # compiles, canonicalises
    best = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.thread_time()
            for matrix in scores:
                call(matrix)
            best[name] = min(best[name], (time.thread_time() - began) / len(scores) * 1e6)
    return best


def report(what: str, measured: str, bar: str, met: bool) -> None:
    print(f"{what:<52}  {measured:<40}  {bar:<15}  {'met' if met else 'MISSED'}", flush=True)


def against_frank_wolfe(size: int, count: int, repeats: int, bar: float) -> None:
    scores = random_scores(count, size, size)
    calls = {"core": core_call(size), "frank-wolfe": frank_wolfe_call()}
    took = microseconds(calls, scores, repeats)
    ratio = took["frank-wolfe"] / took["core"]
    report(
        f"core against the paper's Frank-Wolfe, {size} x {size}",
        f"{took['core']:.1f} us, {took['frank-wolfe']:.1f} us: {ratio:.1f} times",
        f"{bar:g} times",
        ratio >= bar,
    )


def against_cvxpy(size: int, count: int, repeats: int, bar: float) -> None:
    scores = random_scores(count, size, size)
    core = microseconds({"core": core_call(size)}, scores, 10 * repeats)["core"]
    took = microseconds(cvxpy_calls(size, size), scores, repeats)
    solver = min(took, key=lambda name: took[name])
    ratio = took[solver] / core
    report(
        f"core against cvxpy with {solver}, {size} x {size}",
        f"{core:.1f} us, {took[solver] / 1000.0:.2f} ms: {ratio:.0f} times",
        f"{bar:g} times",
        ratio >= bar,
    )


def against_nash(size: int, count: int, repeats: int, bars: dict[str, float]) -> None:
    """Compare the cores of other welfares with that of the Nash welfare; bars by beginning."""
    scores = random_scores(count, size, size)
    took = microseconds({"Nash": core_call(size), **other_cores(size)}, scores, repeats)
    nash = took.pop("Nash")
    for name, core in took.items():
        bar = next(bar for begin, bar in bars.items() if name.startswith(begin))
        report(
            f"{name} against Nash, cores, {size} x {size}",
            f"{core:.1f} us, {nash:.1f} us: {core / nash:.2f} times",
            f"at most {bar:g}",
            core / nash <= bar,
        )


def others_against_cvxpy(size: int, count: int, repeats: int, bar: float) -> None:
    scores = random_scores(count, size, size)
    cores = microseconds(other_cores(size), scores, 10 * repeats)
    for name in cores:
        took = microseconds(cvxpy_calls(size, size, name), scores, repeats)
        solver = min(took, key=lambda each: took[each])
        ratio = took[solver] / cores[name]
        report(
            f"{name} against cvxpy with {solver}, {size} x {size}",
            f"{cores[name]:.1f} us, {took[solver] / 1000.0:.2f} ms: {ratio:.0f} times",
            f"{bar:g} times",
            ratio >= bar,
        )


def decisions(size: int, repeats: int) -> None:
    """Compare a decision of Fair-VOI after 200 duels with one for the Nash welfare."""
    instance = random_instance(size, size, seed=1)

    def state_of(learner: FairVOI) -> Any:
        rng = np.random.default_rng(1)
        state = learner.init(size, size, 100_000, seed=1)
        tally = type(state.tally).empty(size, size)
        for _ in range(200):
            i, j = rng.choice(size, 2, replace=False)
            tally.plays[i, j] += 1
            won = rng.random(size) < instance.preferences[:, i, j]
            tally.wins[won, i, j] += 1
            tally.wins[~won, j, i] += 1
        return learner.tell(state, tally)

    welfares: list[Welfare] = [Nash(), Egalitarian(), PowerMean(-1.0), GeneralizedGini()]
    learners = [FairVOI(welfare=welfare) for welfare in welfares]
    states = [state_of(learner) for learner in learners]
    calls: dict[str, Call] = {
        learner.welfare.name: lambda _, learner=learner, state=state: learner.ask(state)  # type: ignore[misc]
        for learner, state in zip(learners, states, strict=True)
    }
    took = microseconds(calls, np.zeros((1, 1, 1)), repeats)
    for name, ask in list(took.items())[1:]:
        ratio = ask / took["nash"]
        report(
            f"a decision of Fair-VOI, {name}, {size} x {size}",
            f"{ask / 1000.0:.1f} ms, Nash {took['nash'] / 1000.0:.1f} ms: {ratio:.1f} times",
            "at most 4",
            ratio <= 4.0,
        )


def public_call(repeats: int) -> None:
    calls = {"core": core_call(10), "public": Nash().maximize}
    took = microseconds(calls, random_scores(50, 10, 10), 20 * repeats)
    added = took["public"] - took["core"]
    report(
        "Nash().maximize over the core, 10 x 10",
        f"{took['core']:.1f} us, {took['public']:.1f} us: adds {added:.1f} us",
        "at most 60 us",
        added <= 60.0,
    )


def warm_solves(size: int, count: int, repeats: int, bar: float) -> None:
    scores = drifting_scores(count, size, size)
    took = microseconds({"follow": Nash().follow}, scores[None], repeats)["follow"] / count
    report(
        f"Nash().follow, each solve, {size} x {size}",
        f"{took:.1f} us",
        f"at most {bar:g} us",
        took <= bar,
    )


def worst_gap(size: int, count: int) -> None:
    welfares: list[Welfare] = [Nash(), PowerMean(0.9), PowerMean(-2.0), Egalitarian()]
    for welfare in [*welfares, GeneralizedGini()]:
        gap = max(welfare.maximize(scores).gap for scores in random_scores(count, size, size))
        what = f"worst gap of {count}, {welfare.title}, {size} x {size}"
        report(what, f"{gap:.1e}", "at most 1e-9", gap <= 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer matrices and repeats")
    fewer = 4 if parser.parse_args().quick else 1
    print(f"{'what':<52}  {'measured':<40}  {'should be':<15}")
    against_frank_wolfe(10, 500, 80 // fewer, bar=1.0)
    against_frank_wolfe(100, 25, 80 // fewer, bar=2.0)
    against_frank_wolfe(1000, 2, 40 // fewer, bar=5.0)
    against_cvxpy(10, 10, 16 // fewer, bar=200.0)
    against_cvxpy(100, 2, 16 // fewer, bar=500.0)
    powers, games = {"power": 2.5}, {"egalitarian": 1.2, "Gini": 3.0}
    against_nash(10, 200, 80 // fewer, powers | games)
    against_nash(100, 5, 20 // fewer, {"power": 2.0, "egalitarian": 25.0, "Gini": 200.0})
    others_against_cvxpy(10, 10, 8 // fewer, bar=100.0)
    decisions(10, 20 // fewer)
    public_call(40 // fewer)
    warm_solves(10, 1000, 80 // fewer, bar=4.0)
    worst_gap(10, 4000 // fewer)
    worst_gap(100, 200 // fewer)


if __name__ == "__main__":
    main()
