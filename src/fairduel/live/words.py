"""Sentences for people, made from what learners and recommendations say in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairduel.learners.learner import Rationale

_WITHOUT_A_PAIR = {
    "nothing-asked": "Nothing has been asked yet.",
    "exploit": (
        "Both come from what is recommended now. Asking for more votes would cost more than it "
        "brings."
    ),
    "drawn-along": "This duel came up by chance, among others that are worth asking about.",
}
_ABOUT = {"winner": "what a user likes best", "scores": "how much they are liked"}


def why(rationale: Rationale | None, arms: Sequence[str]) -> str:
    """Say why a pair was chosen, to people who know no statistics; "" if the learner does not."""
    if rationale is None:
        return ""
    if rationale.pair is None:
        return _WITHOUT_A_PAIR[rationale.kind]
    first, second = (arms[k] for k in rationale.pair)
    votes = "The votes" if rationale.rounds == 1 else f"The votes of {rationale.rounds:,} duels"
    return (
        f"We ask about {first} and {second} to learn {_ABOUT[rationale.kind]}. "
        f"{votes} should be worth {_duels(rationale.gain)} later on, and asking costs "
        f"{_duels(rationale.cost)} now. Votes on these two bring {rationale.share:.0%} of the gain."
    )


def remarks(favourites: Mapping[str, str | None], without_winner: Sequence[str]) -> tuple[str, ...]:
    """Name every user whose favourite is not clear or not known."""
    said = []
    for user, arm in favourites.items():
        if arm is None:
            said.append(f"Nothing is known yet about what {user} likes.")
        elif user in without_winner:
            said.append(
                f"{user} has no clear favourite, since none beats all others: "
                f"{arm} is taken for it."
            )
    return tuple(said)


def progress(share: float, low: float, high: float, ten_more: float, enough: bool) -> list[str]:
    """Say how good the policy is expected to be, and whether to go on asking."""
    expected = (
        f"This should give {share:.0%} of the best that could be had ({low:.0%} to {high:.0%})."
    )
    if enough:
        return [
            expected,
            "It is time to stop asking: ten more answers of each would add less than 1%.",
        ]
    return [expected, f"Ten more answers of each would add about {ten_more:.0%}."]


def _duels(number: float) -> str:
    """Say how much something is worth, in duels that go as recommended."""
    if number < 0.05:
        return "almost nothing"
    if number < 0.95:
        return f"{number:.1f} of a duel"
    return "one duel" if number < 1.5 else f"{number:,.0f} duels"
