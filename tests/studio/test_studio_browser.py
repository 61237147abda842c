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
        page.set_default_timeout(120_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(client.address)
        page.wait_for_url(lambda url: "/enter" not in url)
        assert "token" not in page.url
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not said


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
    for path in ("/open", "/columns", "/limits", "/look", "/run", "/map", "/decide"):
        page.goto(f"http://{hostile[0].host}{path}")
        if path == "/map":
            page.locator("#map svg").wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        found = Axe().run(page).response["violations"]
        assert not found, json.dumps([(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found], indent=1)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert "run" not in page.title().split()
        assert page.locator("img").count() == 0
        assert page.locator("script").count() <= 2
