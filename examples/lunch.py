"""A team of four finds out where to have lunch: eight places, 200 days, and people skip votes.

    python examples/lunch.py           the votes are made up
    python examples/lunch.py --live    you type them, for as many days as you like

Every day two places are named and whoever feels like it says which one they would rather go to.
Places are then taken in turn so that the product of everybody's satisfaction is highest.
"""

from __future__ import annotations

import argparse

import numpy as np

from fairduel import TIE, Duel, Session

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


def made_up_votes(duel: Duel, rng: np.random.Generator) -> dict[str, str | None]:
    """What people say, if they say anything: the better liked, the likelier."""
    left, right = PLACES.index(duel.left), PLACES.index(duel.right)
    said: dict[str, str | None] = {}
    for person, likes in zip(PEOPLE, LIKES, strict=True):
        chance = 1.0 / (1.0 + np.exp(1.5 * (likes[right] - likes[left])))
        choice = duel.left if rng.random() < chance else duel.right
        said[person] = choice if rng.random() < VOTES else "skip"
    return said


def typed_vote(duel: Duel, person: str) -> str | None:
    """What a person types: a place, 1 or 2 for it, "tie", or nothing at all to skip."""
    meant = {"1": duel.left, "2": duel.right, "": None, TIE: TIE}
    meant |= {place: place for place in (duel.left, duel.right)}
    while True:
        said = input(f"  {person}: ").strip().lower()
        if said in meant:
            return meant[said]
        print(f"  Type 1 for {duel.left}, 2 for {duel.right}, tie, or nothing to skip.")


def report(session: Session) -> None:
    """What a person wants to see."""
    seen = session.outlook()
    turns = sorted(((p, place) for place, p in seen.policy.items() if p > 0.005), reverse=True)
    print(f"\nAfter {days(session.rounds)}")
    print(
        "  Go to " + ", ".join(f"{place} {share:.0%}" for share, place in turns) + " of the time."
    )
    for person, utility in seen.utilities.items():
        if seen.favourites[person] is not None:
            print(
                f"  {person:5s} gets {utility.mean:4.0%} of always having "
                f"{seen.favourites[person]}, "
                f"most likely between {utility.low:.0%} and {utility.high:.0%}."
            )
    for remark in seen.remarks:  # about those whose favourite is not clear, or not known yet
        print(f"  {remark}")
    print(f"  With probability {seen.near_best:.0%} no other plan is more than 1 % better.")
    print(f"  {whether_to_ask(session, seen.duels_worth_asking)}")
    print(f"  {seen.why}")


def whether_to_ask(session: Session, more: int) -> str:
    """What the number of duels that are worth asking means."""
    if more:
        return f"Keep asking for about {days(more)} more."
    if session.horizon is not None and session.rounds >= session.horizon:
        return f"The {days(session.horizon)} are over: that is the best guess."
    return (
        "It is time to stop asking: even if there is a better plan, the days to come would not "
        "make up for the poor lunches that it takes to find it."
    )


def days(count: int) -> str:
    return f"{count} day" if count == 1 else f"{count} days"


def scripted() -> None:
    """All the days, with made-up votes."""
    rng = np.random.default_rng(7)
    session = Session(PEOPLE, PLACES, horizon=DAYS, seed=1)
    for day in range(1, DAYS + 1):
        duel = session.ask()
        if duel.vote:
            session.tell(duel, made_up_votes(duel, rng))
        if day in (1, 10, 50, 150, DAYS):
            report(session)


def live(seed: int | None = None) -> None:
    """Day after day until somebody ends the input; nobody knows how many days there will be."""
    session = Session(PEOPLE, PLACES, seed=seed)
    print("Type 1 or 2, tie, or nothing to skip. Ctrl-D (Ctrl-Z and Enter on Windows) ends it.")
    try:
        while True:
            duel = session.ask()
            if duel.vote:
                print(f"\nDay {duel.id}: {duel.left} (1) or {duel.right} (2)?")
                for person in PEOPLE:
                    session.tell(duel, {person: typed_vote(duel, person)})
                report(session)
            else:
                input(f"\nDay {duel.id}: {duel.left}, and nothing to ask. Enter goes on. ")
    except (EOFError, KeyboardInterrupt):
        report(session)


def main() -> None:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--live", action="store_true", help="type the votes by hand")
    live() if parser.parse_args().live else scripted()


if __name__ == "__main__":
    main()
