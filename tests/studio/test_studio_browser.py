"""The studio in a real browser: the whole way, a hostile table, a telephone, the dark, the keyboard, and axe on every page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_house import Client, serving
from test_studio_way import FEW, plan

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs /usr/bin/chromium to open the studio"),
]
HOSTILE = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
PAGES = (
    "/open", "/columns", "/hierarchies", "/limits", "/look", "/run", "/map", "/compare", "/decide", "/check", "/words", "/explain/k_anonymity",
)  # fmt: skip
LOOKS = [("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Opens a page of a studio; whatever the console says or a policy refuses fails the test."""
    contexts, said = [], []

    def open_page(client: Client, scheme: str = "light", width: int = 1280) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(180_000)  # documents take their time on a busy machine
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(client.address)
        page.wait_for_url(lambda url: "/enter" not in url)
        assert "token" not in page.url
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not [text for text in said if "status of 400" not in text], (
        "a sentence of ours is a 400; anything else is not meant"
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    """A finished run on a table whose names and values are markup."""
    folder = tmp_path_factory.mktemp("hostile")
    table = folder / "people.csv"
    cells = '"' + HOSTILE.replace('"', '""') + '"'
    head = f"age,{cells},sick\n"
    rows = "".join(f"{20 + i % 40},{cells if i % 3 else 'plain'},{'yes' if i % 7 else 'no'}\n" for i in range(240))
    table.write_text(head + rows, encoding="utf-8")
    with serving(folder / "work", str(table)) as client:
        client.enter()
        client.post("/columns/roles", {"roles": ["quasi", "quasi", "sensitive"]})
        answer = client.post(
            "/limits/answers",
            {"guidance": "questions", "to": "public", "impact": "low", "controls": "medium", "motives": "medium"},
        )
        assert answer.status == 200, answer
        plan(folder / "work", FEW)
        client.post("/run/start", {})
        while '"over": true' not in client.get("/run/events").text:
            pass
        assert (folder / "work" / ".studio" / "points.json").exists(), client.get("/run").text
        yield client, folder / "work"


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_every_page_is_fit_for_everyone(hostile: tuple[Client, Path], opened: Any, scheme: str, width: int) -> None:
    """axe finds nothing on any page; nothing runs off a telephone; what a table says is text."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(hostile[0], scheme, width)
    for path in PAGES:
        page.goto(f"http://{hostile[0].host}{path}")
        if path == "/map":
            page.locator("#map svg").wait_for()
        if path == "/look":
            page.get_by_role("button", name="Find the levels").click()
            page.locator("#lattice svg").wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        found = Axe().run(page).response["violations"]
        assert not found, json.dumps(
            [path, *((v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found)], indent=1
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert "run" not in page.title().split()
        assert page.locator("img").count() == 0
        assert page.locator("script").count() <= 2


def test_the_whole_way_by_keyboard_with_a_reload_a_second_tab_and_a_stop(
    town: Path, tmp_path: Path, opened: Any
) -> None:
    folder = tmp_path / "work"
    with serving(folder) as client:
        page = opened(client)
        page.locator("#file").set_input_files(town / "people.csv")
        page.get_by_text("300 rows, 12 columns").wait_for()
        page.get_by_role("link", name="on to the columns").press("Enter")
        role = page.get_by_role("region", name="education").get_by_label("Role")
        role.focus()
        role.press("n")  # nobody may learn it, never leaves the house, numbers ...: the browser goes through them
        page.locator("#together").get_by_text("7 quasi-identifiers").wait_for()
        role.select_option("quasi")
        page.locator("#together").get_by_text("8 quasi-identifiers").wait_for()

        page.get_by_role("link", name="on to the hierarchies").press("Enter")
        age = page.get_by_role("region", name="age")
        age.get_by_text("Other levels").press("Enter")
        age.get_by_label("Numbers").fill("10, 30")
        age.get_by_text("Not taken yet").wait_for()
        age.get_by_role("button", name="Take these levels").press("Enter")
        age.get_by_text("widths = [10, 30]").wait_for()
        page.get_by_role("link", name="On to the limits").press("Enter")
        page.get_by_label("low: a disclosure").check()
        page.get_by_role("button", name="Draw the limits").press("Enter")
        page.get_by_text("IPC Ontario").first.wait_for()
        page.get_by_label("Bound: stricter").first.fill("0.9")
        page.get_by_role("button", name="Draw the limits again").press("Enter")
        page.get_by_role("alert").get_by_text("not looser").wait_for()

        page.goto(f"http://{client.host}/look")
        page.get_by_text("A limit is missed").wait_for()
        for slider in page.locator("input[name=levels]").all():
            slider.press("End")
        page.get_by_text("Every limit is met").wait_for()
        page.get_by_role("button", name="Find the levels that lose least").press("Enter")
        page.get_by_role("button", name="Set the sliders so").press("Enter")
        page.locator("#seen").get_by_role("link", name="marketer risk").press("Enter")
        page.get_by_role("dialog").get_by_text("when").first.wait_for()
        page.get_by_role("dialog").get_by_role("button", name="Close").press("Enter")
        page.get_by_role("dialog").wait_for(state="hidden")

        plan(folder, FEW + '\n[[candidate]]\nmechanism = "k_member"\nk = [10, 12, 14, 16, 18, 20]\n')
        page.goto(f"http://{client.host}/run")
        page.get_by_role("button", name="Start").press("Enter")
        page.get_by_text("of 9").first.wait_for()
        page.reload()
        page.get_by_text("of 9").first.wait_for()
        second = page.context.new_page()
        second.set_default_timeout(180_000)
        second.goto(f"http://{client.host}/run")
        second.get_by_text("of 9").first.wait_for()
        second.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Go on").wait_for()
        second.get_by_role("button", name="Go on").wait_for()
        plan(folder)  # fewer: what was measured of them is kept
        page.get_by_role("button", name="Go on").press("Enter")
        page.get_by_role("link", name="See the map").wait_for()
        second.goto(f"http://{client.host}/map")
        second.locator("#map svg").wait_for()
        dots = second.locator("#map svg .mark-symbol path[aria-roledescription]")
        assert dots.count() >= 3
        dots.last.hover(force=True)
        second.locator("#tip p").first.wait_for()
        second.keyboard.press("Escape")
        chart = second.locator("#map")
        chart.press("ArrowRight")
        second.locator("#ring").wait_for()
        second.locator("#tip").get_by_text("adversary").wait_for()
        chart.press("+")
        chart.press("0")
        second.locator("select[name=risk]").select_option("k_anonymity")
        second.get_by_role("columnheader", name="k-anonymity").wait_for()
        page.goto(f"http://{client.host}/decide")
        page.get_by_role("heading", name="published").wait_for()
        with page.context.expect_page() as report:
            page.get_by_role("link", name="report.html").click()
        report.value.locator("#map svg").wait_for()
        page.get_by_role("button", name="Write the package").press("Enter")
        with page.expect_download() as download:
            page.get_by_role("link", name="The release (CSV)").click()
        assert Path(download.value.path()).read_bytes() == (folder / "package" / "release.csv").read_bytes()


def test_no_press_is_lost_while_the_page_changes(hostile: tuple[Client, Path], opened: Any) -> None:
    """The focus stays where it is when what is around it is replaced, and a form that came a moment ago is sent by the script."""
    page = opened(hostile[0])
    page.goto(f"http://{hostile[0].host}/look")
    link = page.locator("#seen").get_by_role("link", name="marketer risk")
    link.focus()
    page.evaluate("window.old = document.activeElement")
    page.locator("input[name=levels]").first.evaluate(
        "(slider) => { slider.value = slider.max; slider.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    page.evaluate(
        "() => new Promise((done) => { const look = () => window.old.isConnected ? setTimeout(look, 20) : done(); look(); })"
    )
    assert page.evaluate("document.activeElement.textContent") == "marketer risk"
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_text("when").first.wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Close").press("Enter")
    page.get_by_role("dialog").wait_for(state="hidden")
    with page.expect_response(
        "**/compare/start"
    ) as sent:  # a POST of the script; a form of the browser's own breaks the policy, which the fixture sees
        page.evaluate(
            "const form = document.createElement('form'); form.dataset.post = '/compare/start'; document.body.append(form); form.requestSubmit();"
        )
    assert sent.value.request.method == "POST"


def test_the_stewards_workbook_is_read_by_two_clicks(tmp_path: Path, opened: Any) -> None:
    """A title above the header, a total below the rows."""
    import xlsxwriter

    book = xlsxwriter.Workbook(tmp_path / "staff.xlsx")
    lines = [["Staff of the town hall", "", ""], ["as of May", "", ""], ["age", "office", "days ill"]]
    lines += [[25 + i % 40, "ABC"[i % 3], i % 9] for i in range(120)]
    for at, line in enumerate([*lines, ["all offices", "", 477]]):
        book.add_worksheet("Staff").write_row(at, 0, line) if not book.worksheets() else book.worksheets()[0].write_row(
            at, 0, line
        )
    book.close()
    with serving(tmp_path / "work") as client:
        page = opened(client)
        page.locator("#file").set_input_files(tmp_path / "staff.xlsx")
        page.get_by_role("heading", name="staff.xlsx").wait_for()
        page.get_by_text("The file as it stands").click()
        row = page.locator("tr.choose").filter(has_text="days ill")
        row.get_by_role("cell", name="office").click()
        page.get_by_role("columnheader", name="days ill").wait_for()
        page.get_by_text("The file as it stands").wait_for()
        box = page.locator("[data-sets=totals]")
        if not box.is_checked():
            box.check()
        page.get_by_text("120 rows, 3 columns").wait_for()


def test_without_the_cookie_a_browser_gets_nothing(hostile: tuple[Client, Path], browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(f"http://{hostile[0].host}/open")
    assert answer.status == 403
    page.goto("about:blank")  # another's page: ours lets no form be sent at all
    page.set_content(
        f'<form method="post" action="http://{hostile[0].host}/run/start" enctype="text/plain"><input name="x"></form>'
    )
    with page.expect_navigation():
        page.evaluate("document.forms[0].submit()")
    assert "another page" in page.content()
    context.close()
