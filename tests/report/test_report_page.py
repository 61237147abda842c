"""The report: one page that needs nothing else, shows the study's own numbers, and none of the table's values."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import canaries
from selection import few
from sfumato.cli.study_output import write_report
from sfumato.metrics import metric, require
from sfumato.report.document import spell
from sfumato.study.risk_utility_map import limits
from sfumato.study.study import Candidate, Result, Study, grid

CHROMIUM = Path("/usr/bin/chromium")
KS = ("mondrian k=2", "mondrian k=4", "mondrian k=8", "mondrian k=16", "mondrian k=5000")
VOID = {"meta", "br", "link", "img", "input", "hr", "base", "source", "embed"}


class Page(HTMLParser):
    """What a browser would find: elements with attributes, texts outside scripts and styles, and the scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.rows: list[list[str]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert self._open == [], f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            self.scripts[-1] += data
        elif inside == "style":
            self.styles.append(data)
        else:
            self.words.append(data)
            if {"td", "th"} & set(self._open):
                self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def figures(self) -> dict[str, Any]:
        """The specifications in our own script, each on a line of its own."""
        found = re.findall(r'"([\w-]+)": (\{".*\}),$', self.scripts[-1], re.MULTILINE)
        return {name: json.loads(spec) for name, spec in found}

    @property
    def ours(self) -> str:
        """Everything but the drawing library."""
        return " ".join([self.text, self.scripts[-1], *(str(a) for _, attrs in self.elements for a in attrs.values())])


def values_in(spec: Any) -> list[dict[str, Any]]:
    """Every row of data in a specification."""
    if isinstance(spec, dict):
        rows = spec["values"] if isinstance(spec.get("values"), list) else []
        return [*rows, *(row for key, item in spec.items() if key != "values" for row in values_in(item))]
    return [row for item in spec for row in values_in(item)] if isinstance(spec, list) else []


def study(requirements: tuple[str, ...] = ("k_anonymity >= 4",), texts: tuple[str, ...] = KS, **more: Any) -> Study:
    roles = sf.Roles(quasi=("age", "town"), sensitive=("ill", "pay"), identifiers=("name",), source="roles.toml")
    wanted = tuple(require(text) for text in requirements)
    return Study(table=sf.read(canaries(150)), roles=roles, candidates=grid(texts), require=wanted, **more)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tmp_path_factory.mktemp("report")
    result = study().run(refine=0)
    write_report(result, folder)
    return result, folder


@pytest.fixture(scope="module")
def seen(written: tuple[Result, Path]) -> Page:
    return Page(written[1] / "report.html")


@pytest.fixture(scope="module")
def content(written: tuple[Result, Path]) -> dict[str, Any]:
    return dict(json.loads((written[1] / "report.json").read_text(encoding="utf-8")))


# --- self-contained -------------------------------------------------------------------------------------------------


def test_the_folder_holds_the_page_and_its_numbers(written: tuple[Result, Path]) -> None:
    assert sorted(p.name for p in written[1].iterdir()) == ["report.html", "report.json", "sheet.html"]


def test_nothing_is_fetched(seen: Page) -> None:
    for tag, attributes in seen.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "video", "audio", "source"), tag
        for name, value in attributes.items():
            assert name not in ("src", "href", "srcset", "action", "data", "poster", "background"), (tag, name)
            assert not name.startswith("on"), (tag, name)
            assert "://" not in (value or ""), (tag, name)
        assert attributes.get("http-equiv", "Content-Security-Policy") == "Content-Security-Policy"
    for style in seen.styles:
        assert "@import" not in style
        assert "url(" not in style
    ours = seen.scripts[-1]
    for call in ("fetch(", "XMLHttpRequest", "import(", "importScripts", "WebSocket", "sendBeacon", "document.write"):
        assert call not in ours
    for spec in seen.figures.values():
        assert '"url"' not in json.dumps(spec)


