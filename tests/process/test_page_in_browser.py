"""The page of a model in a real browser: sorting, highlighting, phone, dark, print, accessibility,
and names that would be code if anything let them.

Skipped where there is no Chromium, or no Playwright to drive it.
"""

import os
import re
import shutil

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.designs.standard import one_vs_one
from agfmc.control.parse import parse
from agfmc.score.evaluation import ScoreRequest, evaluate
from agfmc.report.content import AnswersPart, DataPart, HardPoint, ModelPart, ReportContent
from agfmc.report.page import render

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]
# What would run if a page took it for markup or a script.
HOSTILE = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "'><svg onload=window.hacked=1>",
    "</title></style></script><script>window.hacked=1</script>",
    "{{ 7*7 }}{% raw %}${window.hacked=1}",
    "\u202egnp.exe\u202d \u05e9\u05dc\u05d5\u05dd",
    "javascript:window.hacked=1",
    "&lt;b&gt; &amp; ]]> <!-- ",
    "x" * 10_000,
)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


class Opened:
    """A page in the browser, and all that it said and asked for."""

    def __init__(self, browser, path, width=1280, **settings):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"file://{path}")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()

    def tell(self, script):
        return self.page.evaluate(script)

    @property
    def foreign(self):
        """The addresses, but for the page's own and what is inside it, that were asked for."""
        return [url for url in self.asked[1:] if not url.startswith("data:")]


