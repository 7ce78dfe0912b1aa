"""What each option is worth to each user: stated orders as they are, votes by their posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairduel._arrays import Bools, Floats
from fairduel.data import Ballots
from fairduel.inference import Posterior, infer
from fairduel.inference.alike import LARGEST, infer_alike, infer_votes
from fairduel.inference.strengths import KEPT
from fairduel.scorings import SCORINGS, check_scoring

BLOCK = 1 << 22  # draws of scores at a time: 32 MB
DRAWS = 4000  # of a user's scores, if users are few: means have a standard error below 0.008
FEW = 1 << 20  # draws of scores that take a second
MOST_DRAWS = 1 << 27  # draws that are kept for intervals: 256 MB
SHOWN = 25  # users that are named one by one; with more of them quantiles say more

STATED = "borda"
VOTED = "condorcet"

Progress = Callable[[int], object]
"""What is told, now and then, how many more users have been looked at."""


@dataclass(frozen=True, eq=False)
class Scores:
    """What is known of all users.

    means: (D, K) the score of each option, in [0, 1]. draws: (n, D, K) from its posterior, in half
    precision (off by 0.0005 at most); None where scores are known, or users too many. prefer:
    (K, K) the share of the users, by weight, who prefer option i to j. silent: (D,) who prefers
    no option to any other.
    """

    means: Floats
    draws: NDArray[Any] | None
    prefer: Floats
    silent: Bools

    def interval(self, policy: Floats) -> tuple[Floats, Floats] | None:
        """Return between what each user's utility is with probability 95 %, if it is not known."""
        if self.draws is None:
            return None
        utilities = self.means @ policy
        low, high = np.empty((2, len(utilities)))
        size = block_size(len(policy), VOTED)
        for start in range(0, len(utilities), size):
            part = slice(start, start + size)
            drawn = self.draws[:, part].astype(np.float64) @ policy
            low[part], high[part] = np.quantile(drawn, [0.025, 0.975], axis=0, method="weibull")
        # A few far draws may take the mean out of the interval.
        return np.minimum(low, utilities), np.maximum(high, utilities)


def default_scoring(ballots: Ballots) -> str:
    """Return how ballots are scored by default.

    With a single order P is 0 or 1, and 2 P is 0 for all but the favourite: Condorcet's scores
    would leave a lottery over favourites. Borda's say how far down an option is.
    """
    return STATED if ballots.kind == "orders" else VOTED


def block_size(options: int, scoring: str) -> int:
    """Return how many users are looked at together."""
    drawn = options if scoring == VOTED else options * options // 2  # scores, or preferences
    return max(1, BLOCK // max(options * options, KEPT * drawn))


def score(
    ballots: Ballots, weights: Floats, scoring: str, progress: Progress | None = None
) -> Scores:
    """Return what ballots say of every user; ``weights`` are the users'.

    Users are taken in blocks. Those of a block are alike in how much their tastes vary and have in
    common, which is learnt from all of them; a block has some thousand users with ten options.
    """
    check_scoring(scoring)
    users, options = len(ballots.users), len(ballots.options)
    voted = ballots.kind == "votes"
    count = min(DRAWS, max(KEPT, FEW // (users * options)))
    alike = scoring == VOTED and users * options <= LARGEST
    keep = voted and count * users * options <= MOST_DRAWS
    means = np.empty((users, options))
    draws = np.empty((count, users, options), np.float16) if keep else None
    prefer, silent = np.zeros((options, options)), np.empty(users, bool)
    size = block_size(options, scoring)
    for start in range(0, users, size):
        part = slice(start, min(start + size, users))
        wins = ballots.wins(part.start, part.stop)
        silent[part] = (wins == wins.transpose(0, 2, 1)).all(axis=(1, 2))
        if voted:
            posterior = _posterior(wins, scoring, count, alike)
            means[part] = posterior.scores
            above = np.exp(posterior.log_beats).transpose(0, 2, 1)
            if draws is not None:
                draws[:, part] = posterior.sample(np.random.default_rng([start, count]), count)
        else:
            above = ballots.shares(part.start, part.stop)
            means[part] = SCORINGS[scoring].score(above)
        prefer += np.tensordot(weights[part], above, 1)
        if progress is not None:
            progress(part.stop - part.start)
    return Scores(means, draws, prefer / weights.sum(), silent)


def _posterior(wins: Floats, scoring: str, draws: int, alike: bool) -> Posterior:
    """Return what votes say; ``alike``: also by who resembles whom, as sessions have it."""
    if not alike:
        return infer(wins, scoring=scoring, draws=draws)
    return infer_votes(wins, infer_alike(wins))
