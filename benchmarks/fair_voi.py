"""Fair-VOI against its bars, the paper's learners, uniform exploration and chance.

    python benchmarks/fair_voi.py [--quick] [--tuning] [--workers N] [--only NAME ...]

Reports use seeds from 4,000,000 on; the learner was tuned on those from 7,000,000 on, which
``--tuning`` uses, so the two never meet. A seed makes an instance and the luck on it. The paper's
30 instances are fixed by the paper and the same either way: there only the learner's and nature's
seeds differ.

Every setting prints its figures, the bars that they must reach, the aims, and whether each is met.
All learners play the same instances. The figures do not depend on the number of workers; seconds
are of one process. ``--quick`` takes a tenth of the instances: to see that it runs, not for
figures. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from fairduel import (
    Egalitarian,
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
from fairduel._arrays import Floats
from fairduel.environments.hard import HARD_C, HARD_EPSILON_MOST
from fairduel.inference.estimates import champions, guessed_scores
from fairduel.learners.voi.learner import FairVOI
from fairduel.offers import draw_round
from fairduel.simulation.metrics import mean_interval
from fairduel.simulation.responses import Responses
from fairduel.tally import Tally

REPORT_SEED, TUNING_SEED = 4_000_000, 7_000_000  # instances count up from here
VOI, ANYTIME, ETC, RANDOM = "Fair-VOI", "Fair-VOI, T unknown", "Fair-ETC", "random"
UTILITARIAN = {"welfare": Utilitarian()}
PAPERS: dict[str, tuple[Any, dict[str, Any]]] = {
    ETC: (FairETC, {}),
    "Fair-epsilon-Greedy": (FairEpsilonGreedy, {}),
    "Utilitarian-ETC": (FairETC, UTILITARIAN),
    "Utilitarian-epsilon-Greedy": (FairEpsilonGreedy, UTILITARIAN),
    "Uniform-Over-Users": (UniformOverUsers, {}),
}
AS_RUN = ", as run"  # with the settings of the paper's Table 1, not those of its text

SHARE, REGRET, RATE = "share of f* T lost", "regret", "R / T^(2/3)"
ANYTIME_BARS = (1.5, 1.25)
HARD_ROUNDS = (10**4, 10**5, 10**6, 10**7)
HARD_TIMES = (1, 3, 8, 20)  # the proof's epsilon
HARD_RATIO = 1.5
HARD_RISE = 1.1  # R / T^(2/3) at the longest horizon may be so many times the largest before
TASTES = 1.5  # standard deviation of how much members of a team like things
LIVE_HORIZON = 100_000


@dataclass(frozen=True)
class Setting:
    """Instances of a kind, and bars: (must, aim) of the mean, of the worst run, of Fair-ETC / ours.

    gap: of random instances. share: of the users in the cluster. times: the proof's epsilon of
    hard instances, where the winners are known. seconds: that a run may take. bars: whether there
    are any; else the figures are for information.
    """

    kind: str
    users: int
    arms: int
    rounds: int
    runs: int = 100
    unit: str = SHARE
    gap: float = 0.1
    share: float = 0.0
    times: int = 0
    mean: tuple[float, float] | None = None
    worst: tuple[float, float] | None = None
    of_etc: tuple[float, float | None] | None = None
    seconds: float | None = None
    bars: bool = True

    @property
    def title(self) -> str:
        own = {
            "random": f"gap {self.gap:g}",
            "paper": "the paper's instances",
            "clustered": f"clustered, rho {self.share:g}",
            "hard": f"hard, epsilon x {self.times}, winners known",
            "team": f"Bradley-Terry, deviation {TASTES:g}",
        }[self.kind]
        return f"K {self.arms}, D {self.users}, T {self.rounds:,}, {own}"

    def instance(self, run: int, seed: int) -> Instance:
        if self.kind == "paper":
            return paper_instances(self.users, self.arms, self.gap)[run]
        if self.kind == "clustered":
            return clustered_instance(self.users, self.arms, self.share, self.gap, seed)
        if self.kind == "hard":  # I^1 to I^5 in turn, the arms in random order
            least = min(self.users, self.arms)
            epsilon = self.times * HARD_C * (least / (2304 * self.rounds)) ** (1 / 3)
            epsilon, which = min(epsilon, HARD_EPSILON_MOST), 1 + run % (least // 2)
            return hard_instance(
                self.users, self.arms, self.rounds, epsilon, instance=which, seed=seed
            )
        if self.kind == "team":
            rng = np.random.default_rng(seed)
            likes = rng.normal(0.0, TASTES, (self.users, self.arms))
            return Instance(1.0 / (1.0 + np.exp(likes[:, None, :] - likes[:, :, None])))
        return random_instance(self.users, self.arms, self.gap, seed)

    def in_unit(self, regret: Floats, best: Floats) -> Floats:
        divisor = {SHARE: best * self.rounds, RATE: self.rounds ** (2 / 3), REGRET: 1.0}
        return np.asarray(regret / divisor[self.unit])


def hard(times: int) -> list[Setting]:
    return [
        Setting("hard", 10, 10, rounds, unit=RATE, times=times, of_etc=(HARD_RATIO, None))
        for rounds in HARD_ROUNDS
    ]


SUITES: dict[str, list[Setting]] = {
    "paper": [Setting("paper", 10, 10, 200_000, runs=30, unit=REGRET, mean=(30, 22))],
    "T100": [Setting("random", 3, 5, 100, mean=(0.40, 0.33))],
    "T500": [Setting("random", 3, 5, 500, mean=(0.19, 0.15))],
    "T2000": [Setting("random", 5, 10, 2_000, mean=(0.31, 0.25))],
    "T10000": [Setting("random", 5, 10, 10_000, mean=(0.14, 0.11))],
    "T50000": [Setting("random", 10, 10, 50_000, mean=(0.10, 0.08))],
    "gap0.02": [
        Setting(
            "random", 5, 10, 200_000, gap=0.02, unit=REGRET, mean=(740, 550), worst=(3000, 1500)
        )
    ],
    "gap0.005": [
        Setting(
            "random", 5, 10, 200_000, gap=0.005, unit=REGRET, mean=(850, 600), worst=(5000, 2000)
        )
    ],
    "hard": [setting for times in HARD_TIMES for setting in hard(times)],
    "clustered": [
        Setting("clustered", 10, 10, 200_000, 60, REGRET, share=share, of_etc=(20, 40))
        for share in (0.5, 0.7)
    ],
    # Three instances only: each takes as long as all of a smaller setting.
    "large": [Setting("random", 20, 50, 1_000_000, runs=3, seconds=30)],
    "team": [Setting("team", 4, 8, rounds, bars=False) for rounds in (200, 2_000)],
}
SPEED = "speed"


# One instance: everybody plays it


@dataclass(frozen=True)
class Played:
    """Regret by learner, and by length of uniform exploration; seconds that Fair-VOI took."""

    best: float
    regrets: dict[str, float]
    uniform: dict[int, float]
    seconds: float


def play(job: tuple[Setting, int, int]) -> Played:
    setting, run, seed = job
    instance = setting.instance(run, seed)
    known = setting.kind == "hard"
    told: dict[str, Any] = {"winners": tuple(instance.winners.tolist())} if known else {}

    def regret(learner: Learner[Any]) -> float:
        return float(
            simulate(instance, setting.rounds, learner, seed=seed, checkpoints=1).regret[-1]
        )

    began = time.process_time()
    regrets = {VOI: regret(FairVOI(**told))}
    seconds = time.process_time() - began
    regrets[ANYTIME] = regret(FairVOI(anytime=True, **told))
    for name, (kind, own) in PAPERS.items():
        regrets[name] = regret(kind.as_written(**own, **told))
        regrets[name + AS_RUN] = regret(kind.as_run(**own, **told))
    best = Nash().maximize(instance.scores).value
    regrets[RANDOM] = setting.rounds * (best - float(instance.scores.mean(axis=1).prod()))
    uniform = {
        length: uniform_then_commit(instance, setting.rounds, length, known, seed)
        for length in lengths(setting)
    }
    return Played(best, regrets, uniform, seconds)


def lengths(setting: Setting) -> Iterator[int]:
    """1, 2, 3, 4, 6, 8, 12, ... duels of each pair, as far as the horizon goes."""
    most = setting.rounds // (setting.arms * (setting.arms - 1) // 2)
    power = 1
    while power <= most:
        yield power
        if power > 1 and 3 * power // 2 <= most:
            yield 3 * power // 2
        power *= 2


def uniform_then_commit(
    instance: Instance, rounds: int, length: int, known: bool, seed: int
) -> float:
    """Regret of every pair so often, then the policy that looks best; exact in law."""
    left, right = np.triu_indices(len(instance.arms), 1)
    nature = Responses(instance, np.random.default_rng([seed, 1]))
    won = nature.answers(np.column_stack([left, right]), np.full(len(left), length))
    wins = np.zeros(instance.preferences.shape)
    wins[:, left, right], wins[:, right, left] = won.T, length - won.T
    winners = instance.winners if known else champions(wins)
    policy = Nash().maximize(guessed_scores(wins, winners)).policy
    best = Nash().maximize(instance.scores).value
    alone = instance.scores.prod(axis=0)
    explored = length * (best - (alone[left] + alone[right]) / 2).sum()
    committed = rounds - length * len(left)
    return float(explored + committed * (best - (instance.scores @ policy).prod()))


# What came of it


class Bars:
    """Prints figures beside their bars, and counts."""

    def __init__(self) -> None:
        self.title = ""
        self.met = 0
        self.missed: list[str] = []
        self.aims = [0, 0]  # missed, met

    def begin(self, title: str) -> None:
        self.title = title
        print(title, flush=True)

    def must(self, what: str, met: bool, text: str = "") -> None:
        print(f"  {what}{text}: {'met' if met else 'MISSED'}", end="")
        if met:
            self.met += 1
        else:
            self.missed.append(f"{self.title}: {what}{text}")

    def figure(
        self, what: str, figure: float, must: float, aim: float | None = None, least: bool = False
    ) -> None:
        """At most, or at ``least``, what it must be."""
        sign = -1.0 if least else 1.0
        words = "at least" if least else "at most"
        self.must(f"{what} {figure:.4g}", sign * figure <= sign * must, f", {words} {must:g}")
        if aim is not None:
            reached = sign * figure <= sign * aim
            self.aims[reached] += 1
            print(f"; aim {aim:g}: {'met' if reached else 'missed'}", end="")
        print(flush=True)

    def close(self) -> int:
        for missed in self.missed:
            print(f"MISSED: {missed}")
        print(
            f"Bars: {self.met} met, {len(self.missed)} missed. "
            f"Aims: {self.aims[1]} met, {self.aims[0]} missed."
        )
        return 1 if self.missed else 0


def report(setting: Setting, played: Sequence[Played], bars: Bars) -> Floats:
    """Print all about a setting; gives what Fair-VOI lost in each run."""
    best = np.array([each.best for each in played])
    lost = {
        name: setting.in_unit(np.array([each.regrets[name] for each in played]), best)
        for name in played[0].regrets
    }
    ours = lost[VOI]
    mean, half_width = (float(x) for x in mean_interval(ours))
    seconds = [each.seconds for each in played]
    bars.begin(f"{setting.title}, {len(played)} instances: {setting.unit}")
    print(
        f"  Fair-VOI {mean:.4g} ± {half_width:.2g}, worst {ours.max():.4g}; "
        f"{np.mean(seconds):.2f} s a run, at most {max(seconds):.2f}"
    )
    compare(setting, lost, seconds, bars)
    length, uniform = best_uniform(setting, played, best)
    rivals = {name: float(x.mean()) for name, x in lost.items() if name not in (VOI, ANYTIME)}
    rivals[f"uniform exploration, {length} of each pair, then commit"] = uniform
    beat(rivals, mean, setting.bars, bars)
    return ours


def compare(setting: Setting, lost: dict[str, Floats], seconds: list[float], bars: Bars) -> None:
    """With the bars, with itself if it does not know T, and with Fair-ETC."""
    ours = lost[VOI]
    mean = float(ours.mean())
    anytime, etc = float(lost[ANYTIME].mean()) / mean, float(lost[ETC].mean()) / mean
    if setting.mean is not None:
        bars.figure("mean", mean, *setting.mean)
    if setting.worst is not None:
        bars.figure("worst", float(ours.max()), *setting.worst)
    if setting.seconds is not None:
        bars.figure("seconds", max(seconds), setting.seconds)
    if setting.bars:
        bars.figure("T unknown / known", anytime, *ANYTIME_BARS)
    else:
        print(f"  T unknown / known {anytime:.4g}")
    if setting.of_etc is not None:
        bars.figure("Fair-ETC / Fair-VOI", etc, *setting.of_etc, least=True)


def best_uniform(setting: Setting, played: Sequence[Played], best: Floats) -> tuple[int, float]:
    """The best length in hindsight, and what it loses."""
    means = {
        length: float(
            setting.in_unit(np.array([each.uniform[length] for each in played]), best).mean()
        )
        for length in played[0].uniform
    }
    length = min(means, key=lambda n: means[n])
    return length, means[length]


def beat(rivals: dict[str, float], ours: float, counted: bool, bars: Bars) -> None:
    papers = [f"{name} {rivals[name]:.4g} ({rivals[name + AS_RUN]:.4g})" for name in PAPERS]
    others = [f"{name} {figure:.4g}" for name, figure in list(rivals.items())[2 * len(PAPERS) :]]
    print(f"  the paper's as written (as run): {', '.join(papers)}")
    print(f"  {'; '.join(others)}")
    ahead = [name for name, figure in rivals.items() if figure <= ours]
    if counted:
        bars.must("beats all of these", not ahead, f" (not {', '.join(ahead)})" if ahead else "")
        print(flush=True)


def bounded(times: int, rates: Sequence[Floats], bars: Bars) -> None:
    """Whether R / T^(2/3) is no longer rising at the longest horizon."""
    bars.begin(f"Hard, epsilon x {times}, T 10^4 to 10^7: R / T^(2/3) is bounded")
    means = [float(rate.mean()) for rate in rates]
    slopes = 2 / 3 + np.polyfit(np.log(HARD_ROUNDS), np.log(np.array(rates)), 1)[0]
    slope, half_width = (float(x) for x in mean_interval(slopes))
    print(
        f"  {', '.join(f'{mean:.3g}' for mean in means)}; "
        f"slope of log R over log T {slope:.3f} ± {half_width:.2g}, 2/3 being T^(2/3)"
    )
    bars.figure("last / largest before", means[-1] / max(means[:-1]), HARD_RISE)


# Speed


def run_speed(bars: Bars) -> None:
    """A run, and single live decisions, in seconds of this process."""
    bars.begin(f"Speed, CPU time of one process; live with T {LIVE_HORIZON:,}")
    instances = paper_instances()[:5]
    simulate(instances[0], 1000, FairVOI(), seed=1)
    began = time.process_time()
    for seed, instance in enumerate(instances):
        simulate(instance, 200_000, FairVOI(), seed=seed)
    bars.figure("a run at K = D = 10, T 200,000, s", (time.process_time() - began) / 5, 0.3)
    for kind, users, arms, rounds, most in (
        ("random", 10, 10, 400, {"mean": 8, "99 %": 20}),
        ("random", 50, 50, 60, {"99 %": 500}),
        ("team", 10, 10, 400, {"mean": 8}),
        ("team", 10, 30, 100, {"mean": 150}),
        ("team", 200, 6, 100, {"mean": 80}),
    ):
        setting = Setting(kind, users, arms, LIVE_HORIZON)
        times = live_decisions(FairVOI(), setting.instance(0, 1), rounds)
        figures = {"mean": float(np.mean(times)), "99 %": float(np.quantile(times, 0.99))}
        for what, bar in most.items():
            bars.figure(f"a decision at {setting.title}, {what}, ms", figures[what], bar)
    times = live_decisions(FairVOI(welfare=Egalitarian()), random_instance(10, 10, seed=1), 60)
    print(f"  the same for Egalitarian at K = D = 10: 99 % {np.quantile(times, 0.99):.4g} ms")
    print(f"  memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def live_decisions(learner: FairVOI, instance: Instance, rounds: int) -> list[float]:
    """Milliseconds of each ``ask`` that decides, when rounds are played one by one."""
    (users, arms), rng, times = instance.scores.shape, np.random.default_rng(1), []
    state = learner.init(users, arms, LIVE_HORIZON, 1)
    for _ in range(rounds):
        decisions, began = state.decisions, time.process_time()
        offer, state = learner.ask(state)
        if state.decisions > decisions:
            times.append(1000 * (time.process_time() - began))
        shown = draw_round(offer, users, rng)
        tally = Tally.empty(users, arms)
        tally.plays[shown.left, shown.right] = 1
        if shown.left != shown.right:
            won = rng.random(users) < instance.preferences[:, shown.left, shown.right]
            tally.wins[:, shown.left, shown.right] = won
            tally.wins[:, shown.right, shown.left] = ~won
        state = learner.tell(state, tally)
    return times


# All of it


def run_settings(settings: Sequence[Setting], first: int, workers: int, bars: Bars) -> None:
    """Instances in any number of processes; results come in order."""
    jobs = [(setting, run, first + run) for setting in settings for run in range(setting.runs)]
    with ProcessPoolExecutor(workers, initializer=warm) as pool:
        results = shown(pool.map(play, jobs), len(jobs))
        rates: dict[int, list[Floats]] = {}
        for setting in settings:
            ours = report(setting, list(islice(results, setting.runs)), bars)
            if setting.kind == "hard":
                rates.setdefault(setting.times, []).append(ours)
        for times, rows in rates.items():
            bounded(times, rows, bars)


def warm() -> None:
    """Compile before anything is timed."""
    simulate(random_instance(3, 3), 50, FairVOI(), seed=1)


def shown(results: Iterator[Played], total: int) -> Iterator[Played]:
    """With a line of progress on a terminal."""
    write: Callable[[str], object] = sys.stderr.write if sys.stderr.isatty() else len
    for done, result in enumerate(results, 1):
        write(f"\r{done} of {total} instances\r")
        yield result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tuning", action="store_true")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    names = [*SUITES, SPEED]
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    options = parser.parse_args()
    first = TUNING_SEED if options.tuning else REPORT_SEED
    part = 10 if options.quick else 1
    settings = [
        replace(setting, runs=max(1, setting.runs // part))
        for name in options.only
        for setting in SUITES.get(name, [])
    ]
    bars = Bars()
    if settings:
        run_settings(settings, first, options.workers, bars)
    if SPEED in options.only:  # when the workers are gone
        run_speed(bars)
    return bars.close()


if __name__ == "__main__":
    sys.exit(main())
