"""Pictures of the service's pages, to be looked at.

python tests/screenshots.py FOLDER    all pages: 320, 390 and 1,100 px wide, light and dark, in
                                      English and German
python tests/screenshots.py           the two pictures of docs/polls.md
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from browsers import BROWSERS
from fairduel.serve.run import learner
from web import KEY, Made, Web, serving

DOCS = Path(__file__).parents[1] / "docs" / "polls"
LIKES = {  # from best to worst
    "Ann": ["salad", "soup", "curry", "pizza"],
    "Bob": ["pizza", "curry", "salad", "soup"],
    "Cleo": ["salad", "curry", "pizza", "soup"],
    "Dan": ["curry", "pizza", "soup", "salad"],
    "Eve": ["soup", "salad", "pizza", "curry"],
}
PAGES = {
    "new": "/new",
    "join": "/j/{join}",
    "vote": "/v/{voter}",
    "mine": "/p/{slug}/mine",
    "result": "/p/{slug}/result",
    "setup": "/o/{organiser}",
    "board": "/p/{slug}/board",
    "refused": "/v/nobody",
}


def ready_poll(web: Web, mode: str) -> Made:
    """Make a poll in which some have voted, and draw a decision."""
    made = web.poll(
        title="Lunch on Friday",
        options=["curry", "pizza", "soup", "salad"],
        voters=list(LIKES),
        join=True,
        mode=mode,
    )
    with made.organiser() as boss:
        for number in range(1, 9 if mode == "live" else 1):
            boss.put(f"{made.path}/decisions/{number}", timeout=300).raise_for_status()
    for position, likes in enumerate(list(LIKES.values())[:4]):
        _vote(made, position, likes, 6 if position else 3)
    made.settled()
    if mode == "poll":
        with made.organiser() as boss:
            boss.put(f"{made.path}/decisions/1", timeout=300).raise_for_status()
    return made


def _vote(made: Made, position: int, likes: list[str], most: int) -> None:
    with made.voter(position) as client:
        waiting = client.get(f"{made.path}/question").json()
        for _ in range(most):
            asked = waiting["question"]
            if asked is None:
                return
            left, right = (likes.index(asked[side]["name"]) for side in ("left", "right"))
            said = {"answer": "left" if left < right else "right"}
            waiting = client.put(f"{made.path}/questions/{asked['n']}/vote", json=said).json()


def shoot(
    browser: Browser, made: Made, page: str, to: Path, width: int, language: str, dark: bool
) -> None:
    """Take a picture of a whole page."""
    context = browser.new_context(
        base_url=made.web.url,
        viewport={"width": width, "height": 640},
        locale=language,
        color_scheme="dark" if dark else "light",
    )
    seen = context.new_page()
    places = {
        "slug": made.slug,
        "join": made.data["join"]["token"],
        "voter": made.data["voters"][0]["token"],
        "organiser": made.data["organiser"]["token"],
    }
    role = "organiser" if page in ("board", "setup") else "voter"
    for before in (f"/start/{KEY}", f"/{role[0]}/{places[role]}", PAGES[page].format(**places)):
        seen.goto(before)
    if page == "board":
        seen.wait_for_timeout(1000)
    seen.screenshot(path=to, full_page=True)
    context.close()


def main() -> None:
    found = next(filter(None, map(shutil.which, BROWSERS)))
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(f"{folder}/polls.db", advise=learner) as web,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=found)
        poll = ready_poll(web, "poll")
        if len(sys.argv) == 1:
            shoot(browser, poll, "vote", DOCS / "vote.png", 390, "en", dark=False)
            shoot(browser, poll, "board", DOCS / "board.png", 760, "en", dark=False)
            return
        to = Path(sys.argv[1])
        to.mkdir(parents=True, exist_ok=True)
        for made, mode in ((poll, "poll"), (ready_poll(web, "live"), "live")):
            for page in PAGES:
                for language in ("en", "de"):
                    for width in (320, 390, 1100):
                        for dark in (False, True):
                            scheme = "dark" if dark else "light"
                            name = f"{mode}-{page}-{language}-{width}-{scheme}.png"
                            shoot(browser, made, page, to / name, width, language, dark)


if __name__ == "__main__":
    main()
