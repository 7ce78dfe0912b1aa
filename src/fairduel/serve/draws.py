"""Draws that are even and can be checked.

The seed of a poll is secret while the poll runs; its SHA-256 is shown from the start. The n-th
draw takes its chance from HMAC-SHA256(seed, n), so nobody can choose it afterwards, and everybody
can compute it again once the seed is published.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence

from fairduel.serve.records import Decision

_DIGITS = 13  # hexadecimal: 52 bits, which a float holds exactly


def new_seed() -> str:
    """Return 256 random bits."""
    return secrets.token_hex(32)


def commitment(seed: str) -> str:
    """Return what is published of a seed at the start."""
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def chance(seed: str, number: int) -> str:
    """Return the digits that the draw of this number follows from."""
    return hmac.new(bytes.fromhex(seed), str(number).encode(), hashlib.sha256).hexdigest()


def due(policy: Mapping[int, float], past: Iterable[Decision], number: int) -> dict[int, float]:
    """Return what each option of a policy is owed by the draw of this number.

    That is the sum of its shares up to now, less how often it was drawn. Cancelled decisions
    count for neither.
    """
    owed = dict(policy)
    for decision in past:
        if _counts(decision, number):
            for option, share in decision.policy:
                if option in owed:
                    owed[option] += share
            if decision.option in owed:
                owed[decision.option] -= 1.0
    return owed


def draw(policy: Mapping[int, float], past: Sequence[Decision], digits: str, kind: str) -> int:
    """Return the option that digits draw, evenly or independently of the past.

    In an even draw the chance of an option is in proportion to what it is still owed.
    """
    number = 1 + max((decision.number for decision in past), default=0)
    weights = due(policy, past, number) if kind == "even" else dict(policy)
    weights = {option: max(weight, 0.0) for option, weight in weights.items()}
    if not sum(weights.values()) > 0.0:  # options that are owed a lot may have been retired
        weights = dict(policy)
    left = int(digits[:_DIGITS], 16) / 16**_DIGITS * sum(weights.values())
    chosen = None
    for option in sorted(weights):
        if weights[option] > 0.0:
            chosen = option
            left -= weights[option]
            if left < 0.0:
                break
    assert chosen is not None  # shares add up to 1
    return chosen


def problems(decisions: Sequence[Decision], seeds: Iterable[str], kind: str) -> list[str]:
    """Return what is wrong with decisions, drawn from these seeds; nothing if all are right."""
    known = {commitment(seed): seed for seed in seeds}
    found = []
    for place, decision in enumerate(decisions):
        who = f"decision {decision.number}"
        seed = known.get(decision.commitment)
        if decision.number != place + 1:
            found.append(f"{who} stands where number {place + 1} should")
        elif seed is None:
            found.append(f"the seed of {who} is not published: its poll is still running")
        elif decision.draw != chance(seed, decision.number):
            found.append(f"the digits of {who} do not follow from the seed")
        elif decision.option != draw(dict(decision.policy), decisions[:place], decision.draw, kind):
            found.append(f"the option of {who} does not follow from its digits")
    return found


def _counts(decision: Decision, number: int) -> bool:
    """Return whether a decision counts for the draw of this number."""
    cancelled = decision.cancelled_after
    return cancelled is None or number <= cancelled
