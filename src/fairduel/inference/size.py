"""How many users and arms fit into memory."""

from __future__ import annotations

from fairduel.errors import InputError

# The numbers that a session can have of each kind of which it has some dozens. With all learners
# and sizes that were tried it takes less than 1 GB then, 200 MB of it for Python and its libraries.
MOST = 3_900_000
DRAWN = 90  # pairs about which what is known takes as much as a score in all draws
OWN = 1  # arm that takes as much as what is of a user, and of no arm
SHARED = 2  # users that take as much as what is not of any user


def check_size(users: int, arms: int) -> None:
    """Refuse more users and arms than fit into memory, before anything is allocated."""
    if (users + SHARED) * (arms + OWN) * (arms + DRAWN) > MOST:
        raise InputError(
            f"{users:,} users and {arms:,} arms are too many to keep what is known of every user's "
            "every pair: let groups of people who are alike vote as one, or leave out arms."
        )
