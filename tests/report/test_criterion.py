"""How claims are judged."""

import math

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.report.criterion import (
    CRITERION,
    counted,
    described,
    fact,
    few_runs,
    more,
    more_between,
    no_result,
    noted,
    rarer,
)
from fairduel.report.document import Claim, Verdict
from fairduel.report.numbers import interval


def spread(mean: float, size: float = 1.0, count: int = 30) -> Floats:
    """Return ``count`` values around a mean, without chance."""
    return mean + size * np.linspace(-1, 1, count)


def test_verdicts_follow_the_interval() -> None:
    base = np.zeros(30)
    assert more("", base + spread(1), base).verdict is Verdict.HOLDS
    assert more("", base + spread(0.05), base).verdict is Verdict.NOISE
    assert more("", base + spread(-0.05), base).verdict is Verdict.NOISE
    assert more("", base + spread(-1), base).verdict is Verdict.FAILS
    assert str(Verdict.NOISE) == "cannot be told from noise"  # on either side


def test_pairing_sees_what_two_samples_do_not() -> None:
    low = spread(0, size=10)
    high = low + spread(0.5, size=0.1)
    assert more("", high, low).verdict is Verdict.HOLDS
    assert more_between("", high, low).verdict is Verdict.NOISE
    assert more_between("", high + 20, low).verdict is Verdict.HOLDS


def test_what_is_rare_is_judged_by_an_exact_interval() -> None:
    # None in 73 leaves at most 1 - 0.025^(1/73) = 4.93 %; in 72 it leaves 4.99 %, in 71 5.06 %.
    assert rarer("", 0, 72, 0.05).verdict is Verdict.HOLDS
    assert rarer("", 0, 71, 0.05).verdict is Verdict.NOISE
    assert rarer("", 8, 100, 0.05).verdict is Verdict.NOISE
    assert rarer("", 30, 100, 0.05).verdict is Verdict.FAILS
    assert rarer("", 0, 1, 0.05).verdict is Verdict.UNKNOWN
    found = rarer("mistakes", 1, 200, 0.05)
    assert described(found) == "mistakes: 1 of 200, from 0.01% to 2.75%"
    assert found.runs == 200


def test_failed_runs_are_left_out() -> None:
    values = spread(1.0)
    with_failure = values.copy()
    with_failure[3] = np.nan
    kept = np.delete(values, 3)
    assert more("", with_failure, 0.0) == more("", kept, 0.0)
    assert more_between("", with_failure, values) == more_between("", kept, values)
    assert interval(with_failure) == interval(kept)


def test_intervals_are_students() -> None:
    three = np.array([1.0, 2.0, 3.0])  # t of 2 degrees of freedom is 4.303
    found = more("", three, 0.0)
    assert math.isclose(found.half_width, 4.302653 / math.sqrt(3), rel_tol=1e-6)
    assert found.verdict is Verdict.NOISE  # with 1.96 it would hold
    # Samples of one size and spread have 2 (n - 1) degrees: t of 4 is 2.776.
    between = more_between("", three, three)
    assert math.isclose(between.half_width, 2.776445 * math.sqrt(2 / 3), rel_tol=1e-6)
    # If one of them has no spread, only the other one counts.
    assert math.isclose(more_between("", three, np.ones(9)).half_width, found.half_width)
    assert more_between("", np.ones(3) + 1, np.ones(3)).verdict is Verdict.HOLDS
    assert "either side" in CRITERION
    assert "Student" in CRITERION


@pytest.mark.parametrize("left", [0, 1])
def test_too_few_runs_are_no_result(left: int) -> None:
    values = np.full(5, np.nan)
    values[:left] = 7.0
    for found in (
        more("that", values, 0.0),
        more_between("that", values, spread(0)),
        more_between("that", spread(0), values),
    ):
        assert found.verdict is Verdict.UNKNOWN
        assert described(found) == "that: no result"
    whole = Claim("", "", "", (fact("", False), more("that", values, 0.0), fact("", True)))
    assert whole.verdict is Verdict.UNKNOWN
    assert whole.verdict.sign == "?"
    assert "1 without a result" in counted([whole])
    assert "without" not in counted([Claim("", "", "", (fact("", True),))])


def test_fewer_runs_than_the_papers_are_said_to_be_weak() -> None:
    full = Claim("", "", "", (more("", spread(1.0), 0.0), fact("", True)))
    few = Claim("", "", "", (more("", spread(1.0, count=3), 0.0),))
    none = Claim("", "", "", (more("", spread(1.0, count=1), 0.0),))
    assert few_runs([full, none], 30) == ""
    assert "comparisons of 3. Verdicts from fewer runs are weak" in few_runs([full, few, none], 30)
    between = Claim("", "", "", (more_between("", spread(1.0), spread(0.0, count=7)),))
    assert "comparisons of 7." in few_runs([between], 30)


def test_claims_are_counted_in_good_grammar() -> None:
    good, bad = Claim("", "", "", (fact("", True),)), Claim("", "", "", (fact("", False),))
    assert counted([good, bad]) == "1 holds, 0 cannot be told from noise, 1 does not hold here"
    assert counted([bad, bad]) == "0 hold, 0 cannot be told from noise, 2 do not hold here"


def test_a_claim_is_as_good_as_its_worst_comparison() -> None:
    good, bad = fact("so", True), fact("not so", False)
    unclear = more("", spread(0.0), 0.0)
    assert Claim("", "", "", (good, good)).verdict is Verdict.HOLDS
    assert Claim("", "", "", (good, unclear)).verdict is Verdict.NOISE
    assert Claim("", "", "", (unclear, bad, good)).verdict is Verdict.FAILS


def test_controls_count_like_the_other_comparisons() -> None:
    """What must not pass and does, or nearly, makes a test worth nothing."""
    good, bad, unclear = more("", spread(1.0), 0.0), more("", spread(-1.0), 0.0), no_result("")
    noise = more("", spread(0.0), 0.0)
    for control, verdict in (
        (good, Verdict.HOLDS),
        (noise, Verdict.NOISE),
        (bad, Verdict.FAILS),
        (unclear, Verdict.UNKNOWN),
    ):
        assert Claim("", "", "", (good,), controls=(good, control)).verdict is verdict


def test_a_claim_says_how_many_runs_it_rests_on() -> None:
    few, many = (more("", spread(1, count=count), 0.0) for count in (30, 1200))
    assert noted(Claim("", "", "", (few, few), "A note.")) == (
        "A note. Each comparison rests on 30 runs."
    )
    assert noted(Claim("", "", "", (few,), controls=(many,))) == (
        "Each comparison rests on 30 to 1,200 runs."
    )
    assert noted(Claim("", "", "", (fact("true", True),), "A note.")) == "A note."
