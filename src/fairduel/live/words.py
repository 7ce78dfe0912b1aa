"""Sentences for people, made from what learners and recommendations say in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairduel.learners.learner import Rationale

_WITHOUT_A_PAIR = {
    "nothing-asked": "Nothing has been asked yet.",
    "exploit": (
        "Both were drawn from the present policy: no answers are worth asking for at a cost."
    ),
    "drawn-along": "Both are the same, or were drawn along with pairs that are worth asking about.",
}
_ABOUT = {"winner": "what a user's favourite is", "scores": "how good they are"}


def why(rationale: Rationale | None, arms: Sequence[str]) -> str:
    """Say why a pair was chosen; "" if the learner does not."""
    if rationale is None:
        return ""
    if rationale.pair is None:
        return _WITHOUT_A_PAIR[rationale.kind]
    first, second = (arms[k] for k in rationale.pair)
    these = "this round" if rationale.rounds == 1 else f"{rationale.rounds:,} rounds"
    return (
        f"To learn {_ABOUT[rationale.kind]}: in rounds of the present policy, the answers of "
        f"{these} bring {_number(rationale.gain)} in the time to come and cost "
        f"{_number(rationale.cost)}; {rationale.share:.0%} of what they bring is for votes on "
        f"{first} and {second}."
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


def near_best(probability: float) -> str:
    """Say how likely the policy is to be near the best."""
    return f"With probability {probability:.0%} no policy's welfare is more than 1% better."


def worth_asking(duels: int) -> str:
    """Say whether to go on asking."""
    if duels == 0:
        return "It is time to stop asking: more answers would cost more than they bring."
    return f"About {duels:,} more {'duel is' if duels == 1 else 'duels are'} worth asking."


def _number(number: float) -> str:
    return f"{number:,.0f}" if number >= 10.0 or number < 0.005 else f"{number:.2g}"
