"""What a report consists of."""

import pytest
from matplotlib.figure import Figure

from fairduel.report.document import Document, Picture, Section, Table, Text


def test_a_row_has_as_many_cells_as_the_head() -> None:
    with pytest.raises(ValueError, match="2 columns"):
        Table(("a", "b"), (("1", "2"), ("3",)))


def test_pictures_are_those_of_summary_and_sections() -> None:
    first, second = (Picture(name, "", Figure) for name in ("first", "second"))
    section = Section("s", "S", (Text(""), second))
    assert Document("", (first, Text("")), (section,), ()).pictures == (first, second)
