"""The report in a real browser: no error, nothing fetched, every figure to be seen."""

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import Browser, Locator, Page

from fake_sweep import PICTURES, fake_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_report(tmp_path_factory) / "report.html"


def opened(
    browser: Browser, report: Path, scheme: str, width: int = 1280
) -> tuple[Page, list[str]]:
    """The page, and what went wrong or was fetched."""
    page = browser.new_page(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: trouble.append(request.url))
    page.goto(report.as_uri())
    trouble.remove(report.as_uri())
    return page, trouble


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_is_visible_and_nothing_goes_wrong(
    browser: Browser, report: Path, scheme: str
) -> None:
    page, trouble = opened(browser, report, scheme)
    drawn = page.locator("figure svg")
    assert drawn.count() == len(PICTURES)
    for place in range(len(PICTURES)):
        figure = drawn.nth(place)
        figure.scroll_into_view_if_needed()
        assert figure.is_visible()
        box = figure.bounding_box()
        assert box is not None
        assert box["width"] > 600
        assert box["height"] > 200
        assert _colours(page, place) > 5  # not blank
    assert trouble == []
    page.close()


def test_dark_pages_are_dark(browser: Browser, report: Path) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('figure svg text, figure svg use')).fill"
    seen = {}
    for scheme in ("light", "dark"):
        page, _ = opened(browser, report, scheme)
        seen[scheme] = page.evaluate(f"[{shade}, {ink}]")
        page.close()
    assert seen["light"][0] == "rgb(255, 255, 255)"
    assert seen["light"][0] != seen["dark"][0]
    assert seen["light"][1] != seen["dark"][1]


def test_a_claim_is_there_where_its_link_leads(browser: Browser, report: Path) -> None:
    page, trouble = opened(browser, report, "light")
    links = page.locator("#claims a")
    for place in (0, links.count() // 2, links.count() - 1):
        name = links.nth(place).get_attribute("href")
        links.nth(place).click()
        finding = page.locator(f"{name} li").first
        assert finding.is_visible()
        box = finding.bounding_box()  # within the window, without scrolling
        assert box is not None
        assert box["height"] > 0
        assert 0 <= box["y"] <= 900
    assert trouble == []
    page.close()


def test_everything_about_the_claims_is_printed(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, "light")
    page.emulate_media(media="print")
    findings = page.locator(".claim li")
    assert findings.count() > 100
    for place in range(0, findings.count(), 20):
        assert findings.nth(place).is_visible()
    heights = "items => items.filter(item => item.getBoundingClientRect().height > 0).length"
    assert findings.evaluate_all(heights) == findings.count()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens_scroll_tables_and_not_the_page(
    browser: Browser, report: Path, scheme: str
) -> None:
    page, _ = opened(browser, report, scheme, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    widths = "items => items.map(item => [item.scrollWidth, item.clientWidth])"
    tables = page.locator(".wide:has(table)")
    sizes = tables.evaluate_all(widths)
    wide = [place for place, (content, shown) in enumerate(sizes) if content > shown + 100]
    assert wide
    # A shade says on which side there is more.
    assert _shades(page, tables.nth(wide[0])) == (False, True)
    tables.nth(wide[0]).evaluate("item => item.scrollTo(100, 0)")
    assert _shades(page, tables.nth(wide[0])) == (True, True)
    tables.nth(wide[0]).evaluate("item => item.scrollTo(10000, 0)")
    assert _shades(page, tables.nth(wide[0])) == (True, False)
    page.close()


def test_tables_that_fit_have_no_shade(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, "light", width=1280)
    assert _shades(page, page.locator(".wide:has(table)").first) == (False, False)
    page.close()


def _shades(page: Page, item: Locator) -> tuple[bool, bool]:
    """Look for a colour other than the page's at the left and right edge, below all words."""
    item.scroll_into_view_if_needed()
    item.evaluate("item => item.scrollIntoView({block: 'end'})")
    shot = imread(io.BytesIO(item.screenshot()))[..., :3]
    strip = shot[-6:-3]  # the table's lower margin
    beside = strip[:, strip.shape[1] // 2]
    left, right = (np.abs(strip[:, edge] - beside).max() > 0.05 for edge in (1, -2))
    return bool(left), bool(right)


def _colours(page: Page, place: int) -> int:
    """How many different colours the strokes and fills of a figure have."""
    script = """place => {
      const figure = document.querySelectorAll("figure svg")[place];
      const seen = new Set();
      for (const part of figure.querySelectorAll("path, use")) {
        const style = getComputedStyle(part);
        if (part.getBoundingClientRect().width > 0) { seen.add(style.stroke + style.fill); }
      }
      return seen.size;
    }"""
    return int(page.evaluate(script, place))
