"""What people see: tables, short forms, and sentences made from numbers."""

import html
import re
from dataclasses import replace

import pytest

from fairduel import FairVOI, Recommendation
from fairduel.learners.learner import Rationale
from fairduel.live import Interval, SessionOutlook, words

POLICY = {"soup": 0.004, "pizza": 0.62, "fish": 0.0, "rice": 0.376}
UTILITIES = {
    "ann": Interval(0.81, 0.6249, 0.951),
    "bob": Interval(0.5, 0.3, 0.7),
    "cat": Interval(1.0, 1.0, 1.0),
}
FAVOURITES: dict[str, str | None] = {"ann": "pizza", "bob": None, "cat": "rice"}
RECOMMENDATION = Recommendation(POLICY, UTILITIES, FAVOURITES, ("cat",))
OUTLOOK = SessionOutlook(
    POLICY, UTILITIES, FAVOURITES, ("cat",), Interval(0.83, 0.7, 0.92), 0.034, "For fun."
)

TEXT = """\
Choose    how often
pizza           62%
rice            38%
2 others         0%

User  gets  95% interval  of always having
ann    81%    62% to 95%  pizza
bob    50%    30% to 70%  (not known yet)
cat   100%  100% to 100%  rice

Nothing is known yet about what bob likes.
cat has no clear favourite, since none beats all others: rice is taken for it."""


def test_a_recommendation_prints_as_tables() -> None:
    assert str(RECOMMENDATION) == TEXT


def test_an_outlook_prints_more() -> None:
    assert (
        str(OUTLOOK)
        == f"""{TEXT}
This should give 83% of the best that could be had (70% to 92%).
Ten more answers of each would add about 3%.
For fun."""
    )


def test_they_have_short_forms() -> None:
    assert repr(RECOMMENDATION) == "Recommendation(pizza 62%, rice 38%, 2 others 0%; 3 users)"
    assert repr(OUTLOOK).startswith("SessionOutlook(pizza 62%, ")
    many = Recommendation({f"arm {k}": 0.1 for k in range(10)}, UTILITIES, FAVOURITES, ())
    assert repr(many) == "Recommendation(arm 0 10%, arm 1 10%, arm 2 10%, ...; 3 users)"


def test_an_arm_is_named_where_it_is_the_only_one_left_out() -> None:
    told = Recommendation({"x": 1.0, "y": 0.0}, UTILITIES, FAVOURITES, ())
    assert re.search(r"^y +0%$", str(told), re.MULTILINE)


def test_nothing_to_remark_leaves_nothing_behind() -> None:
    told = Recommendation({"x": 1.0}, {"ann": Interval(1.0, 1.0, 1.0)}, {"ann": "x"}, ())
    assert str(told).endswith("  x")
    assert "<p>" not in told._repr_html_()


def test_names_cannot_break_a_table() -> None:
    """Wide characters take two columns; line breaks and terminal commands are shown."""
    arms = {"寿司": 0.5, "a\nb": 0.3, "\x1b[31mred": 0.2}
    user = "<b>&\n"
    told = Recommendation(arms, {user: Interval(0.5, 0.4, 0.6)}, {user: None}, ())
    lines = str(told).splitlines()
    assert lines[:4] == [
        "Choose       how often",
        "寿司               50%",
        r"a\nb               30%",
        r"\x1b[31mred        20%",
    ]
    assert r"Nothing is known yet about what <b>&\n likes." in lines
    page = told._repr_html_()
    assert "<b>" not in page
    assert page.count("&lt;b&gt;&amp;") == 2


def test_a_notebook_shows_the_same() -> None:
    page = OUTLOOK._repr_html_()
    cells = re.findall(r"<t[hd] [^>]*>(.*?)</t[hd]>", page)
    said = re.findall(r"<p>(.*?)</p>", page)
    printed = str(OUTLOOK)
    for text in [*cells, *said]:
        assert html.unescape(text) in printed
    assert len(cells) == 2 * 4 + 4 * 4
    assert said[-1] == "For fun."
    assert page.count("<table>") == page.count("</table>") == 2


@pytest.mark.parametrize(
    ("rationale", "sentence"),
    [
        (None, ""),
        (Rationale("nothing-asked", None, 0, 0.0, 0.0, 0.0), "Nothing has been asked yet."),
        (
            Rationale("exploit", None, 5, 0.0, 0.0, 0.0),
            "Both come from what is recommended now. Asking for more votes would cost more than it "
            "brings.",
        ),
        (
            Rationale("drawn-along", None, 5, 3.0, 1.0, 0.0),
            "This duel came up by chance, among others that are worth asking about.",
        ),
        (
            Rationale("winner", (2, 0), 1, 256.7, 0.001, 0.051),
            "We ask about rice and soup to learn what a user likes best. The votes should be "
            "worth 257 duels later on, and asking costs almost nothing now. Votes on these two "
            "bring 5% of the gain.",
        ),
        (
            Rationale("scores", (0, 1), 1200, 12_345.6, 0.8571, 1.0),
            "We ask about soup and fish to learn how much they are liked. The votes of 1,200 duels "
            "should be worth 12,346 duels later on, and asking costs 0.9 of a duel now. Votes on "
            "these two bring 100% of the gain.",
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Rationale) else "",
)
def test_a_rationale_in_words(rationale: Rationale | None, sentence: str) -> None:
    assert words.why(rationale, ["soup", "fish", "rice"]) == sentence


def test_whether_to_ask_on_in_words() -> None:
    said = replace(OUTLOOK, ten_more=0.0099)
    assert said.enough
    assert "It is time to stop asking: ten more answers of each would add less than 1%." in str(
        said
    )
    assert not replace(OUTLOOK, ten_more=0.01).enough


def test_fair_voi_says_that_it_explains_itself() -> None:
    assert FairVOI.explains
    assert FairVOI().rationale(FairVOI().init(2, 3, 10, seed=1), None) is not None
