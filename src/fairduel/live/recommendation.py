"""What a session recommends, as people see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from fairduel._tables import Table, as_html, as_text, printable
from fairduel.learners.learner import ENOUGH
from fairduel.live import words

_NEVER = 0.005  # arms that are chosen less often than this are summed up


@dataclass(frozen=True)
class Interval:
    """A mean and the interval that holds the figure with probability 95 %, given the answers."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Recommendation:
    """How often to choose each arm, and what each user gets from that.

    policy: each arm's share. utilities: 1 is a user's own favourite all the time. favourites: the
    arm that utilities are relative to: the user's winner if it is known, else the likeliest to
    beat all others given the answers; None until a user has preferred any arm to another.
    without_winner: users for whom that arm loses to some other almost surely, so that they have
    no clear favourite.
    """

    policy: dict[str, float]
    utilities: dict[str, Interval]
    favourites: dict[str, str | None]
    without_winner: tuple[str, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each user whose favourite is not clear or not known."""
        return words.remarks(self.favourites, self.without_winner)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({in_short(self.policy)}; {len(self.utilities)} users)"

    def __str__(self) -> str:
        """Return tables and sentences for a terminal."""
        sentences = "\n".join(map(printable, self._sentences()))
        return "\n\n".join([*map(as_text, self._tables()), sentences]).rstrip()

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        sentences = (f"<p>{escape(said)}</p>" for said in self._sentences())
        return "".join([*map(as_html, self._tables()), *sentences])

    def _sentences(self) -> list[str]:
        return list(self.remarks)

    def _tables(self) -> tuple[Table, Table]:
        users = [
            (
                user,
                f"{gets.mean:.0%}",
                f"{gets.low:.0%} to {gets.high:.0%}",
                self.favourites[user] or "(not known yet)",
            )
            for user, gets in self.utilities.items()
        ]
        return (
            Table(("Choose", "how often"), shares(self.policy), right=(1,)),
            Table(("User", "gets", "95% interval", "of always having"), users, right=(1, 2)),
        )


def in_short(policy: Mapping[str, float]) -> str:
    """Return the three largest shares in a line."""
    arms = [f"{arm} {share}" for arm, share in shares(policy)]
    return ", ".join(arms[:3]) + (", ..." if len(arms) > 3 else "")


def shares(policy: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return arms and their shares, the largest first; one row sums those never chosen."""
    arms = sorted(policy.items(), key=lambda item: -item[1])
    never = [share for _, share in arms if share < _NEVER]
    named = arms[: -len(never)] if len(never) > 1 else arms
    rows = [(arm, f"{share:.0%}") for arm, share in named]
    if len(never) > 1:
        rows.append((f"{len(never)} others", f"{sum(never):.0%}"))
    return rows


@dataclass(frozen=True, repr=False)
class SessionOutlook(Recommendation):
    """A recommendation, and how far the session has come.

    share: of the best that could be had, what the policy is expected to give, with its interval;
    for the Nash welfare a share of the geometric mean of utilities. ten_more: what ten more answers
    of each user would add to it. why: why the last pair was chosen.
    """

    share: Interval
    ten_more: float
    why: str

    @property
    def enough(self) -> bool:
        """Whether to stop asking: ten more answers of each would add less than 1 %."""
        return self.ten_more < ENOUGH

    def _sentences(self) -> list[str]:
        share = self.share
        progress = words.progress(share.mean, share.low, share.high, self.ten_more, self.enough)
        return [*super()._sentences(), *progress, *filter(None, [self.why])]
