"""The service in a real browser: an organiser, three voters on phones, and what may go wrong."""

import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from fairduel.serve import acts, draws
from web import KEY, Made, Web, serving

PHONE = {"width": 390, "height": 844}
WIDE = {"width": 1100, "height": 900}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with serving(str(tmp_path_factory.mktemp("browser") / "polls.db")) as made:
        yield made


class Visit:
    """A browser of somebody's own, with what went wrong in it and what it fetched elsewhere."""

    def __init__(self, browser: Browser, web: Web, size: dict[str, int], **settings: Any) -> None:
        self.context: BrowserContext = browser.new_context(
            viewport=size,  # type: ignore[arg-type]
            base_url=web.url,
            **settings,
        )
        self.context.set_default_timeout(20_000)
        self.page: Page = self.context.new_page()
        self.trouble: list[str] = []
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda request: self._request(web, request.url))
        self.page.on("console", lambda said: self._console(said.type, said.text))

    def _request(self, web: Web, url: str) -> None:
        if not url.startswith(web.url):
            self.trouble.append(url)

    def _console(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and "ERR_INTERNET_DISCONNECTED" not in text:
            self.trouble.append(text)

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()
        if error[0] is None:
            assert self.trouble == []


def vote(page: Page, times: int) -> None:
    """Tap the upper option some times, each when the pair has changed."""
    for _ in range(times):
        n = page.locator("input[name=n]").first.get_attribute("value")
        page.wait_for_timeout(310)  # taps right after a change are ignored
        page.locator("button[value=left]").click()
        page.wait_for_function(
            "n => { const now = document.querySelector('form[data-quick] input[name=n]');"
            " return !now || now.value !== n || !document.querySelector('button[value=left]'); }",
            arg=n,
        )


def test_a_poll_from_the_organiser_to_the_check(browser: Browser, web: Web) -> None:
    with Visit(browser, web, WIDE) as boss:
        page = boss.page
        page.goto(f"/start/{KEY}")
        page.get_by_label("Title").fill("Lunch on Friday")
        page.get_by_label("Options, one a line").fill("curry\npizza\nsoup")
        page.get_by_label("People, one a line").fill("Ann\nBob\nCem")
        page.get_by_role("button", name="Make the poll").click()
        page.get_by_role("button", name="Open", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("(open)")
        links = re.findall(r"http\S+?/v/[\w-]+", page.content())
        assert len(links) == 3
        page.get_by_role("link", name="Board").click()
        expect(page.get_by_role("status").first).to_contain_text("Answers: 0 · People: 0 of 3")

        with Visit(browser, web, PHONE, has_touch=True) as ann:
            ann.page.goto(links[0])
            assert "/v/" not in ann.page.url
            vote(ann.page, 2)
            ann.page.get_by_role("button", name="Undo").click()  # at once
            expect(ann.page.get_by_text("1 answered, about 2 to go")).to_be_visible()
            vote(ann.page, 2)
            expect(ann.page.get_by_text("You have answered everything")).to_be_visible()
        with Visit(browser, web, PHONE) as bob:
            bob.page.goto(links[1])
            vote(bob.page, 1)
            bob.context.set_offline(True)
            bob.page.wait_for_timeout(310)
            bob.page.locator("button[value=right]").click()
            expect(bob.page.get_by_role("alert")).to_be_visible()
            bob.context.set_offline(False)
            expect(bob.page.get_by_text("2 answered, about 1 to go")).to_be_visible()
            vote(bob.page, 1)
        with Visit(browser, web, PHONE) as cem:  # by keys alone
            cem.page.goto(links[2])
            for n, key in ((1, "1"), (2, "0"), (1, "z"), (2, "2"), (3, "s")):
                cem.page.wait_for_timeout(310)
                cem.page.keyboard.press(key)
                expect(cem.page.get_by_text(f"{n} answered")).to_be_visible()
            cem.page.get_by_role("link", name="My answers").click()
            assert cem.page.locator("select").count() == 3

        # The board has moved by itself.
        expect(page.get_by_role("status").first).to_contain_text("Answers: 8 · People: 3 of 3")
        expect(page.locator("svg.bar").first).to_be_visible()
        page.get_by_role("button", name="Decide now").click()
        drawn = page.locator("ol.decisions > li > strong")
        expect(drawn).to_have_count(1)
        option = drawn.inner_text()
        page.get_by_role("link", name="Setup").click()
        page.get_by_text("Close", exact=True).click()
        page.get_by_role("button", name="Yes, close the poll").click()
        page.get_by_role("link", name="Board").click()
        page.get_by_text("How to check the draws").click()
        text = page.locator("main").inner_text()
    slug = re.search(r"/p/([^/]+)/", page.url)
    assert slug is not None
    seed = re.search(r"Published seed: ([0-9a-f]{64})", text)
    assert seed is not None
    ledger = web.service.room(slug[1]).ledger
    assert not draws.problems(ledger.frame.decisions, [seed[1]], "even")
    assert ledger.frame.options[ledger.frame.decisions[0].options[0]].name == option


def test_a_live_poll_asks_people_while_they_wait(browser: Browser, web: Web) -> None:
    made = web.poll(mode="live")
    with Visit(browser, web, PHONE) as ann, made.organiser() as boss:
        ann.page.goto(made.data["voters"][0]["link"])
        waits = ann.page.get_by_text("the next question comes with the next decision")
        expect(waits).to_be_visible()
        number = 0
        for n in (1, 2):
            options: list[str] = []
            while len(set(options)) < 2:  # both may be the same at first
                number += 1
                decision = boss.put(f"{made.path}/decisions/{number}").json()
                options = [drawn["option"]["name"] for drawn in decision["drawn"]]
            expect(ann.page.locator("button[value=left]")).to_be_visible()
            ann.page.wait_for_timeout(310)
            ann.page.locator("button[value=left]").click()
            expect(ann.page.get_by_text(f"{n} answered")).to_be_visible()


def test_a_page_follows_the_poll_and_keeps_what_is_unfolded(browser: Browser, web: Web) -> None:
    made = web.poll(mode="live", open=False, options=["curry", "soup"], voters=["ann", "bob"])
    room = web.service.room(made.slug)

    def do(act: Any, **arguments: Any) -> None:
        web.service.submit(room, partial(act, **arguments)).result()

    def decide(number: int) -> None:
        policies = [{0: 1.0, 1: 0.0}, {0: 0.0, 1: 1.0}]
        do(acts.decide, number=number, policies=policies, after_seq=0)

    with Visit(browser, web, PHONE) as ann, Visit(browser, web, WIDE) as boss:
        ann.page.goto(made.data["voters"][0]["link"])
        expect(ann.page.get_by_text("not open yet")).to_be_visible()
        do(acts.set_state, state="open")
        expect(ann.page.get_by_text("the next question comes")).to_be_visible()
        decide(1)
        expect(ann.page.get_by_text("About decision 1")).to_be_visible()
        boss.page.goto(made.data["organiser"]["link"])
        boss.page.get_by_role("link", name="Board").click()
        boss.page.get_by_text("Cancel it").first.click()
        boss.page.get_by_label("Reason").fill("sold out")
        decide(2)
        boss.page.wait_for_timeout(1000)  # nothing moves while somebody types
        assert boss.page.get_by_label("Reason").input_value() == "sold out"
        boss.page.get_by_label("Reason").blur()
        expect(boss.page.locator("ol.decisions > li")).to_have_count(2)
        typed = boss.page.locator("li[value='1'] input[name=reason]")
        assert typed.input_value() == "sold out"  # it goes with the decision
        expect(
            boss.page.locator("li[value='1'] > details[open] input[name=reason]")
        ).to_be_visible()
        expect(boss.page.locator("li[value='2'] > details[open]")).to_have_count(0)
        do(acts.cancel, number=1, reason="sold out")
        expect(ann.page.get_by_text("About decision 2")).to_be_visible()


def test_who_joins_keeps_the_own_link_in_sight(browser: Browser, web: Web) -> None:
    made = web.poll(join=True)
    with Visit(browser, web, PHONE) as dov:
        dov.page.goto(made.data["join"]["link"])
        dov.page.get_by_label("Name").fill("dov")
        dov.page.get_by_role("button", name="Take part").click()
        expect(dov.page.get_by_text("Your own link")).to_be_visible()
        made.vote(0, 1)
        with made.organiser() as boss:
            boss.post(f"{made.path}/options", json={"names": ["rice"]}).raise_for_status()
        dov.page.wait_for_timeout(1500)  # the page has looked again
        expect(dov.page.get_by_text("Your own link")).to_be_visible()


def test_a_tab_does_not_become_somebody_else_s(browser: Browser, web: Web) -> None:
    made = web.poll()
    with Visit(browser, web, PHONE) as phone:
        phone.page.goto(made.data["voters"][0]["link"])
        other = phone.context.new_page()
        other.goto(made.data["voters"][1]["link"])
        with made.organiser() as boss:
            boss.post(f"{made.path}/options", json={"names": ["rice"]}).raise_for_status()
        phone.page.wait_for_timeout(1500)  # the page has looked again
        expect(phone.page.get_by_text("You vote as ann.")).to_be_visible()
        phone.trouble.clear()
        phone.page.locator("button[value=left]").click()
        expect(phone.page.get_by_role("heading", level=1)).to_contain_text("This page is ann's")
        assert not web.service.room(made.slug).ledger.wins.any()
        assert all("403" in said for said in phone.trouble)
        phone.trouble.clear()


def test_the_board_says_when_the_server_is_gone(browser: Browser, tmp_path: Path) -> None:
    with serving(str(tmp_path / "polls.db")) as web:
        made = web.poll()
        visit = Visit(browser, web, PHONE)
        visit.page.goto(made.data["organiser"]["link"])
        visit.page.get_by_role("link", name="Board").click()
        expect(visit.page.get_by_text("The server does not answer")).to_be_hidden()
        visit.page.wait_for_timeout(500)  # the page follows the poll
    expect(visit.page.get_by_text("The server does not answer")).to_be_visible(timeout=20_000)
    visit.context.close()


def test_a_late_look_brings_nothing_back(browser: Browser, web: Web) -> None:
    made = web.poll()
    with Visit(browser, web, PHONE) as ann:
        ann.page.goto(made.data["voters"][0]["link"])
        held: list[Route] = []
        ann.page.route(f"**/p/{made.slug}", lambda route: _hold(held, route))
        with made.organiser() as boss:
            boss.post(f"{made.path}/options", json={"names": ["rice"]}).raise_for_status()
        until = time.monotonic() + 20
        while not held:
            assert time.monotonic() < until
            ann.page.wait_for_timeout(20)
        vote(ann.page, 1)
        held[0].continue_()
        ann.page.wait_for_timeout(500)
        assert ann.page.locator("form:has(.pair) input[name=n]").get_attribute("value") == "2"


def _hold(held: list[Route], route: Route) -> None:
    """Hold the first request of a script back; let all others through."""
    if route.request.resource_type == "fetch" and route.request.method == "GET" and not held:
        held.append(route)
    else:
        route.continue_()


def test_what_was_chosen_but_not_sent_stays(browser: Browser, web: Web) -> None:
    made = web.poll()
    made.vote(0, 4)
    made.vote(1, 4)
    made.settled()
    with Visit(browser, web, PHONE) as ann:
        ann.page.goto(made.data["voters"][0]["link"])
        ann.page.get_by_role("link", name="My answers").click()
        ann.page.locator("select").first.select_option("tie")
        ann.page.locator("select").nth(2).select_option("skip")
        ann.page.get_by_role("button", name="Change").nth(1).focus()
        made.vote(2, 4)
        made.settled()
        ann.page.wait_for_timeout(1000)
        assert ann.page.locator("select").first.input_value() == "tie"
        focused = "[...document.querySelectorAll('button')].indexOf(document.activeElement)"
        assert ann.page.evaluate(focused) == 1
        ann.page.get_by_role("button", name="Change").first.click()
        expect(ann.page.get_by_text("Your answer is stored")).to_be_visible()
        expect(ann.page.locator("select").first).to_have_value("tie")
        expect(ann.page.locator("select").nth(2)).to_have_value("skip")  # not sent yet
        answers = web.service.room(made.slug).ledger.sheets[0].answers
        assert answers[0] == "tie"


def test_a_double_tap_on_undo_takes_one_answer_back(browser: Browser, web: Web) -> None:
    made = web.poll()
    made.vote(0, 3)
    with Visit(browser, web, PHONE) as ann:
        ann.page.goto(made.data["voters"][0]["link"])
        ann.page.get_by_role("button", name="Undo").dblclick()
        expect(ann.page.get_by_text("2 answered")).to_be_visible()
        ann.page.wait_for_timeout(500)
        expect(ann.page.get_by_text("2 answered")).to_be_visible()


def test_double_taps_answer_once(browser: Browser, web: Web) -> None:
    made = web.poll()
    with Visit(browser, web, PHONE) as ann:
        ann.page.goto(made.data["voters"][0]["link"])
        ann.page.wait_for_timeout(310)
        ann.page.locator("button[value=left]").dblclick()
        expect(ann.page.get_by_text("1 answered")).to_be_visible()
        ann.page.wait_for_timeout(500)
        expect(ann.page.get_by_text("1 answered")).to_be_visible()


def test_without_scripts_all_works(browser: Browser, web: Web) -> None:
    made = web.poll(options=["a", "b", "c"])
    with Visit(browser, web, PHONE, java_script_enabled=False) as ann:
        ann.page.goto(made.data["voters"][0]["link"])
        for n in range(1, 4):
            ann.page.locator("button[value=right]").click()
            expect(ann.page.get_by_text(f"{n} answered")).to_be_visible()
        expect(ann.page.get_by_text("You have answered everything")).to_be_visible()
        ann.page.get_by_role("button", name="Undo").click()
        expect(ann.page.locator("button[value=left]")).to_be_visible()


def press(control: Locator, key: str = "Enter") -> None:
    """Go to a control by the tabulator alone when it is there, and press a key."""
    control.wait_for()
    for _ in range(60):
        control.page.keyboard.press("Tab")
        if control.evaluate("one => one === document.activeElement"):
            control.page.keyboard.press(key)
            return
    raise AssertionError("the tabulator does not lead there")


def test_without_scripts_keys_are_enough(browser: Browser, web: Web) -> None:
    with (
        Visit(browser, web, WIDE, java_script_enabled=False) as boss,
        Visit(browser, web, PHONE, java_script_enabled=False) as ann,
    ):
        page = boss.page
        page.goto(f"/start/{KEY}")
        for name, text in (("Title", "Lunch"), ("Options, one a line", "a\nb\nc")):
            press(page.get_by_label(name), "ArrowDown")
            page.keyboard.type(text)
        press(page.get_by_label("One link for everybody"), "Space")
        press(page.get_by_label("whoever has little counts more"), "ArrowDown")
        press(page.get_by_role("button", name="Make the poll"))
        press(page.get_by_role("button", name="Open", exact=True))
        expect(page.get_by_role("heading", level=1)).to_contain_text("(open)")
        link = re.search(r"http\S+?/j/[\w-]+", page.content())
        assert link is not None
        ann.page.goto(link[0])
        press(ann.page.get_by_label("Name"), "ArrowDown")
        ann.page.keyboard.type("ann")
        ann.page.keyboard.press("Enter")
        for n in range(1, 4):
            press(ann.page.locator("button[value=right]"))
            expect(ann.page.get_by_text(f"{n} answered")).to_be_visible()
        press(ann.page.get_by_role("button", name="Undo"))
        press(ann.page.locator("button[value=skip]"))
        expect(ann.page.get_by_text("3 answered")).to_be_visible()
        press(ann.page.get_by_role("link", name="My answers"))
        press(ann.page.locator("select").first, "ArrowDown")
        press(ann.page.get_by_role("button", name="Change").first)
        expect(ann.page.get_by_text("Your answer is stored")).to_be_visible()
        press(page.get_by_role("link", name="Board"))
        press(page.get_by_role("button", name="Decide now"))
        expect(page.locator("ol.decisions > li")).to_have_count(1)
        press(page.get_by_text("Cancel it").first)
        press(page.get_by_label("Reason"), "ArrowDown")
        page.keyboard.type("it rained")
        page.keyboard.press("Enter")
        expect(page.get_by_text("cancelled: it rained")).to_be_visible()
        ann.page.reload()
        press(ann.page.locator("summary"))
        press(ann.page.get_by_role("button", name="Yes, delete all about me for ever"))
        expect(ann.page.get_by_text("Nothing is kept about you")).to_be_visible()


@pytest.fixture(scope="module")
def busy(web: Web) -> Made:
    """A poll with long names, answers and a decision."""
    options = [
        "Rindfleischetikettierungsüberwachungsaufgaben",
        "soup",
        "🍜 ramen",
        "שווארמה",
        "salad",
    ]
    voters = ["Ann", "Bartholomäus-Maximilian von und zu", "<b>Cem</b>", "Dov", "Eve", "Fay"]
    made = web.poll(options=options, voters=voters, join=True, prompt="What shall we eat?")
    for voter in range(5):
        made.vote(voter, 4 + voter, "left" if voter % 2 else "right")
    with made.organiser() as boss:
        boss.put(f"{made.path}/decisions/1")
    made.settled()
    return made


PAGES = {"vote": "", "mine": "/mine", "result": "/result", "board": "/board", "setup": "/setup"}


def visit_page(visit: Visit, made: Made, page: str) -> Page:
    visit.page.goto(made.data["voters"][3]["link"])
    if page in ("board", "setup"):
        visit.page.goto(made.data["organiser"]["link"])
    if page == "new":
        visit.page.goto(f"/start/{KEY}")
    elif page == "join":
        visit.page.goto(made.data["join"]["link"])
    elif page == "done":
        visit.page.goto("/done/forgotten")
    else:
        visit.page.goto(f"/p/{made.slug}{PAGES[page]}")
    return visit.page


@pytest.mark.parametrize("page", [*PAGES, "new", "join", "done"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_pages_are_accessible_and_fit_narrow_screens(
    browser: Browser, web: Web, busy: Made, page: str, language: str
) -> None:
    size = {"width": 320, "height": 640}
    with Visit(browser, web, size, locale=language) as somebody:
        shown = visit_page(somebody, busy, page)
        assert shown.evaluate("document.documentElement.scrollWidth") == 320
        shown.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert shown.evaluate("document.documentElement.scrollWidth") == 320
        for scheme in ("light", "dark"):
            shown.emulate_media(color_scheme=scheme)
            found = Axe().run(shown)
            assert found.violations_count == 0, found.generate_report()


def test_dark_pages_are_dark(browser: Browser, web: Web, busy: Made) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        with Visit(browser, web, PHONE, color_scheme=scheme) as somebody:
            page = visit_page(somebody, busy, "vote")
            shades[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shades["light"] == "rgb(255, 255, 255)"
    assert shades["dark"] == "rgb(18, 23, 28)"


def test_scripts_in_names_do_not_run(browser: Browser, web: Web) -> None:
    nasty = ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "plain"]
    made = web.poll(title=nasty[0], options=nasty, voters=nasty)
    with Visit(browser, web, PHONE) as somebody:
        asked: list[str] = []
        somebody.page.on("dialog", lambda dialog: asked.append(dialog.message))
        somebody.page.goto(made.data["voters"][0]["link"])
        expect(somebody.page.get_by_role("heading", level=1)).to_have_text(nasty[0])
        vote(somebody.page, 3)
        somebody.page.goto(made.data["organiser"]["link"])
        expect(somebody.page.get_by_text(nasty[1]).first).to_be_visible()
        assert asked == []


INTRUDERS = {  # what gets into a page, and the rule that stops it
    "<script>window.caught = 1</script>": "script-src-elem",
    "<script src='https://evil.example/x.js'></script>": "script-src-elem",
    "<button onclick='window.caught = 1'>x</button>": "script-src-attr",
    "<p style='color: red'>x</p>": "style-src-attr",
    "<img src='https://evil.example/x.png'>": "img-src",
    "<iframe src='https://evil.example/'></iframe>": "frame-src",
    "<form action='https://evil.example/'><button>x</button></form>": "form-action",
    "<base href='https://evil.example/'>": "base-uri",
}
PUT_IN = """async (text) => {
    const heard = new Promise((resolve) => {
        setTimeout(resolve, 5000);
        document.addEventListener("securitypolicyviolation",
            (event) => resolve(event.effectiveDirective), { once: true });
    });
    const part = document.createRange().createContextualFragment(text);
    const button = part.querySelector("button");
    document.body.append(part);
    button?.click();
    return heard;
}"""


def test_what_gets_into_a_page_does_nothing(browser: Browser, web: Web, busy: Made) -> None:
    visit = Visit(browser, web, PHONE)  # it has trouble, as it should
    page = visit_page(visit, busy, "vote")
    assert {text: page.evaluate(PUT_IN, text) for text in INTRUDERS} == INTRUDERS
    assert page.evaluate("window.caught") is None
    elsewhere = "fetch('https://evil.example/').then(() => 'sent', () => 'refused')"
    assert page.evaluate(elsewhere) == "refused"
    assert any("connect-src" in said for said in visit.trouble)
    visit.context.close()


def test_keys_do_not_disturb_typing(browser: Browser, web: Web) -> None:
    made = web.poll()
    with Visit(browser, web, PHONE) as boss:
        boss.page.goto(made.data["organiser"]["link"])
        boss.page.get_by_label("Name").fill("")
        boss.page.get_by_label("Name").press_sequentially("z1 s")
        assert boss.page.get_by_label("Name").input_value() == "z1 s"


def test_qr_codes_are_large_enough_to_scan(browser: Browser, web: Web, busy: Made) -> None:
    with Visit(browser, web, PHONE) as boss:
        page = visit_page(boss, busy, "setup")
        code = page.locator("svg.qr").first
        box, drawn = code.bounding_box(), code.locator("path").bounding_box()
        assert box is not None
        assert drawn is not None
        assert box["width"] == pytest.approx(box["height"], abs=1)
        assert drawn["width"] > 140
        assert drawn["width"] > 0.8 * box["width"]