def test_the_library_stands_inside_and_only_once(seen: Page) -> None:
    assert len(seen.scripts) == 2
    assert "vegaEmbed" in seen.scripts[0]
    assert len(seen.scripts[0]) > 100_000


# --- the same numbers -----------------------------------------------------------------------------------------------


def test_every_candidate_stands_in_the_table_with_its_numbers(seen: Page, content: dict[str, Any]) -> None:
    shown: dict[str, list[str]] = {}
    for cells in seen.rows:  # the first table that names a candidate is that of all candidates
        if len(cells) > 3 or (cells and "not made" in cells[1]):
            shown.setdefault(cells[0], cells)
    for candidate in content["candidates"]:
        row = shown[candidate["short"]]
        if not candidate["made"]:
            assert any(candidate["failure"] in cell for cell in row)
            continue
        told = {" ".join(cell.split()) for cell in row}
        for name in (content["risk"], content["utility"], "k_anonymity", "t_closeness[equal]", "average_class_size"):
            assert spell(candidate["scores"][name]["value"]) in told, name


def test_the_map_shows_the_numbers_of_the_json_exactly(seen: Page, content: dict[str, Any]) -> None:
    rows = [row for row in values_in(seen.figures["map"]) if "candidate" in row]
    found = {(row["candidate"], row["risk"], row["utility"]) for row in rows}
    expected = {
        (c["name"], c["scores"][content["risk"]]["value"], c["scores"][content["utility"]]["value"])
        for c in content["candidates"]
        if c["made"]
    }
    assert found == expected


def test_the_standing_of_each_point(seen: Page, content: dict[str, Any]) -> None:
    standing = {row["candidate"]: row["standing"] for row in values_in(seen.figures["map"]) if "standing" in row}
    for candidate in content["candidates"]:
        if not candidate["made"]:
            assert candidate["name"] not in standing
        elif candidate["name"] == content["recommended"]:
            assert standing[candidate["name"]] == "recommended"
        elif not candidate["met"]:
            assert standing[candidate["name"]] == "misses a requirement"
        else:
            expected = "on the frontier" if candidate["on_frontier"] else "beaten by another"
            assert standing[candidate["name"]] == expected


def test_the_recommended_one_is_told_in_sentences(seen: Page, content: dict[str, Any]) -> None:
    (chosen,) = [c for c in content["candidates"] if c["name"] == content["recommended"]]
    assert content["why"] in seen.text
    for name, score in chosen["scores"].items():
        assert " ".join(score["sentence"].split()) in seen.text, name
        assert score["unit"] in seen.text
    for name, reason in chosen["skipped"].items():
        assert name in seen.text
        assert reason in seen.text


def test_requirements_are_shown_and_drawn(written: tuple[Result, Path], seen: Page) -> None:
    assert "k_anonymity >= 4" in seen.text
    assert limits(written[0]) == [{"axis": "risk", "at": 0.25, "text": "k_anonymity >= 4"}]
    assert any(row.get("at") == 0.25 for row in values_in(seen.figures["map"]))


def test_every_measure_is_explained(seen: Page, content: dict[str, Any]) -> None:
    for name in content["candidates"][0]["scores"]:
        card = metric(re.sub(r"\(.*\)$", "", name)).card
        for text in (card.title, card.question, card.misleads, card.source):
            assert " ".join(text.split()) in seen.text


def test_classes_are_shown_for_every_sensitive_column(written: tuple[Result, Path], seen: Page) -> None:
    assert {"map", "distribution_leakage-0", "entropy_leakage-0", "distribution_leakage-1", "entropy_leakage-1"} == set(
        seen.figures
    )
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert sorted(map(str, ids)) == sorted(seen.figures)
    for name, spec in seen.figures.items():
        if name != "map":
            assert sum(row["rows"] for row in values_in(spec)) == 150
    assert "Class by class: ill" in seen.text
    assert "Class by class: pay" in seen.text


def test_the_commands_that_make_it_are_shown(written: tuple[Result, Path], seen: Page) -> None:
    for command in written[0].commands():
        assert command in seen.text


