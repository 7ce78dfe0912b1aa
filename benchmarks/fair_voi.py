"""Fair-VOI against its bars, the paper's learners, uniform exploration and chance.

    python benchmarks/fair_voi.py [--quick] [--tuning] [--only NAME ...]

Reports use seeds from 2,000,000 on; ``--tuning`` uses those from 0 on, and the learner was tuned on
those from 7,000,000 to 7,000,199, so the two never meet. Every setting prints its figure, the bar
it must reach, the aim, and whether each is met. ``--quick`` takes a tenth of the instances: to see
that it runs, not for figures.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairduel import (
    FairEpsilonGreedy,
    FairETC,
    Instance,
    Learner,
    Nash,
    UniformOverUsers,
    Utilitarian,
    clustered_instance,
    hard_instance,
    paper_instances,
    random_instance,
    simulate,
)
from fairduel.arrays import Floats
from fairduel.estimate import champions, guessed_scores
from fairduel.learners.fair_voi import FairVOI
from fairduel.nature import Nature

REPORT_SEED, TUNING_SEED = 2_000_000, 0  # instances count up from here
PAPERS: dict[str, Learner[Any]] = {
    "Fair-ETC": FairETC(),
    "Fair-epsilon-Greedy": FairEpsilonGreedy(),
    "utilitarian ETC": FairETC(welfare=Utilitarian()),
    "utilitarian epsilon-Greedy": FairEpsilonGreedy(welfare=Utilitarian()),
    "uniform over users": UniformOverUsers(),
}
LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # duels of each pair, then commit
HARD_ROUNDS = (10**4, 10**5, 10**6, 10**7)
HARD_TIMES = (1, 3, 8, 20)  # the paper's epsilon
RUNS_OF_RIVALS = 20  # the paper's learners are far off; fewer runs show it


@dataclass(frozen=True)
class Setting:
    """Random instances, and the bars: of the mean share or regret, and of the worst regret."""

    users: int
    arms: int
    rounds: int
    gap: float = 0.1
    runs: int = 100
    unit: str = "share"
    must: float = 1.0
    aim: float = 1.0
    worst: tuple[float, float] | None = None
    paper: bool = False

    def instances(self, first: int) -> Iterator[Instance]:
        if self.paper:
            yield from paper_instances(self.users, self.arms, self.gap)[: self.runs]
            return
        for run in range(self.runs):
            yield random_instance(self.users, self.arms, self.gap, seed=first + run)


SETTINGS = {
    "paper": Setting(10, 10, 200_000, runs=30, unit="regret", must=30, aim=22, paper=True),
    "T100": Setting(3, 5, 100, must=0.40, aim=0.33),
    "T500": Setting(3, 5, 500, must=0.19, aim=0.15),
    "T2000": Setting(5, 10, 2_000, must=0.31, aim=0.25),
    "T10000": Setting(5, 10, 10_000, must=0.14, aim=0.11),
    "T50000": Setting(10, 10, 50_000, runs=60, must=0.10, aim=0.08),
    "gap0.02": Setting(5, 10, 200_000, 0.02, unit="regret", must=740, aim=550, worst=(3000, 1500)),
    "gap0.005": Setting(
        5, 10, 200_000, 0.005, unit="regret", must=850, aim=600, worst=(5000, 2000)
    ),
}


def say(name: str, figure: float, must: float, aim: float | None = None) -> None:
    aimed = "" if aim is None else f"  aim {aim:g}: {'met' if figure <= aim else 'missed'}"
    print(f"  {name}: {figure:.4g}  must {must:g}: {'met' if figure <= must else 'MISSED'}{aimed}")


def regrets(learner: Learner[Any], setting: Setting, first: int) -> tuple[Floats, Floats]:
    """The regret of each run, and the share of what could be had."""
    runs = [
        simulate(learner, instance, setting.rounds, seed=first + run, checkpoints=1)
        for run, instance in enumerate(setting.instances(first))
    ]
    lost = np.array([run.regret[-1] for run in runs])
    return lost, lost / np.array([run.best * setting.rounds for run in runs])


def in_unit(setting: Setting, figures: tuple[Floats, Floats]) -> Floats:
    return figures[0] if setting.unit == "regret" else figures[1]


def run_setting(setting: Setting, first: int) -> None:
    print(
        f"K {setting.arms}, D {setting.users}, T {setting.rounds:,}, gap {setting.gap:g}, "
        f"{setting.runs} instances{' of the paper' if setting.paper else ''}: {setting.unit}"
    )
    began = time.process_time()
    lost = in_unit(setting, regrets(FairVOI(), setting, first))
    seconds = (time.process_time() - began) / len(lost)
    mean = float(lost.mean())
    error = 1.96 * lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else np.nan
    print(f"  Fair-VOI {mean:.4g} +- {error:.2g}, worst {lost.max():.4g}, {seconds:.2f} s a run")
    say("mean", mean, setting.must, setting.aim)
    if setting.worst is not None:
        say("worst", float(lost.max()), *setting.worst)
    anytime = in_unit(setting, regrets(FairVOI(anytime=True), setting, first))
    say("anytime / known horizon", float(anytime.mean()) / mean, 1.5, 1.25)
    run_rivals(setting, first, mean)


def run_rivals(setting: Setting, first: int, mean: float) -> None:
    """Everybody else: the paper's learners, the best uniform exploration in hindsight, chance."""
    few = Setting(**{**vars(setting), "runs": min(setting.runs, RUNS_OF_RIVALS)})
    for name, learner in PAPERS.items():
        beaten(name, float(in_unit(setting, regrets(learner, few, first)).mean()), mean)
    lost = {n: uniform_then_commit(setting, first, n) for n in LENGTHS}
    feasible = {n: float(x.mean()) for n, x in lost.items() if x is not None}
    if feasible:
        length = min(feasible, key=lambda n: feasible[n])
        beaten(f"uniform, {length} of each pair, then commit", feasible[length], mean)
    beaten("random", chance(setting, first), mean)