def content_of(called, text="plain"):
    """A page about nine classes with these names; text: for all other texts."""
    k = len(called)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, k, 400)
    p = rng.dirichlet(np.full(k, 0.3), 400) * 0.4
    p[np.arange(400), truth] += 0.15
    p /= p.sum(axis=1, keepdims=True)
    labels = np.arange(k)
    scores = evaluate(
        Results(truth, p.argmax(axis=1), labels, k, p.max(axis=1), p),
        10,
        ScoreRequest(by_class=True),
    )
    names = dict(enumerate(called))
    scores["names"] = list(called)
    tree = parse(
        "".join(
            f'"-c 1" {" ".join(map(str, left))} / {" ".join(map(str, right))};\n'
            for left, right in one_vs_one(k)
        )
        + "{"
        + " ".join(map(str, range(k)))
        + "}"
    )
    hardest = tuple(
        HardPoint(
            f"{text} {i}",
            int(truth[i]),
            int(p[i].argmax()),
            float(p[i, truth[i]]),
            ((0, 0.5), (1, 0.2)),
        )
        for i in range(5)
    )
    return ReportContent(
        title=text,
        names=names,
        data=DataPart(
            text, 400, 7, tuple(range(k)), tuple(np.bincount(truth).tolist()), None, ((text, text),)
        ),
        model=ModelPart(tree, text),
        answers=AnswersPart(text, scores, None, hardest, (), (text,)),
        provenance=((text, text),),
        steps=((text, text),),
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """{name of a page: its path}."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "plain": render(content_of([f"class of trees {i}" for i in range(9)], "penguins")),
        "hostile": render(content_of(HOSTILE, "".join(HOSTILE[:8]))),
    }
    # without the second wall: escaping alone has to hold
    texts["unguarded"], count = re.subn(
        r"<meta[^>]*Content-Security-Policy[^>]*>", "", texts["hostile"]
    )
    assert count == 1
    paths = {}
    for name, text in texts.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(text, encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def plain(browser, written):
    """The plain page, open on a wide screen."""
    with Opened(browser, written["plain"]) as opened:
        yield opened


@pytest.fixture(scope="module")
def narrow(browser, written):
    """The plain page, open on a phone."""
    with Opened(browser, written["plain"], 360) as opened:
        yield opened


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["hostile", "unguarded"])
def test_hostile_names_run_nothing(browser, written, name):
    with Opened(browser, written[name]) as opened:
        page = opened.page
        for button in page.query_selector_all("th button:visible")[:4]:
            button.click()
        for one in page.query_selector_all("[data-classes]")[:4]:
            one.dispatch_event("mouseover")
        assert opened.tell("window.hacked") is None
        assert not opened.said and not opened.foreign
        assert opened.tell("document.scripts.length") == 1
        assert (
            opened.tell("""[...document.querySelectorAll('*')].flatMap(one => [
            ...one.attributes].filter(a => /^on/i.test(a.name) ||
                    /^\\s*(javascript|data:text|vbscript)/i.test(a.value)
                    && ['href', 'src', 'action', 'xlink:href'].includes(a.name))
            .map(a => one.tagName + ' ' + a.name)).slice(0, 5)""")
            == []
        )
        # what stands on the page is what stood in the file
        assert HOSTILE[0] in opened.tell("document.body.textContent")
        assert opened.tell("document.title").startswith(HOSTILE[0][:20])
        assert not page.query_selector("img[src^='http'], img[src='x'], iframe, object, embed")


@pytest.mark.parametrize("name", ["plain", "narrow"])
def test_nothing_is_said_or_asked_for(request, name):
    opened = request.getfixturevalue(name)
    assert not opened.said and not opened.foreign


@pytest.mark.long
def test_tables_are_sorted_by_their_headings(browser, written):
    with Opened(browser, written["plain"]) as opened:
        page, tried = opened.page, 0
        for table in page.query_selector_all("table"):
            buttons = table.query_selector_all("thead th button")
            rows = len(table.query_selector_all("tbody tr"))
            if len(buttons) < 2 or rows < 3 or not table.is_visible():
                continue
            tried += 1
            before = table.query_selector_all("tbody tr")
            column = len(buttons) - 1
            buttons[column].click()
            head = table.query_selector(
                "thead th[aria-sort='ascending'],thead th[aria-sort='descending']"
            )
            assert head is not None
            first = [row.inner_text() for row in table.query_selector_all("tbody tr")]
            buttons[column].focus()
            page.keyboard.press("Enter")
            second = [row.inner_text() for row in table.query_selector_all("tbody tr")]
            assert sorted(first) == sorted(second) and len(first) == len(before)
            values = table.evaluate(
                """(table, column) => [...table.tBodies[0].rows].map(row =>
                row.cells[column] && row.cells[column].dataset.value || '').filter(v => v !== '')
                .map(Number)""",
                table.evaluate(
                    "(table) => table.querySelector('[aria-sort=ascending],[aria-sort=descending]')"
                    ".cellIndex"
                ),
            )
            if len(values) > 1 and not np.isnan(values).any():
                steps = np.diff(values)
                assert (steps >= 0).all() or (steps <= 0).all(), values
        assert tried >= 2


def test_a_class_is_highlighted_everywhere(plain):
    assert plain.tell("document.querySelectorAll('.lit').length") == 0
    one = plain.page.query_selector("table tbody [data-classes='3']:visible")
    one.scroll_into_view_if_needed()
    one.hover()
    lit = plain.tell("""[...document.querySelectorAll('.lit')].map(one =>
        one.closest('svg') ? 'svg' : 'table')""")
    assert {"svg", "table"} <= set(lit)
    assert plain.tell("""[...document.querySelectorAll('.lit[data-classes]')].every(one =>
        one.dataset.classes.split(' ').includes('3'))""")
    plain.page.mouse.move(0, 0)
    assert plain.tell("document.querySelectorAll('.lit').length") == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["plain", "hostile"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_as_wide_as_the_screen(browser, written, name, width):
    with Opened(browser, written[name], width) as opened:
        assert opened.tell("document.scrollingElement.scrollWidth") <= width
        # no text below 12 pixels, as it is seen
        small = opened.tell("""[...document.querySelectorAll('body *')].filter(one =>
            [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) &&
            one.getClientRects().length).map(one => {
                const size = parseFloat(getComputedStyle(one).fontSize);
                const svg = one.closest('svg');
                const scale = svg && svg.getAttribute('width') ?
                    svg.getBoundingClientRect().width / svg.getAttribute('width') : 1;
                return [size * scale, one.tagName, one.textContent.slice(0, 20)];
            }).filter(one => one[0] < 11.99).slice(0, 5)""")
        assert small == []


def test_a_table_shows_at_its_edge_that_it_scrolls(narrow):
    from io import BytesIO

    image = pytest.importorskip("PIL.Image")
    boxes = narrow.page.query_selector_all(".scroll:has(table):visible")
    box = next(box for box in boxes if box.evaluate("b => b.scrollWidth > b.clientWidth + 40"))
    edges = []
    for place in (0, 10_000):
        box.evaluate("(b, at) => b.scrollLeft = at", place)
        picture = image.open(BytesIO(box.screenshot())).convert("L")
        edges.append(
            [
                np.median([picture.getpixel((x, y)) for y in range(picture.height)])
                for x in (1, picture.width - 2)
            ]
        )
    (left, right), (moved, end) = edges
    assert right < left - 20 and moved < end - 20


def test_headings_are_in_order_and_pictures_have_words(plain):
    levels = plain.tell(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(one => +one.tagName[1])"
    )
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:]))
    pictures = plain.tell("""[...document.querySelectorAll('svg')].map(one =>
        one.getAttribute('aria-label') || (one.querySelector('desc, title') || {}).textContent
        || one.getAttribute('aria-hidden') || '')""")
    assert len(pictures) >= 4 and all(pictures)


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 360)])
def test_accessibility_rules_hold(browser, written, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with Opened(browser, written["plain"], width, color_scheme=scheme) as opened:
        # passes tell one element alone, which takes a third of the time
        found = axe.Axe().run(opened.page, options={"resultTypes": ["violations"]}).response
        assert [
            (one["id"], node["html"][:200], node["any"][:1])
            for one in found["violations"]
            for node in one["nodes"][:2]
        ] == []
        assert any(one["id"] == "color-contrast" for one in found["passes"])


@pytest.mark.long
def test_dark_and_light_differ(browser, written):
    seen = []
    for scheme in ("light", "dark"):
        with Opened(browser, written["plain"], color_scheme=scheme) as opened:
            colour = opened.tell("""[document.body, document.documentElement].map(one =>
                getComputedStyle(one).backgroundColor).find(one => !/, 0\\)$/.test(one))""")
            seen.append(sum(map(int, re.findall(r"\d+", colour)[:3])))
    assert seen[0] > 600 and seen[1] < 200


def test_all_can_be_read_without_scripts(browser, written):
    with Opened(browser, written["plain"], java_script_enabled=False) as opened:
        text = opened.page.inner_text("body")
        assert "class of trees 3" in text and "penguins 0" in text
        assert not opened.foreign


@pytest.mark.long
def test_print_shows_what_the_screen_scrolls(browser, written):
    with Opened(browser, written["plain"]) as opened:
        opened.page.emulate_media(media="print")
        cut = opened.tell("""[...document.querySelectorAll('body *')].filter(one =>
            one.getClientRects().length && ['overflowX', 'overflowY'].some(side =>
                ['auto', 'scroll'].includes(getComputedStyle(one)[side])))
            .map(one => one.tagName + '.' + one.className).slice(0, 5)""")
        assert cut == []
        assert set(
            opened.tell("""[...document.querySelectorAll('thead button')].map(one =>
            getComputedStyle(one).display)""")
        ) == {"contents"}  # or headings are printed once
        assert len(opened.page.pdf()) > 10_000 and os.path.exists(written["plain"])
