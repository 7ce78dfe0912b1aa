"""Draws: even, checkable, and what they do on average."""

import dataclasses
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel.serve import acts, draws
from fairduel.serve.records import Decision, Drawn, Settings
from poll_tables import Table, frame

SEED = "00" * 32


def test_chance_is_what_everybody_can_compute() -> None:
    # printf 1 | openssl dgst -sha256 -mac HMAC -macopt hexkey:$(printf '00%.0s' $(seq 32))
    expected = "41e0a9448f91edba4b05c6c2fc0edb1d6418aa292b5b2942637bec43a29b9523"
    assert draws.chance(SEED, 1) == expected
    # head -c 32 /dev/zero | sha256sum
    known = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
    assert draws.commitment(SEED) == known


def drawn(policies: list[dict[int, float]], seed: str, kind: str = "even") -> list[Decision]:
    made: list[Decision] = []
    for number, policy in enumerate(policies, 1):
        sides = draws.decide([policy], made, seed, kind)
        made.append(Decision(number, sides, draws.commitment(seed), 0, 0.0))
    return made


def changed(decision: Decision, **fields: Any) -> Drawn:
    return decision.sides[0]._replace(**fields)


shares = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)


@given(st.lists(shares, min_size=1, max_size=30), st.integers(0, 2**32))
def test_no_option_is_served_long_before_or_after_it_is_due(
    weights: list[list[int]], seed: int
) -> None:
    policies = [{k: w / sum(row) for k, w in enumerate(row)} for row in weights]
    made = drawn(policies, f"{seed:064x}")
    served = Counter(decision.options[0] for decision in made)
    for option in range(3):
        due = sum(Fraction(row[option], sum(row)) for row in weights)
        assert served[option] - due < 1  # nothing is drawn that is not owed
    assert not draws.problems(made, [f"{seed:064x}"], "even")


def test_an_even_draw_has_the_chances_of_the_policy_at_first() -> None:
    policy = {0: 0.2, 1: 0.5, 2: 0.3}
    counts = Counter(drawn([policy], f"{seed:064x}")[0].options[0] for seed in range(4000))
    for option, share in policy.items():
        assert abs(counts[option] / 4000 - share) < 4 * (share * (1 - share) / 4000) ** 0.5


def test_even_draws_hold_the_promise_sooner_than_independent_ones() -> None:
    policy = {0: 0.55, 1: 0.45}

    def worst(kind: str) -> float:
        off = []
        for seed in range(200):
            made = drawn([policy] * 20, f"{seed:064x}", kind)
            off.append(abs(sum(d.options[0] == 0 for d in made) - 11))
        return sorted(off)[190]

    assert worst("even") <= 1
    assert worst("independent") >= 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"option": 1}, "option of decision 2"),
        ({"draw": "0" * 64}, "digits of decision 2"),
        ({"commitment": "ab"}, "seed of 1 of 3 decisions"),
        ({"number": 3}, "decision 3 stands where number 2"),
    ],
)
def test_what_was_changed_afterwards_is_found(change: dict[str, object], said: str) -> None:
    made = drawn([{0: 0.9999, 1: 0.0001}] * 3, SEED)
    assert [decision.options[0] for decision in made] == [0, 0, 0]
    if change.keys() & {"option", "draw"}:
        change = {"sides": (changed(made[1], **change),)}
    made[1] = dataclasses.replace(made[1], **change)  # type: ignore[arg-type]
    found = draws.problems(made, [SEED], "even")
    assert said in found[0]


def test_another_policy_is_found() -> None:
    made = drawn([{0: 1.0, 1: 0.0}] * 2, SEED)
    made[0] = dataclasses.replace(made[0], sides=(changed(made[0], policy=((0, 0.0), (1, 1.0))),))
    assert draws.problems(made, [SEED], "even")


# Decisions of a poll


def test_decisions_are_checked_after_the_poll_is_closed_and_reopened() -> None:
    table = Table(frame())
    policy = dict.fromkeys(range(4), 0.25)
    for number in (1, 2, 3):
        table.write(acts.decide(table.ledger, number, [policy], 0))
    table.write(acts.cancel(table.ledger, 2, "it rained"))
    table.write(acts.decide(table.ledger, 4, [policy], 0))
    found = draws.problems(table.ledger.frame.decisions, table.ledger.seeds, "even")
    assert len(found) == 1
    assert "seed of 4 of 4 decisions is not among those published" in found[0]
    table.write(acts.set_state(table.ledger, "closed"))
    assert not draws.problems(table.ledger.frame.decisions, table.ledger.seeds, "even")
    table.write(acts.set_state(table.ledger, "open"))
    table.write(acts.decide(table.ledger, 5, [policy], 0))
    first, last = table.ledger.frame.decisions[0], table.ledger.frame.decisions[-1]
    assert first.commitment != last.commitment  # the first seed is known by now
    assert len(draws.problems(table.ledger.frame.decisions, table.ledger.seeds, "even")) == 1
    table.write(acts.set_state(table.ledger, "closed"))
    assert not draws.problems(table.ledger.frame.decisions, table.replayed().seeds, "even")


def test_a_decision_is_drawn_once() -> None:
    table = Table(frame())
    policy = dict.fromkeys(range(4), 0.25)
    table.write(acts.decide(table.ledger, 1, [policy], 0))
    table.write(acts.decide(table.ledger, 1, [policy], 0))
    assert len(table.ledger.frame.decisions) == 1
    with pytest.raises(acts.Refused, match="next decision has number 2"):
        acts.decide(table.ledger, 3, [policy], 0)


def test_a_cancelled_decision_is_owed_again() -> None:
    policy = {0: 0.5, 1: 0.5}
    first = drawn([policy], SEED)[0]
    cancelled = dataclasses.replace(first, cancelled_after=1)
    assert draws.due(policy, [first], 2)[first.options[0]] == 0.0
    assert draws.due(policy, [cancelled], 2) == policy
    late = dataclasses.replace(first, cancelled_after=2)  # the second draw had counted it
    assert draws.due(policy, [late], 2)[first.options[0]] == 0.0
    assert draws.due(policy, [late], 3) == policy


def test_a_retired_option_is_not_drawn() -> None:
    past = drawn([{0: 0.5, 1: 0.5}] * 2, SEED)
    for digits in ("0" * 64, "f" * 64):
        assert draws.draw({1: 0.3, 2: 0.7}, past, digits, "even") in (1, 2)


def test_independent_draws_are_a_setting() -> None:
    table = Table(frame(settings=Settings(draw="independent")))
    policy = {0: 0.5, 1: 0.5, 2: 0.0, 3: 0.0}
    for number in range(1, 30):
        table.write(acts.decide(table.ledger, number, [policy], 0))
    table.write(acts.set_state(table.ledger, "closed"))
    made = table.ledger.frame.decisions
    assert not draws.problems(made, table.ledger.seeds, "independent")
    assert draws.problems(made, table.ledger.seeds, "even")
