"""The decision sheet and its verdict in every document: one page, every cross listed, and no document that says otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from house import canaries
from sfumato.core.words import percent
from sfumato.metrics import metric, require
from sfumato.report import html, markdown, pdf
from sfumato.report.document import Document, ShareBar, TileRow
from sfumato.report.documents import DOCUMENTS, write_all
from sfumato.report.internal import internal
from sfumato.report.sheet import LINE, sheet
from sfumato.study.context import Context
from sfumato.study.decision import decision
from sfumato.study.study import Result, Study, grid

CHROMIUM = Path("/usr/bin/chromium")
OWNERS = ("report", "sheet", "dpia", "wp29", "ema", "intruder")
"""The documents that tell the owner's decision; the note is for everybody, and tells limits alone."""


def study(**more: Any) -> Study:
    roles = sf.Roles(quasi=("age", "town"), sensitive=("ill",), identifiers=("name", "pay"), source="roles.toml")
    context = Context(preset="scientific-use")
    given: dict[str, Any] = {"context": context, "require": context.require, "title": "Town"}
    given["measures"] = tuple(map(metric, ("k_anonymity", "marketer_risk", "iloss")))
    texts = ("mondrian k=3", "mondrian k=7", "mondrian k=2")
    return Study(**{"table": sf.read(canaries(140)), "roles": roles, "candidates": grid(texts), **given, **more})


@pytest.fixture(scope="module")
def accept() -> Result:
    return study(accept={"wp29.singling_out": "the recipients sign"}, date="2026-11-19", purpose="teaching").run(
        refine=0
    )


@pytest.fixture(scope="module")
def refuse() -> Result:
    return study(require=(require("k_anonymity >= 141"),), context=None).run(refine=0)


@pytest.fixture(scope="module")
def good() -> Result:
    """Everybody in one group, and a limit on what it tells."""
    limits = (require("k_anonymity >= 20"), require("alpha_anonymity(ill) <= 0.9"))
    return study(require=limits, context=None, candidates=grid(["mondrian k=140"])).run(refine=0)


@pytest.fixture(params=["good", "accept", "refuse"])
def result(request: pytest.FixtureRequest) -> Result:
    made: Result = request.getfixturevalue(request.param)
    return made


def documents(result: Result) -> dict[str, Document]:
    made = {"report": internal(result), "sheet": sheet(result)}
    return made if result.recommended[0] is None else made | {name: make(result) for name, make in DOCUMENTS.items()}


def words(document: Document) -> str:
    return " ".join(markdown.written(document).replace("\\", "").split())


def test_the_three_answers(good: Result, accept: Result, refuse: Result) -> None:
    assert [decision(each).answer for each in (good, accept, refuse)] == ["yes", "accept", "no"]


def test_every_document_of_the_owner_gives_the_same_answer(result: Result) -> None:
    verdict = decision(result)
    for name, document in documents(result).items():
        said = words(document)
        assert (name in OWNERS) == (verdict.headline in said), name
        if verdict.answer == "no":
            assert "May be published" not in said, name
        else:
            assert "May not be published" not in said, name


def test_every_open_point_stands_on_the_sheet_with_its_reason_or_a_line(result: Result) -> None:
    said = words(sheet(result))
    for point in decision(result).open:
        assert point.key in said
        assert " ".join(point.what.split())[:60] in said
        assert ("must be mended first" if point.stops else point.reason or LINE) in said
    verdict = decision(result)
    assert ("No sheet has an open cross." in said) == (not verdict.open and verdict.released is not None)


def test_no_sheet_has_a_cross_that_the_decision_does_not_know(result: Result) -> None:
    verdict = decision(result)
    for name in ("wp29", "ema", "intruder"):
        if name not in documents(result):
            continue
        crosses = words(documents(result)[name]).count("✗")
        known = len(verdict.points({"wp29": "WP29", "ema": "EMA", "intruder": "Intruder"}[name]))
        if name == "wp29":
            assert crosses == known
        elif name == "intruder":  # the same tests stand there, too
            assert crosses == len(verdict.points("WP29"))
        else:
            assert crosses == 0


