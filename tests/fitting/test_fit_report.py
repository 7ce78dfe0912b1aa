"""The report of a fit."""

from pathlib import Path

from fairduel import Egalitarian, fit
from fairduel.data import example_file
from html_elements import Elements

HOSTILE = "name,<b>x</b>,`y`\n<script>alert(1)</script>,1,2\n[bob](#x),2,1\n"


def test_the_report_says_it_all(tmp_path: Path) -> None:
    found = fit(example_file("team-lunch.csv"), welfare=Egalitarian())
    page = found.report(tmp_path, "fairduel fit votes.csv")
    text = page.read_text()
    assert page == tmp_path / "report.html"
    for said in ("pizza", "ann", "By majority", "price of fairness", "Certificate"):
        assert said in text
    assert "<code>fairduel fit votes.csv</code>" in text
    assert "only the worst off counts" in text
    assert (tmp_path / "figures" / "choice.png").exists()
    assert "svg" in text


def test_warnings_stand_out(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("user,winner,loser\nann,x,y\nbob,y,z\n")
    assert 'class="warning"' in fit(votes).report(tmp_path / "out").read_text()


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text(HOSTILE)
    text = fit(votes).report(tmp_path / "out").read_text()
    assert "<script" not in text
    assert "<b>x" not in text
    assert "&lt;script&gt;" in text
    assert Elements(text)