def beaten(name: str, figure: float, ours: float) -> None:
    print(f"  {name}: {figure:.4g}  {'beaten' if ours < figure else 'NOT BEATEN'}")


def uniform_then_commit(setting: Setting, first: int, length: int) -> Floats | None:
    """Every pair so often, then the policy that looks best; exact in law, without a learner."""
    left, right = np.triu_indices(setting.arms, 1)
    rounds = length * len(left)
    if rounds > setting.rounds:
        return None
    lost = []
    for run, instance in enumerate(setting.instances(first)):
        nature = Nature(instance, np.random.default_rng([first + run, 1]))
        pairs = np.column_stack([left, right])
        won = nature.answers(pairs, np.full(len(left), length))
        wins = np.zeros(instance.preferences.shape)
        wins[:, left, right], wins[:, right, left] = won.T, length - won.T
        policy = Nash().maximize(guessed_scores(wins, champions(wins))).policy
        best = Nash().maximize(instance.scores).value
        alone = instance.scores.prod(axis=0)
        regret = length * (best - (alone[left] + alone[right]) / 2).sum()
        regret += (setting.rounds - rounds) * (best - (instance.scores @ policy).prod())
        lost.append(regret if setting.unit == "regret" else regret / (best * setting.rounds))
    return np.array(lost)


def chance(setting: Setting, first: int) -> float:
    """The uniform policy for ever."""
    lost = []
    for instance in setting.instances(first):
        best = Nash().maximize(instance.scores).value
        share = 1.0 - instance.scores.mean(axis=1).prod() / best
        lost.append(share * best * setting.rounds if setting.unit == "regret" else share)
    return float(np.mean(lost))


def run_hard(first: int, runs: int) -> None:
    """R / T^(2/3) on the lower bound's instances with known winners, K = D = 10."""
    print(f"Hard instances, known winners, K = D = 10, {runs} runs: R / T^(2/3)")
    for times in HARD_TIMES:
        row = []
        for rounds in HARD_ROUNDS:
            epsilon = min(times * 0.9 * (10 / (2304 * rounds)) ** (1 / 3), 0.199)
            ours, theirs = (
                statistics.mean(hard_runs(make, rounds, epsilon, first, runs))
                for make in (FairVOI, FairETC)
            )
            row.append((ours / rounds ** (2 / 3), theirs / rounds ** (2 / 3)))
        text = ", ".join(f"{a:.3g} (Fair-ETC {b:.3g})" for a, b in row)
        met = all(a <= b / 1.5 for a, b in row)
        bounded = row[-1][0] <= 2 * max(a for a, _ in row[:-1])
        print(
            f"  epsilon x {times}, T 10^4 to 10^7: {text}  at most Fair-ETC's / 1.5: "
            f"{'met' if met else 'MISSED'}  bounded: {'met' if bounded else 'MISSED'}"
        )


