"""A session takes less than 1 GB, or is refused before anything is allocated."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from fairduel import BradleyTerryThompson, FairETC, FairVOI, InputError, Session
from fairduel.inference import size
from fairduel.learners import Learner

# Prints the peak in kB after a session.
PROGRAM = """
import resource
import numpy as np
from fairduel import BradleyTerryThompson, FairVOI, Session

users, arms = USERS, ARMS
rng = np.random.default_rng(1)
wins = np.zeros((users, arms, arms))
i = rng.integers(0, arms, 20)
j = (i + rng.integers(1, arms, 20)) % arms
wins[:, i, j] = rng.integers(0, 2, (users, 20))
names = [f"u{n}" for n in range(users)], [f"a{n}" for n in range(arms)]
session = Session.from_votes(*names, wins, 1000, LEARNER, seed=1)
duel = session.ask()
session.tell(duel, dict.fromkeys(session.users, duel.left))
session.recommend()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def most_users(arms: int) -> int:
    return size.MOST // ((arms + size.OWN) * (arms + size.DRAWN)) - size.SHARED


def peak(learner: str, users: int, arms: int) -> int:
    program = PROGRAM.replace("LEARNER", learner)
    program = program.replace("USERS", str(users)).replace("ARMS", str(arms))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return 1024 * int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak has other units")
def test_the_largest_session_takes_less_than_a_gigabyte() -> None:
    assert peak("BradleyTerryThompson()", most_users(10), 10) < 1e9


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak has other units")
def test_it_does_so_if_preferences_are_drawn() -> None:
    """By arithmetic from smaller ones, which take seconds: beyond them it grows with the users."""
    learner, arms = "FairVOI(scoring='maximin', anytime=True)", 40
    first, second = peak(learner, 20, arms), peak(learner, 40, arms)
    assert second + (second - first) / 20 * (most_users(arms) - 40) < 1e9


@pytest.mark.parametrize("learner", [FairVOI(), BradleyTerryThompson(), FairETC()])
def test_more_is_refused_in_a_sentence(learner: Learner[Any]) -> None:
    names = [f"u{n}" for n in range(500)], [f"a{n}" for n in range(100)]
    with pytest.raises(
        InputError, match=r"500 users and 100 arms are too many .* leave out arms\."
    ):
        Session(*names, 1000, learner)
    with pytest.raises(InputError, match=r"500 users and 100 arms are too many"):
        Session.from_votes(*names, np.zeros((500, 100, 100)), 1000, learner)
