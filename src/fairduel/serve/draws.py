"""Draws that are even and can be checked.

The seed of a poll is secret while the poll runs; its SHA-256 is shown from the start. The n-th
draw takes its chance from HMAC-SHA256(seed, n), so nobody can choose it afterwards, and everybody
can compute it again once the seed is published. The second option of a live poll's decision is
drawn like the first, from HMAC-SHA256(seed, "n/2"), and has an account of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence

from fairduel.serve.records import Decision, Drawn

_DIGITS = 13  # hexadecimal: 52 bits, which a float holds exactly


def new_seed() -> str:
    """Return 256 random bits."""
    return secrets.token_hex(32)


def commitment(seed: str) -> str:
    """Return what is published of a seed at the start."""
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def chance(seed: str, number: int, side: int = 0) -> str:
    """Return the digits that a side of the draw of this number follows from."""
    text = str(number) if side == 0 else f"{number}/{side + 1}"
    return hmac.new(bytes.fromhex(seed), text.encode(), hashlib.sha256).hexdigest()


def due(
    policy: Mapping[int, float], past: Iterable[Decision], number: int, side: int = 0
) -> dict[int, float]:
    """Return what each option of a policy is owed by a side of the draw of this number.

    That is the sum of its shares up to now, less how often it was drawn. Cancelled decisions
    count for neither.
    """
    owed = dict(policy)
    for decision in past:
        if _counts(decision, number):
            drawn = decision.sides[side]
            for option, share in drawn.policy:
                if option in owed:
                    owed[option] += share
            if drawn.option in owed:
                owed[drawn.option] -= 1.0
    return owed


def decide(
    policies: Sequence[Mapping[int, float]], past: Sequence[Decision], seed: str, kind: str
) -> tuple[Drawn, ...]:
    """Draw an option from each policy, for the decision that comes after those of the past."""
    number = _next(past)
    digits = [chance(seed, number, side) for side in range(len(policies))]
    return tuple(
        Drawn(draw(policy, past, drawn, kind, side), tuple(sorted(policy.items())), drawn)
        for side, (policy, drawn) in enumerate(zip(policies, digits, strict=True))
    )


def draw(
    policy: Mapping[int, float],
    past: Sequence[Decision],
    digits: str,
    kind: str,
    side: int = 0,
) -> int:
    """Return the option that digits draw, evenly or independently of the past.

    In an even draw the chance of an option is in proportion to what it is still owed.
    """
    weights = due(policy, past, _next(past), side) if kind == "even" else dict(policy)
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
    found, unpublished = [], 0
    for place, decision in enumerate(decisions):
        who = f"decision {decision.number}"
        seed = known.get(decision.commitment)
        if decision.number != place + 1:
            found.append(f"{who} stands where number {place + 1} should")
        elif seed is None:
            unpublished += 1
        else:
            policies = [dict(side.policy) for side in decision.sides]
            right = decide(policies, decisions[:place], seed, kind)
            for side, again in zip(decision.sides, right, strict=True):
                if side.draw != again.draw:
                    found.append(f"the digits of {who} do not follow from the seed")
                elif side.option != again.option:
                    found.append(f"the option of {who} does not follow from its digits")
    if unpublished:
        found.append(
            f"the seed of {unpublished} of {len(decisions)} decisions is not among those published"
        )
    return found


def _next(past: Sequence[Decision]) -> int:
    return 1 + max((decision.number for decision in past), default=0)


def _counts(decision: Decision, number: int) -> bool:
    """Return whether a decision counts for the draw of this number."""
    cancelled = decision.cancelled_after
    return cancelled is None or number <= cancelled