def test_all_documents_tell_the_same_numbers(accept: Result) -> None:
    verdict = decision(accept)
    said = {name: words(document) for name, document in documents(accept).items()}
    smallest = verdict.found[0].one_in
    assert f"1 in {smallest}" in said["sheet"]
    assert f"| smallest class | 1 | {smallest} |" in said["report"]
    assert f"**{1 / (smallest or 1):.4g}**" in said["ema"]  # the largest residual risk
    assert f"{verdict.released:,} rows are published" in said["note"]
    assert f"{verdict.released:,} of {verdict.before:,} rows are released" in said["sheet"]
    assert verdict.limits[0].words in said["note"]
    assert verdict.limits[0].words in said["sheet"]
    (secret,) = verdict.secrets
    assert percent(secret.numbers.blind) in said["sheet"]
    for point in verdict.points("WP29"):
        assert re.sub(r"[^a-z]", "", point.what.split(" works")[0].lower()) in re.sub(
            r"[^a-z]", "", said["wp29"].lower()
        )


def test_what_the_owner_says_stands_on_the_sheet_and_the_bytes_know_no_other_day(accept: Result, good: Result) -> None:
    said = words(sheet(accept))
    assert "2026-11-19" in said
    assert "teaching" in said
    assert "the recipients sign" in said
    assert not re.search(r"20\d\d-\d\d-\d\d", words(sheet(good)))
    assert html.written(sheet(good)) == html.written(sheet(good))


def test_the_sheet_is_one_printed_page(result: Result, tmp_path: Path) -> None:
    assert pages(pdf.written(sheet(result))) == 1


def pages(content: bytes) -> int:
    return max(int(n) for n in re.findall(rb"/Type\s*/Pages[^>]*?/Count (\d+)|/Count (\d+)", content) for n in n if n)


def test_its_bars_are_the_numbers(accept: Result) -> None:
    verdict = decision(accept)
    bars = list(_bars(sheet(accept)))
    (secret,) = verdict.secrets
    shares = [secret.numbers.blind, secret.numbers.informed, secret.numbers.worst]
    assert [bar.share for bar in bars] == [*shares, *(each.share for each in verdict.lost)]


def _bars(document: Document) -> Iterator[ShareBar]:
    (page,) = document.blocks
    for tiles in page.blocks:  # type: ignore[union-attr]
        for tile in tiles.cards if isinstance(tiles, TileRow) else ():
            for block in tile.blocks:
                yield from getattr(block, "bars", ())


@pytest.mark.full
@pytest.mark.skipif(not CHROMIUM.exists(), reason="needs /usr/bin/chromium to render the pages")
def test_every_page_fits_its_window_and_its_reader(accept: Result, refuse: Result, tmp_path: Path) -> None:
    """No page is wider than its window, nothing is cut off, nothing fails, and axe finds nothing; on paper the sheet is one page."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    write_all(accept, tmp_path / "accept", formats=["html"])
    write_all(refuse, tmp_path / "refuse", formats=["html"])
    files = sorted(tmp_path.glob("*/*.html"))
    assert len(files) == 9
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        for file in files:
            for width, scheme in ((1400, "light"), (1000, "dark"), (400, "light")):
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
                page = context.new_page()
                page.set_default_timeout(120_000)  # the machine may be busy
                said: list[str] = []
                page.on("console", lambda message, said=said: said.append(message.text))
                page.on("pageerror", lambda error, said=said: said.append(str(error)))
                page.goto(file.as_uri())
                where = f"{file.parent.name}/{file.name} at {width}"
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
                cut = "[...document.querySelectorAll('.yes, .no, .sheet td, .sheet p')].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').length"
                assert page.evaluate(cut) == 0, where
                wide = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
                assert width > 400 or page.evaluate(wide) == 0, where
                assert said == [], where
                if width != 1000:
                    found = Axe().run(page)
                    assert found.violations_count == 0, (where, [each["id"] for each in found.response["violations"]])
                if width == 1400 and file.name == "sheet.html":
                    assert pages(page.pdf(format="A4")) == 1, where
                context.close()
        browser.close()


def test_whoever_holds_the_sheet_is_told_what_to_do(good: Result, accept: Result, refuse: Result) -> None:
    """A refusal has no line to sign on, and does not say that nothing is open."""
    assert "No sheet has an open cross" in words(sheet(good))
    assert "Write a reason beside each open point" in words(sheet(accept))
    refused = words(sheet(refuse))
    assert "Do not publish." in refused
    assert "Signature" not in refused
    assert "No sheet has an open cross" not in refused
    for each in (good, accept):
        assert "Signature" in words(sheet(each))


def test_the_tests_behind_open_points_are_explained_beside_them(accept: Result) -> None:
    keys = [point.key for point in decision(accept).points("WP29")]
    assert keys
    assert ("wp29.singling_out" in keys) == (
        "Describing a person so that the description fits nobody else" in words(sheet(accept))
    )
