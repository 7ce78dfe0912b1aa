"""The laws that every learner and every welfare obeys, for testing your own.

    import pytest
    from fairduel.testing import LEARNER_LAWS

    @pytest.mark.parametrize("law", LEARNER_LAWS)
    def test_my_learner(law):
        law(MyLearner())

A law is a function that raises AssertionError with a sentence about what went wrong. It plays
the learner against simulated users whose n-th answer about a pair of arms is fixed in advance, so
that runs which ought to be the same can be compared to the last duel. Learners are tested on
problems of several sizes: give one that is not bound to a size, as known winners would be.
``WELFARE_LAWS`` do the same for a welfare, without weights of its users.
"""

from fairduel.testing.learners import LEARNER_LAWS
from fairduel.testing.welfares import WELFARE_LAWS

__all__ = ["LEARNER_LAWS", "WELFARE_LAWS"]