def hard_runs(
    make: Callable[..., Learner[Any]], rounds: int, epsilon: float, first: int, runs: int
) -> Iterable[float]:
    for run in range(runs):
        instance = hard_instance(10, 10, rounds, epsilon, instance=1, seed=first + run)
        winners = tuple(int(w) for w in instance.winners)
        trajectory = simulate(make(winners=winners), instance, rounds, first + run, 1)
        yield float(trajectory.regret[-1])


def run_clustered(first: int, runs: int) -> None:
    for share in (0.5, 0.7):
        ours, theirs = [], []
        for seed in range(first, first + runs):
            instance = clustered_instance(10, 10, share, seed=seed)
            ours.append(simulate(FairVOI(), instance, 200_000, seed, 1).regret[-1])
            theirs.append(simulate(FairETC(), instance, 200_000, seed, 1).regret[-1])
        print(f"Clustered, rho {share}, K = D = 10, T 200,000, {runs} instances: regret")
        print(f"  Fair-VOI {np.mean(ours):.4g}, Fair-ETC as written {np.mean(theirs):.4g}")
        say("of Fair-ETC's", float(np.mean(ours) / np.mean(theirs)), 1 / 20, 1 / 40)


def run_large(first: int) -> None:
    setting = Setting(20, 50, 1_000_000, runs=1)
    began = time.perf_counter()
    mean = float(regrets(FairVOI(), setting, first)[1].mean())
    seconds = time.perf_counter() - began
    print(f"K 50, D 20, T 1,000,000: share {mean:.4g}")
    say("seconds", seconds, 30)
    lost = [uniform_then_commit(setting, first, n) for n in LENGTHS]
    beaten("uniform, then commit", min(float(x.mean()) for x in lost if x is not None), mean)


def run_speed() -> None:
    """A run, and single live decisions, in seconds of this process."""
    instance = paper_instances()[0]
    simulate(FairVOI(), instance, 1000, 1)
    began = time.process_time()
    for seed in range(5):
        simulate(FairVOI(), instance, 200_000, seed)
    say("a run at K = D = 10, T 200,000, s", (time.process_time() - began) / 5, 0.3)
    for size, rounds, bar in ((10, 400, 20), (50, 60, 500)):
        times = live_decisions(random_instance(size, size, seed=1), rounds)
        say(f"a live ask at K = D = {size}, 99 %, ms", float(np.quantile(times, 0.99)), bar)
    print(f"  memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def live_decisions(instance: Instance, rounds: int) -> list[float]:
    """Milliseconds of each ``ask``, when rounds are played one by one."""
    from fairduel.play import draw_round
    from fairduel.tally import Tally

    learner, rng, times = FairVOI(), np.random.default_rng(1), []
    users, arms = instance.scores.shape
    state = learner.init(users, arms, rounds, 1)
    for _ in range(rounds):
        began = time.process_time()
        play, state = learner.ask(state)
        times.append(1000 * (time.process_time() - began))
        shown = draw_round(play, users, rng)
        tally = Tally.empty(users, arms)
        tally.plays[shown.left, shown.right] = 1
        if shown.left != shown.right:
            won = rng.random(users) < instance.preferences[:, shown.left, shown.right]
            tally.wins[:, shown.left, shown.right] = won
            tally.wins[:, shown.right, shown.left] = ~won
        state = learner.tell(state, tally)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tuning", action="store_true")
    names = [*SETTINGS, "hard", "clustered", "large", "speed"]
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    options = parser.parse_args()
    first = TUNING_SEED if options.tuning else REPORT_SEED
    part = 10 if options.quick else 1
    for name in options.only:
        if name in SETTINGS:
            setting = SETTINGS[name]
            run_setting(Setting(**{**vars(setting), "runs": setting.runs // part}), first)
        elif name == "hard":
            run_hard(first, 40 // part)
        elif name == "clustered":
            run_clustered(first, 30 // part)
        elif name == "large":
            run_large(first)
        else:
            run_speed()
        sys.stdout.flush()


if __name__ == "__main__":
    main()
