"""The votes of a live session, from the file or the journal that it is kept in."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from fairduel.data.ballots import Ballots
from fairduel.data.pairwise import LEFT, RIGHT, SKIP, TIE, pair_counts, sentence
from fairduel.data.rankings import frozen
from fairduel.errors import InputError

FORMAT = re.compile(r'\s*\{\s*"format": "fairduel (session|journal)",\s*"version": (\d+)')
VERSION = 1  # of either, as ``live.storage`` writes it


def is_session(head: str) -> bool:
    """Return whether a text begins like a session that fairduel has written."""
    return FORMAT.match(head) is not None


def parse_session(text: str) -> Ballots:
    """Return the votes in a session file or a journal; all users and options are in them."""
    found = FORMAT.match(text)
    if found is None or int(found[2]) != VERSION:
        raise InputError(f"it is no session of version {VERSION}: update fairduel.")
    try:
        if found[1] == "session":
            document = json.loads(text)
            duels = document["duels"]
        else:
            document, duels = _journal(text)
        users = {name: d for d, name in enumerate(document["users"])}
        options = {name: k for k, name in enumerate(document["arms"])}
        votes = [vote for duel in duels for vote in _votes(duel, users, options)]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError("the session in it is damaged: use an earlier copy.") from error
    if not votes:
        raise InputError("the session in it has no votes yet: ask and tell first.")
    user, left, right, meaning = np.array(votes).T
    telling = votes[int(np.argmax(meaning <= RIGHT))]
    names, arms = tuple(users), tuple(options)
    example = sentence(names[telling[0]], arms[telling[1]], arms[telling[2]], telling[3])
    return Ballots(
        "votes",
        names,
        arms,
        pair_counts(user, left, right, meaning, np.ones(len(user))),
        frozen(np.ones(len(names))),
        f"read as the votes of a session; for example: {example}",
    )


def _journal(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the session as it began, and all duels since with their answers.

    A last line without its end was cut off before it counted.
    """
    first, *events = [json.loads(line) for line in text.split("\n")[:-1]]
    duels = [dict(duel) for duel in first["session"]["duels"]]
    for event in events:
        if "asked" in event:
            duels.append({"left": event["left"], "right": event["right"], "answers": {}})
        else:
            duel = duels[event["told"] - 1]
            duel["answers"] = {**duel["answers"], **event["answers"]}
    return first["session"], duels


def _votes(
    duel: dict[str, Any], users: dict[str, int], options: dict[str, int]
) -> list[tuple[int, int, int, int]]:
    """Return user, left, right and meaning of all answers to a duel of two options."""
    left, right = duel["left"], duel["right"]
    meanings = {left: LEFT, right: RIGHT, "tie": TIE, "skip": SKIP}
    answers = duel["answers"].items() if left != right else ()
    shown = (options[left], options[right])
    return [(users[user], *shown, meanings[answer]) for user, answer in answers]
