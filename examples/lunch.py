"""Where does the team have lunch today? Everybody answers a few questions, and a place is drawn.

    python examples/lunch.py                        the people and their votes are made up
    python examples/lunch.py lunch.json --people Ann Bob Cleo --places noodles curry salad soup
    python examples/lunch.py lunch.json             go on the next day
    python examples/lunch.py lunch.json --without Bob    Bob is not here today

Questions cost only time, so each person is asked what is most worth knowing of them. Places are
drawn so that the product of everybody's satisfaction is highest in the long run. All votes are kept
in the file, which is written after every answer.
"""

from __future__ import annotations

import argparse
import os
import sys

import numpy as np

from fairduel import TIE, InputError, Session

PEOPLE = ["Ann", "Bob", "Cleo", "Dan"]
PLACES = ["noodles", "curry", "salad", "pizza", "tacos", "soup", "sushi", "canteen"]

# How much each person likes each place; only the made-up votes know it.
LIKES = np.array(
    [
        [2.0, 1.5, 3.5, 0.0, 1.0, 2.5, 3.0, 0.5],  # Ann: light
        [2.5, 3.5, 0.0, 2.0, 3.0, 1.0, 0.5, 1.0],  # Bob: hot
        [1.0, 0.5, 2.5, 1.5, 0.5, 3.5, 2.0, 0.0],  # Cleo: light too
        [1.5, 1.0, 0.0, 3.5, 2.5, 0.5, 1.0, 2.0],  # Dan: filling
    ]
)


def made_up_vote(person: str, left: str, right: str, rng: np.random.Generator) -> str:
    """What somebody says: the better liked, the likelier."""
    likes = LIKES[PEOPLE.index(person)]
    ahead = likes[PLACES.index(left)] - likes[PLACES.index(right)]
    return left if rng.random() < 1.0 / (1.0 + np.exp(-1.5 * ahead)) else right


def typed_vote(left: str, right: str) -> str:
    """What somebody types: 1 or 2, the place itself, "tie", or nothing to skip."""
    meant = {"1": left, "2": right, "": "skip", TIE: TIE, left.lower(): left, right.lower(): right}
    while True:
        said = input(f"  {left} (1) or {right} (2)? ").strip().lower()
        if said in meant:
            return meant[said]
        print(f"  Type 1 for {left}, 2 for {right}, tie, or nothing to skip.")


def report(session: Session) -> None:
    """What a team wants to see."""
    seen = session.outlook()
    turns = sorted(((p, place) for place, p in seen.policy.items() if p > 0.005), reverse=True)
    shares = ", ".join(f"{place} {share:.0%}" for share, place in turns)
    print(f"\nGo to {shares} of the time.")
    for person, gets in seen.utilities.items():
        if seen.favourites[person] is not None:
            print(
                f"  {person} gets {gets.mean:.0%} of always having {seen.favourites[person]}, "
                f"most likely between {gets.low:.0%} and {gets.high:.0%}."
            )
    for remark in seen.remarks:  # about those whose favourite is not clear, or not known yet
        print(f"  {remark}")
    share = seen.share
    print(
        f"  This should give {share.mean:.0%} of the best that could be had "
        f"({share.low:.0%} to {share.high:.0%})."
    )
    print("  No more questions are needed." if seen.enough else f"  {who_could_help(session)}")


def who_could_help(session: Session) -> str:
    """Whose answers would help: not of those who have answered everything."""
    able = [name for name in session.users if session.question(name) is not None]
    if not able:
        return "Everybody has answered everything."
    if len(able) == len(session.users):
        return "More answers would help."
    return f"More answers of {' and '.join(able)} would help."


def made_up() -> None:
    """Nine questions each, with made-up votes."""
    session, rng = Session(PEOPLE, PLACES, seed=1), np.random.default_rng(7)
    for answers in range(1, 10):
        for person in PEOPLE:
            question = session.question(person)
            assert question is not None
            said = made_up_vote(person, question.left, question.right, rng)
            session.vote(person, question.left, question.right, said)
        if answers in (3, 9):
            print(f"\nAfter {answers} answers each", end="")
            report(session)


def today(
    file: str, people: list[str], places: list[str], without: list[str], questions: int
) -> None:
    """Ask whoever is here, and draw a place for them."""
    session = Session.load(file) if os.path.exists(file) else Session(people, places)
    for name in people:
        session.add_user(name)
    for name in places:
        session.add_arm(name)
    for name in without:
        if name not in session.users:
            raise InputError(f"{name!r} is not among the people: {', '.join(session.users)}.")
    if set(without) >= set(session.users):
        raise InputError("nobody is here today: name somebody less after --without.")
    session.save(file)
    print("Type 1 or 2, tie, or nothing to skip. Ctrl-D (Ctrl-Z and Enter on Windows) ends asking.")
    try:
        for person in [name for name in session.users if name not in without]:
            print(f"\n{person}:")
            for _ in range(questions):
                question = session.question(person)
                if question is None:
                    print("  You have answered everything.")
                    break
                said = typed_vote(question.left, question.right)
                session.vote(person, question.left, question.right, said)
                session.save(file)
    except (EOFError, KeyboardInterrupt):
        print()
    for name in without:  # for today: that is not saved
        session.remove_user(name)
    report(session)
    policy = session.recommend().policy
    place = np.random.default_rng().choice(list(policy), p=list(policy.values()))
    print(f"\nToday: {place}")


def check(given: argparse.Namespace) -> None:
    """Refuse what would be left out silently."""
    options = ("people", "places", "without", "questions")
    needless = [name for name in options if getattr(given, name)]
    if given.file is None and needless:
        raise InputError(
            f"--{needless[0]} is given, but no file: name one to keep the votes in, like "
            "lunch.json, before it."
        )
    if given.questions is not None and given.questions < 0:
        raise InputError(f"--questions is {given.questions}: give a number from 0 on.")


def main() -> None:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", help="where the votes are kept")
    parser.add_argument("--people", nargs="+", default=[], help="who votes, or joins")
    parser.add_argument("--places", nargs="+", default=[], help="where to go, or new places")
    parser.add_argument("--without", nargs="+", default=[], help="who is not here today")
    parser.add_argument("--questions", type=int, help="for each today (default: 3)")
    given = parser.parse_args()
    try:
        check(given)
        if given.file is None:
            made_up()
        else:
            questions = 3 if given.questions is None else given.questions
            today(given.file, given.people, given.places, given.without, questions)
    except InputError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
