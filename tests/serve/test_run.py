"""The package's own learner behind the service, and what is written to logs."""

import logging

import numpy as np
import pytest

from fairduel.serve.acts import new_token
from fairduel.serve.advisor import Known
from fairduel.serve.ledger import View
from fairduel.serve.run import learner, mask_tokens
from fairduel.welfare import Egalitarian, Nash


def test_the_learner_says_all_that_pages_show() -> None:
    wins = np.zeros((3, 4, 4))
    wins[0, 0, 1:] = 3.0  # the first two know what they like
    wins[1, 1, [0, 2, 3]] = 3.0
    advice = learner(wins, welfare=Nash())
    assert advice.policy.sum() == 1.0 or abs(advice.policy.sum() - 1.0) < 1e-9
    assert set(np.argsort(advice.policy)[-2:].tolist()) == {0, 1}
    assert advice.worth.shape == (3, 4, 4)
    assert (advice.worth == advice.worth.transpose(0, 2, 1)).all()
    assert advice.favourites.tolist() == [0, 1, -1]
    assert (advice.low <= advice.utilities).all()
    assert (advice.utilities <= advice.high).all()
    assert 0.0 <= advice.share_low <= advice.share <= advice.share_high <= 1.0
    assert advice.ten_more >= 0.0
    known = Known(View(5, (0, 2, 3), (0, 1, 2, 4), wins, np.zeros((4, 4), int)), advice)
    worth = known.worth(3, 5)
    assert worth is not None
    assert (worth[np.ix_((0, 1, 2, 4), (0, 1, 2, 4))] == advice.worth[2]).all()
    assert not worth[3].any()


def test_the_same_votes_give_the_same_advice_to_the_bit() -> None:
    wins = np.random.default_rng(1).integers(0, 3, (4, 5, 5)).astype(float)
    one, other = learner(wins, welfare=Egalitarian()), learner(wins.copy(), welfare=Egalitarian())
    assert (one.policy == other.policy).all()
    assert (one.worth == other.worth).all()


@pytest.mark.parametrize("kind", ["o", "v", "j", "start"])
def test_tokens_are_masked_in_logs(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    log, token = logging.getLogger("fairduel.tests"), new_token()
    mask_tokens(log)
    log.warning('%s - "GET /%s/%s HTTP/1.1" %d', "127.0.0.1", kind, token, 303)
    log.warning("Exception at /%s/%s?lang=de", kind, token)
    assert token not in caplog.text
    assert caplog.text.count(f"/{kind}/***") == 2
    assert '"GET' in caplog.text
    assert "?lang=de" in caplog.text