# --- no value of the table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["report.html", "report.json"])
def test_no_value_of_the_table_is_shown(written: tuple[Result, Path], file: str) -> None:
    text = (written[1] / file).read_text(encoding="utf-8")
    for canary in ("Quixotic", "Zanzibar77", "Timbuktu88", "Kuru5561", "Yaws5562", "77100"):
        assert canary not in text


def test_it_promises_only_what_is_measured(seen: Page) -> None:
    for word in ("anonymous", "anonymised", "anonymized", "safe", "secure", "guarantee", "guaranteed"):
        assert not re.search(rf"\b{word}\b", seen.text, re.IGNORECASE), word


# --- hostile names --------------------------------------------------------------------------------------------------

HOSTILE = ("</script><b>bold</b>", 'a"b', "<img src=x onerror=alert(1)>", "{{ 7 * 7 }}", "it's & <!-- so -->")


def hostile_study(folder: Path) -> Study:
    """The names as quasi-identifiers, as sensitive columns, in a requirement and in the name of a candidate."""
    rng = np.random.default_rng(2)
    path = folder / "<i>people<i>.csv"
    secret, known = (HOSTILE[0], HOSTILE[4]), HOSTILE[1:4]
    columns = {name: rng.integers(0, 9, 60).astype(str) for name in known}
    columns |= {name: rng.choice(list("xyz"), 60) for name in secret}
    sf.read(pa.table(columns)).write(path)
    roles = sf.Roles(quasi=known, sensitive=secret, source='r"<u>.toml')
    several = metric("distinct_l_diversity").on(secret[0]).at_least(1)
    steered = Candidate("steered", sf.Mondrian(k=4, require=(several,)))
    return Study(
        table=sf.read(path),
        roles=roles,
        candidates=(*grid(["mondrian k=2", "mondrian k=9"]), steered),
        risk=metric("t_closeness[equal]").on(secret[0]),
        require=(several, metric("t_closeness[equal]").on(secret[0]).at_most(0.99)),
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    write_report(hostile_study(folder).run(refine=0), folder)
    return folder / "report.html"


def test_hostile_names_are_text(hostile: Path) -> None:
    seen = Page(hostile)
    tags = {tag for tag, _ in seen.elements}
    assert not tags & {"b", "i", "u", "img"}
    assert len(seen.scripts) == 2
    for name in HOSTILE:
        assert " ".join(name.split()) in seen.text
    assert "<i>people<i>.csv" in seen.text
    assert " 49 " not in f" {seen.text} ".replace(",", " ")
    assert len(seen.figures) == 5  # each still reads as JSON
    rows = values_in(seen.figures["map"])
    assert any(HOSTILE[0] in row.get("candidate", "") for row in rows)
    assert any(HOSTILE[0] in row.get("text", "") for row in rows)
    assert html.escape(HOSTILE[2]) in hostile.read_text(encoding="utf-8")


def test_hostile_names_survive_in_the_json(hostile: Path) -> None:
    content = json.loads((hostile.parent / "report.json").read_text(encoding="utf-8"))
    texts = content["requirements"]
    assert [str(require(text)) for text in texts] == texts
    assert HOSTILE[0] in texts[0]


# --- again ----------------------------------------------------------------------------------------------------------


RELAXED = ("mondrian k=3 mode=relaxed", "mondrian k=9 mode=relaxed")


@pytest.mark.parametrize("texts", few([KS, RELAXED], RELAXED))
def test_the_same_study_writes_the_same_bytes(texts: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_report(study(texts=texts).run(seed=5), tmp_path / name)
    for file in ("report.html", "report.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_an_earlier_report_is_replaced(written: tuple[Result, Path], tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "report.json").write_text("old")
    write_report(written[0], tmp_path)
    assert (tmp_path / "report.html").read_bytes() == (written[1] / "report.html").read_bytes()
    assert (tmp_path / "report.json").read_bytes() == (written[1] / "report.json").read_bytes()


@pytest.mark.parametrize("at", [1, 2], ids=["page", "numbers"])
def test_a_failure_leaves_no_half_written_file(
    written: tuple[Result, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    calls = []

    def full(self: Path, *args: Any, **more: Any) -> Any:
        calls.append(self)
        if len(calls) == at:
            self.touch()  # the disk fills up in the middle of writing
            raise OSError(28, "No space left on device")
        return real(self, *args, **more)

    real = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", full)
    for name in ("report.html", "report.json"):
        (tmp_path / name).write_text("old")
    with pytest.raises(sf.SfumatoError, match="cannot be written"):
        write_report(written[0], tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"report.html": "old", "report.json": "old"}


# --- other shapes of a study ----------------------------------------------------------------------------------------


def test_no_candidate_to_take(tmp_path: Path) -> None:
    result = study(("k_anonymity >= 149",), KS[:3]).run(refine=0)
    write_report(result, tmp_path)
    seen = Page(tmp_path / "report.html")
    assert "No candidate can be recommended" in seen.text
    assert "k_anonymity >= 149 is met by none" in seen.text
    assert set(seen.figures) == {"map"}
    assert "sfumato sanitize" not in seen.text
    for text in KS[:3]:
        assert text in seen.text


def test_without_sensitive_columns_and_requirements(tmp_path: Path) -> None:
    table = sf.read(pa.table({"age": np.arange(40), "n": ["x"] * 40}))
    roles = sf.Roles(quasi=("age",), insensitive=("n",), source="roles.toml")
    write_report(
        Study(table=table, roles=roles, candidates=grid(["mondrian k=2", "mondrian k=9"])).run(refine=0), tmp_path
    )
    seen = Page(tmp_path / "report.html")
    assert set(seen.figures) == {"map"}
    assert "No requirement was given" in seen.text
    assert "Class by class" not in seen.text


def test_a_release_from_elsewhere_is_named_by_its_file(tmp_path: Path) -> None:
    from sfumato.core.release import Release

    original = sf.read(pa.table({"age": [1, 2, 3, 4], "ill": list("abab")}))
    roles = sf.Roles(quasi=("age",), sensitive=("ill",), source="roles.toml")
    theirs = Release(
        table=sf.read(pa.table({"age": ["[1,2]"] * 2 + ["[3,4]"] * 2, "ill": list("abab")})), original=original
    )
    held = Study(table=original, roles=roles, candidates=(Candidate("their <file>.csv", release=theirs),))
    write_report(held.run(refine=0), tmp_path)
    seen = Page(tmp_path / "report.html")
    assert "Recommended: their <file>.csv" in seen.text
    assert "sfumato sanitize" not in seen.text


@pytest.mark.parametrize(
    ("risk", "requirement", "drawn"),
    [
        ("prosecutor_risk", "prosecutor_risk <= 0.2", [("risk", 0.2)]),
        ("prosecutor_risk", "iloss <= 0.5", [("utility", 0.5)]),
        ("prosecutor_risk", "k_anonymity >= 4", [("risk", 0.25)]),
        ("k_anonymity", "k_anonymity >= 4", [("risk", 4.0)]),
        ("prosecutor_risk", "distinct_l_diversity >= 1", []),
        ("t_closeness[equal]", "t_closeness[equal] <= 0.9", [("risk", 0.9)]),
        ("t_closeness[equal]", "t_closeness[ordered](pay) <= 0.9", []),  # another measure: its line would lie here
        ("t_closeness[equal](ill)", "t_closeness[equal](pay) <= 0.9", []),
    ],
)
def test_which_requirements_are_lines_on_the_map(risk: str, requirement: str, drawn: list[tuple[str, float]]) -> None:
    result = study((requirement,), KS[:2], risk=metric(risk), utility=metric("iloss")).run(refine=0)
    assert [(limit["axis"], limit["at"]) for limit in limits(result)] == drawn


@pytest.mark.parametrize("bound", [0, -1])
def test_a_limit_that_everything_meets_needs_no_line(bound: int, tmp_path: Path) -> None:
    result = study((f"k_anonymity >= {bound}",), KS[:2]).run(refine=0)
    write_report(result, tmp_path)
    assert f"k_anonymity >= {bound}" in Page(tmp_path / "report.html").text
    assert limits(result) == []  # a probability of 1/0 or below 0 is nowhere on the map


def test_the_page_says_which_corner_is_good(written: tuple[Result, Path], seen: Page, tmp_path: Path) -> None:
    """Lower left is best only where less is better on both axes."""
    assert "lower left" in seen.text
    write_report(study((), KS[:3], risk=metric("k_anonymity")).run(refine=0), tmp_path)
    assert "lower left" not in Page(tmp_path / "report.html").text


# --- in a browser ---------------------------------------------------------------------------------------------------


def browsed(page: Path, folder: Path) -> tuple[str, str]:
    """The page as a browser leaves it, and what it said on its console."""
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --enable-logging=stderr "
        "--disable-component-update --disable-sync --virtual-time-budget=5000 --dump-dom"
    )
    done = subprocess.run(
        [CHROMIUM, *flags.split(), f"--user-data-dir={folder / 'profile'}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout, done.stderr


@pytest.mark.skipif(not CHROMIUM.exists(), reason="needs /usr/bin/chromium to render the page")
def test_a_browser_draws_every_figure(hostile: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    shutil.copy(hostile, target)
    dom, said = browsed(target, tmp_path)
    assert "CONSOLE" not in said, "something was refused or failed"
    body = re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)
    for name in ("map", "distribution_leakage-0", "entropy_leakage-0", "distribution_leakage-1", "entropy_leakage-1"):
        assert re.search(rf'id="{name}"[^>]*>.*?<svg', body, re.DOTALL), f"{name} was not drawn"
    assert len(re.findall(r'<svg[^>]*class="marks"', body)) == 5
    assert "mark-symbol" in body


@pytest.mark.full
@pytest.mark.skipif(not CHROMIUM.exists(), reason="needs /usr/bin/chromium to render the page")
def test_a_browser_runs_no_script_but_ours(hostile: Path, tmp_path: Path) -> None:
    """Markup that slipped through every escape would still be refused: scripts, handlers and images."""
    slipped = "<script>document.title = 'run'</script><img src='https://example.org/x.png' onerror=\"document.title = 'run'\">"
    target = tmp_path / "report.html"
    text = hostile.read_text(encoding="utf-8").replace("<header>", f"<header>{slipped}", 1)
    target.write_text(text, encoding="utf-8")
    dom, said = browsed(target, tmp_path)
    assert "<title>run</title>" not in dom
    assert said.count("Content Security Policy") >= 2
    assert "<svg" in re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL), "ours still runs"


@pytest.mark.parametrize("which", ["frontier", "design"])
def test_the_other_pages_carry_the_policy_too(which: str, tmp_path: Path) -> None:
    target = tmp_path / f"{which}.html"
    if which == "frontier":
        from sfumato.report.figure_pages import write_frontier
        from sfumato.search.frontier import policy_frontier

        people = study((), KS[:1])
        write_frontier(policy_frontier(people.table, people.roles), people.roles, target, table="<b>people</b>")
    else:
        from sfumato.report.figure_pages import write_design

        point = {"name": "a<b>", "degradation": 0.5, "error": 0.4, "designed": 0.5, "bound": 0.6, "exactness": "exact"}
        write_design([point, {**point, "degradation": 0.6}], [point], target, what="x</script>", uniform=True)
    seen = Page(target)
    (rules,) = [a["content"] or "" for tag, a in seen.elements if tag == "meta" and "http-equiv" in a]
    assert rules.startswith("default-src 'none'; script-src 'sha256-")
    assert "eval" not in rules
    for script in seen.scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in rules
    if CHROMIUM.exists():
        dom, said = browsed(target, tmp_path)
        assert "CONSOLE" not in said
        assert "<svg" in re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)
