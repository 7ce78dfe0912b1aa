"""A team of four finds out where to have lunch: eight places, 200 days, and people skip votes.

    python examples/lunch.py

Every day two places are named and whoever feels like it says which one they would rather go to.
The votes here are made up; in real life they come from people, and everything else stays as it
is. In the end nobody is left out: places are taken in turn so that the product of everybody's
satisfaction is highest.
"""

from __future__ import annotations

import numpy as np

from fairduel import Duel, Session

PEOPLE = ["Ann", "Bob", "Cleo", "Dan"]
PLACES = ["noodles", "curry", "salad", "pizza", "tacos", "soup", "sushi", "canteen"]
DAYS = 200
VOTES = 0.7  # how often a person answers at all

# How much each person likes each place; only the made-up votes know it.
LIKES = np.array(
    [
        [2.0, 1.5, 3.5, 0.0, 1.0, 2.5, 3.0, 0.5],  # Ann: light
        [2.5, 3.5, 0.0, 2.0, 3.0, 1.0, 0.5, 1.0],  # Bob: hot
        [1.0, 0.5, 2.5, 1.5, 0.5, 3.5, 2.0, 0.0],  # Cleo: light too
        [1.5, 1.0, 0.0, 3.5, 2.5, 0.5, 1.0, 2.0],  # Dan: filling
    ]
)


def votes(duel: Duel, rng: np.random.Generator) -> dict[str, str | None]:
    """What people say, if they say anything: the better liked, the likelier."""
    left, right = PLACES.index(duel.left), PLACES.index(duel.right)
    said: dict[str, str | None] = {}
    for person, likes in zip(PEOPLE, LIKES, strict=True):
        chance = 1.0 / (1.0 + np.exp(1.5 * (likes[right] - likes[left])))
        choice = duel.left if rng.random() < chance else duel.right
        said[person] = choice if rng.random() < VOTES else "skip"
    return said


def report(session: Session) -> None:
    """What a person wants to see."""
    seen = session.outlook()
    policy = session.policy().policy
    turns = sorted(((p, place) for place, p in policy.items() if p > 0.005), reverse=True)
    print(f"\nAfter {session.rounds} days")
    print(
        "  Go to " + ", ".join(f"{place} {share:.0%}" for share, place in turns) + " of the time."
    )
    for person, utility in seen.utilities.items():
        doubt = "  (likes go round in a circle)" if person in seen.without_winner else ""
        print(
            f"  {person:5s} gets {utility.mean:4.0%} of always having {seen.favourites[person]}, "
            f"most likely between {utility.low:.0%} and {utility.high:.0%}{doubt}"
        )
    print(f"  Within 1 % of the best: with probability {seen.near_best:.0%}.")
    more = seen.duels_worth_asking
    print(f"  Keep asking for about {more} more days." if more else "  It is time to stop asking.")
    print(f"  {seen.why}")


def main() -> None:
    rng = np.random.default_rng(7)
    session = Session(PEOPLE, PLACES, horizon=DAYS, seed=1)
    for day in range(1, DAYS + 1):
        duel = session.ask()
        if duel.vote:
            session.tell(duel.id, votes(duel, rng))
        if day in (1, 10, 50, DAYS - 1):
            report(session)


if __name__ == "__main__":
    main()
