"""What a fit says to people: tables, and sentences before and after them."""

from __future__ import annotations

from html import escape

from fairduel._tables import Table, as_html, as_text, printable
from fairduel.fitting.result import Fit
from fairduel.fitting.scoring import STATED
from fairduel.live.recommendation import shares
from fairduel.report.terminal import certificate

MOST_NAMED = 3  # who are named for what they would lose, or for what to ask them
QUANTILE_NAMES = {
    0.0: "the worst off",
    0.1: "at 10%",
    0.25: "at 25%",
    0.5: "the median",
    0.75: "at 75%",
    0.9: "at 90%",
    1.0: "the best off",
}


def text(fit: Fit) -> str:
    """Return everything as plain text."""
    parts = [_lines(introduction(fit)), *map(as_text, tables(fit)), _lines(conclusion(fit))]
    return "\n\n".join(parts)


def html(fit: Fit) -> str:
    """Return everything for a notebook."""
    before, after = (
        [f"<p>{escape(said)}</p>" for said in part] for part in (introduction(fit), conclusion(fit))
    )
    return "".join([*before, *map(as_html, tables(fit)), *after])


def introduction(fit: Fit) -> list[str]:
    """Say what was read, and how it was understood."""
    ballots = fit.ballots
    said = "pairs in order" if ballots.kind == "orders" else "votes"
    size = (
        f"{len(ballots.users):,} users, {len(ballots.options):,} options, "
        f"{ballots.answers.sum():,.10g} {said}."
    )
    says = "tie says" if ballots.both_bad == 1 else "ties say"
    bad = [f"{ballots.both_bad:,.10g} {says} that both are bad."] if ballots.both_bad else []
    return [f"{ballots.said}.", " ".join([size, *bad, _weighted(fit)]), _scored(fit)]


def tables(fit: Fit) -> list[Table]:
    """Return the policy, and what each user gets from it, or quantiles if there are many."""
    chosen = Table(("Choose", "how often"), shares(fit.policy), right=(1,))
    return [chosen, _users(fit) if fit.named else _quantiles(fit)]


def conclusion(fit: Fit) -> list[str]:
    """Say what the majority's choice would do, what fairness costs, and what proves the choice."""
    return [*majority(fit), price(fit), proof(fit), *questions(fit)]


def majority(fit: Fit) -> list[str]:
    """Say what the majority's single choice is, and who would be worse off with it."""
    option, losers = fit.majority.option, fit.worse_off
    why = (
        "which more than half prefer to every other option"
        if fit.majority.beats_all
        else "which comes nearest: none is preferred to every other by more than half"
    )
    first = f"By majority it would always be {option}, {why}."
    if not losers:
        return [first, "Nobody would be worse off with that."]
    users = fit.ballots.users
    count = f"{len(losers):,} of {len(users):,} users would be worse off with that"
    named = list(losers)[:MOST_NAMED] if fit.named else []
    gets = dict(zip(users, fit.majority.utilities.tolist(), strict=True)) if named else {}
    each = [
        f"{user} with {gets[user]:.0%} instead of {fit.utilities[user].mean:.0%}" for user in named
    ]
    most = f", by {100 * max(losers.values()):.0f} percentage points at most" if not named else ""
    return [first, f"{count}{most}{': ' if each else ''}{', '.join(each)}."]


def price(fit: Fit) -> str:
    """Say what fairness costs on the average."""
    return (
        f"The price of fairness is {fit.price_of_fairness:.1%}: the mean utility is that much "
        "below the highest that any policy reaches."
    )


def proof(fit: Fit) -> str:
    """Say how far from the best the policy is, at most."""
    return f"Certificate: {certificate(fit.solution, fit.welfare)}."


def questions(fit: Fit) -> list[str]:
    """Say whom to ask what next."""
    each = [f"{one.user} about {one.left} and {one.right}" for one in fit.questions[:MOST_NAMED]]
    return [f"Most would be learned by asking {', or '.join(each)}."] if each else []


def _weighted(fit: Fit) -> str:
    """Say how much each user counts."""
    if fit.per == "group":
        return "Each user counts the same, whatever its size (per group)."
    return "Each person counts the same (per person)."


def _scored(fit: Fit) -> str:
    """Say what utilities are relative to, and why orders are scored as they are."""
    if fit.ballots.kind == "votes":
        return (
            f"100% is a user's own favourite all the time, as far as the votes tell it "
            f"({fit.scoring} scores)."
        )
    by_places = (
        "100% is a user's own favourite all the time, and other options count by their places "
        "(borda scores): if only favourites counted, second choices would be worth nothing."
    )
    own = f"100% is a user's own favourite all the time ({fit.scoring} scores)."
    return by_places if fit.scoring == STATED else own


def _users(fit: Fit) -> Table:
    """Return what each user gets."""
    people = fit.ballots.people if fit.ballots.grouped else None
    columns = {
        "User": list(fit.ballots.users),
        "favourite": [favourite or "(none)" for favourite in fit.favourites.values()],
        "people": [] if people is None else [f"{count:,.10g}" for count in people],
        "gets": [f"{gets.mean:.0%}" for gets in fit.utilities.values()],
        "95% interval": []
        if fit.interval is None
        else [f"{gets.low:.0%} to {gets.high:.0%}" for gets in fit.utilities.values()],
        "by majority": [f"{utility:.0%}" for utility in fit.majority.utilities],
    }
    shown = {heading: cells for heading, cells in columns.items() if cells}
    rows = list(zip(*shown.values(), strict=True))
    return Table(tuple(shown), rows, right=tuple(range(2, len(shown))))


def _quantiles(fit: Fit) -> Table:
    """Return what the worst off get, those in the middle, and those at the top."""
    rows = [
        (QUANTILE_NAMES[share], f"{here:.0%}", f"{there:.0%}")
        for share, (here, there) in fit.quantiles.items()
    ]
    return Table(("Users, from the worst off", "gets", "by majority"), rows, right=(1, 2))


def _lines(sentences: list[str]) -> str:
    return "\n".join(map(printable, sentences))
