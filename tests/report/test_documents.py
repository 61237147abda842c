"""Every document in every format: made, the same each time, self-contained, and without a value of the table."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import canaries
from sfumato.inspect.changes import ColumnChange
from sfumato.metrics import metric, registry, require
from sfumato.report import glossary, html, markdown, pdf
from sfumato.report.document import (
    Bullets,
    Callout,
    Code,
    Document,
    Figure,
    Fold,
    Grid,
    GridColumn,
    Heading,
    Mark,
    Paragraph,
    Row,
    Terms,
    code,
    plain,
    strong,
)
from sfumato.report.documents import DOCUMENTS, FORMATS, write, write_all
from sfumato.report.external import external, publishable
from sfumato.report.internal import internal
from sfumato.report.shared_sections import blanked
from sfumato.report.sheet import sheet
from sfumato.study.context import Context
from sfumato.study.risk_utility_map import standing
from sfumato.study.study import Result, Study, grid

NAMES = ("report", "sheet", "note", "dpia", "wp29", "ema", "intruder")
SEED = 918273
MEASURES = (
    "k_anonymity",
    "marketer_risk",
    "average_class_size",
    "t_closeness[equal]",
    "column_distance",
    "linkage_reidentification",
)
CANARIES = ("Quixotic", "Zanzibar77", "Timbuktu88", "Kuru5561", "Yaws5562", "77100")
ODD = ("<b>bold", "#set text", "*star_", "$x$", "q\"u'o", "two\nlines", "a|b`c", "[l](x)", "&amp;")


def study(**more: Any) -> Study:
    roles = sf.Roles(quasi=("age", "town"), sensitive=("ill", "pay"), identifiers=("name",), source="roles.toml")
    context = Context(preset="scientific-use")
    given: dict[str, Any] = {"context": context, "require": (*context.require, require("distinct_l_diversity >= 2"))}
    given["measures"] = tuple(metric(name) for name in MEASURES)
    texts = ("mondrian k=2", "mondrian k=3 require='distinct_l_diversity >= 2'", "mondrian k=8", "mondrian k=5000")
    return Study(**{"table": sf.read(canaries(160)), "roles": roles, "candidates": grid(texts), **given, **more})


@pytest.fixture(scope="module")
def result() -> Result:
    return study().run(seed=SEED, refine=0)


@pytest.fixture(scope="module")
def folder(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("documents")
    paths = write_all(result, made)
    assert [path.name for path in paths] == [f"{name}.{form}" for name in NAMES for form in FORMATS]
    return made


def documents(result: Result) -> dict[str, Document]:
    return {
        "report": internal(result),
        "sheet": sheet(result),
        **{name: make(result) for name, make in DOCUMENTS.items()},
    }


@pytest.fixture(scope="module")
def said(result: Result) -> dict[str, str]:
    """All words of each document."""
    return {name: words_of(document) for name, document in documents(result).items()}


def texts(value: Any) -> Iterator[str]:
    """Every text that the PDF's template is given, but for the figures."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "images":
                yield from texts(item)
    elif isinstance(value, list):
        if len(value) == 2 and all(isinstance(item, str) for item in value):
            yield value[1]
        else:
            for item in value:
                yield from texts(item)
    elif isinstance(value, str):
        yield value


def words_of(document: Document) -> str:
    return " ".join(" ".join(texts(pdf.content(document))).split())


class Seen(HTMLParser):
    """What a browser would show, and every attribute."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.said = ""
        self._quiet = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._quiet = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._quiet = False

    def handle_data(self, data: str) -> None:
        self.said += "" if self._quiet else data


# --- all of them ------------------------------------------------------------------------------------------------------


def test_every_file_is_there_and_small(folder: Path) -> None:
    for name in NAMES:
        assert (folder / f"{name}.html").read_text(encoding="utf-8").startswith("<!doctype html>")
        assert (folder / f"{name}.md").read_text(encoding="utf-8").startswith("# ")
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF-")
    assert (folder / "report.html").stat().st_size < 2_000_000
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_the_same_study_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for path in write_all(study().run(seed=SEED, refine=0), tmp_path):
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


def test_no_value_of_the_table_is_told(said: dict[str, str], folder: Path) -> None:
    for path in folder.iterdir():
        told = said[path.stem] if path.suffix == ".pdf" else path.read_text(encoding="utf-8")
        for canary in CANARIES:
            assert canary not in told, (path.name, canary)


def test_values_are_told_only_in_the_report_and_only_if_asked(result: Result, tmp_path: Path) -> None:
    write_all(result, tmp_path, formats=["md"], reveal=True)
    assert any(canary in (tmp_path / "report.md").read_text(encoding="utf-8") for canary in CANARIES)
    for name in NAMES[1:]:
        assert not any(canary in (tmp_path / f"{name}.md").read_text(encoding="utf-8") for canary in CANARIES), name


@pytest.mark.parametrize("name", NAMES)
def test_nothing_comes_from_a_network(folder: Path, name: str) -> None:
    seen = Seen((folder / f"{name}.html").read_text(encoding="utf-8"))
    assert not {"link", "img", "iframe", "object", "embed", "base", "video", "audio", "source"} & set(seen.tags)
    for attribute, value in seen.attributes:
        assert attribute not in ("src", "href", "srcset", "action", "data"), attribute
        assert "://" not in value
    assert seen.tags.count("script") == (2 if name == "report" else 0)


@pytest.mark.parametrize("name", NAMES)
def test_no_promise_is_made(said: dict[str, str], name: str) -> None:
    for word in ("anonymous", "anonymised", "anonymized", "safe", "secure", "guarantee", "guaranteed"):
        assert not re.search(rf"\b{word}\b", said[name], re.IGNORECASE), word


def test_only_the_forms_own_name_says_anonymisation(said: dict[str, str]) -> None:
    for name, text in said.items():
        found = re.findall(r"\banonymisation\b.{0,7}", text, re.IGNORECASE)
        assert found == (["Anonymisation Report"] if name == "ema" else []), name


def test_colour_never_stands_alone(result: Result) -> None:
    marks = [
        piece[1]
        for document in documents(result).values()
        for piece in _marked(pdf.content(document))
        if piece[0] in ("yes", "no")
    ]
    assert len(marks) > 10
    assert all(mark[0] in "✓✗" and len(mark) > 2 for mark in marks)


def _marked(value: Any) -> Iterator[list[str]]:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(item, str) for item in value):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _marked(item)


# --- each of them -----------------------------------------------------------------------------------------------------


def test_the_report_says_everything(result: Result) -> None:
    said = words_of(internal(result))
    assert str(SEED) in said
    point = result.points[result.recommended[0] or 0]
    for text in ("k_anonymity >= 3", "IHSN", "mondrian k=5000", *result.commands()):
        assert text in said
    for name, (each, score) in point.scores.items():
        assert each.sentence(score.value) in said, name
        assert each.card.knows in said
    assert all(word in said for word in glossary.WORDS)
    assert "The ten riskiest combinations" in said
    assert said.count("▒▒▒") > 10


def test_the_note_keeps_to_itself(result: Result) -> None:
    said = words_of(external(result))
    assert str(SEED) not in said
    assert "seed" not in said.lower()
    others = {point.candidate.name for point in result.points}
    assert not any(name in said for name in others)
    assert not re.search(r"\b[1-9]\s+(?:rows?|people|persons?|classes|class|records?|others?|values?)\b", said)
    assert not re.search(r"\bclass \d", said)
    assert "probability of at most 1/3" in said  # the limit is told, though it is a class of three
    assert "k_anonymity >= 3" not in said
    assert "IHSN" in said


@pytest.mark.parametrize(
    ("sentence", "may"),
    [
        ("On average 3 rows share it.", False),
        ("On average 12.7% of its values.", True),
        ("Of 1,977 descriptions 9 fit.", False),
        ("Of 1,977 descriptions none fit; a share of 0.3.", True),
        ("At most 1/3.", True),
        ("0 rows.", True),
    ],
)
def test_counts_below_ten_are_not_published(sentence: str, may: bool) -> None:
    assert publishable(sentence) is may


def test_the_sheet_measures_three_things_with_intervals(result: Result) -> None:
    said = words_of(DOCUMENTS["wp29"](result))
    for title in ("Singling out", "Linkability", "Inference", "inference of", "baseline", "inside and outside"):
        assert title in said
    assert len(re.findall(r"\[[\d.e-]+%, [\d.e-]+%\]", said)) >= 6
    assert "80 rows drawn at random" in said  # half of them


def test_the_form_has_its_parts(result: Result) -> None:
    said = words_of(DOCUMENTS["ema"](result))
    for part in (
        "1. Method",
        "2. Identifiers",
        "3. Risk",
        "4. Utility",
        "5. Conclusion",
        "replicable?",
        "distinguishable?",
    ):
        assert part in said
    assert "name" in said
    assert "removed" in said
    assert "0.09" in said


def test_the_record_leaves_room_to_sign(result: Result) -> None:
    said = words_of(DOCUMENTS["intruder"](result))
    for part in ("What the intruder knew", "how hard", "how sure", "Conclusion", "Signature", "______"):
        assert part in said


# --- without a recommendation, without a library, into a wrong place --------------------------------------------------


def test_without_a_release_there_is_only_the_report(tmp_path: Path) -> None:
    result = study(require=(require("k_anonymity >= 150"),), context=None).run(refine=0)
    assert [path.name for path in write_all(result, tmp_path, formats=["md"])] == ["report.md", "sheet.md"]
    assert "No candidate can be recommended" in (tmp_path / "report.md").read_text(encoding="utf-8")
    for make in DOCUMENTS.values():
        with pytest.raises(sf.SfumatoError, match="No candidate can be recommended"):
            make(result)


def test_without_the_library_it_says_what_to_install(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(sf.SfumatoError, match=r"install sfumato\[pdf\]"):
        write_all(result, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_wrong_formats_and_folders_are_refused(result: Result, tmp_path: Path) -> None:
    with pytest.raises(sf.SfumatoError, match="Unknown format 'docx'"):
        write_all(result, tmp_path, formats=["docx"])
    with pytest.raises(sf.SfumatoError, match=r"the name of a document must end in \.html, \.md, \.pdf"):
        write(Document("t", "", [], ""), tmp_path / "x.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(sf.SfumatoError, match="cannot be created as a folder"):
        write_all(result, tmp_path / "file", formats=["md"])


# --- names that are markup elsewhere ------------------------------------------------------------------------------------


def test_odd_names_survive_in_a_whole_study(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 4, 60).astype(str) for name in ODD}
    roles = sf.Roles(quasi=ODD[:4], sensitive=ODD[4:6], insensitive=ODD[6:], source="<i>r.toml")
    held = Study(table=sf.read(pa.table(columns)), roles=roles, candidates=grid(["mondrian k=3"]))
    result = held.run(refine=0)
    write_all(result, tmp_path)
    made = documents(result)
    for name in NAMES:
        page = Seen((tmp_path / f"{name}.html").read_text(encoding="utf-8"))
        assert not {"b", "i"} & set(page.tags)
        marked = re.sub(r"\\(.)", r"\1", (tmp_path / f"{name}.md").read_text(encoding="utf-8"))
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF-")
        data = words_of(made[name])
        for odd in ODD[:4]:
            assert odd in page.said, (name, odd)
            assert odd in marked, (name, odd)
            assert odd in data, (name, odd)
        if name in ("report", "note", "ema"):
            assert "two\nlines" in page.said.replace("twolines", "two\nlines")  # a break stands between
            assert "two lines" in marked
            assert "a|b`c" in marked
            assert "&amp;" in page.said


def everything(text: str) -> Document:
    """Every kind of block, with one text in all places."""
    specification = {
        "mark": "point",
        "width": "container",
        "data": {"values": [{"a": 1, "n": text}]},
        "encoding": {"x": {"field": "a", "type": "quantitative", "title": text}, "text": {"field": "n"}},
    }
    marks = [text, *(Mark(text, kind) for kind in ("code", "strong", "soft", "yes", "no"))]  # type: ignore[arg-type]
    figure = Figure("f", specification, text, Grid([text], [[text]]))
    return Document(
        text,
        marks,
        [
            Heading(text),
            Heading(text, 3),
            Paragraph(marks),
            Bullets([text, marks]),
            Grid([GridColumn(text, "right", text, text), "b"], [[marks, text], [text]], text, 0),
            figure,
            Row([Figure("g", specification, text), Figure("h", specification, text)]),
            Code(text),
            Terms([(code(text), strong(text)), (text, marks)]),
            Callout(text, [Paragraph(text), Bullets([text])], "beware"),
            Fold(text, [Terms([(text, text)]), Grid(["x"], [[text]])]),
        ],
        text,
    )


HOSTILE = [
    "plain",
    '#eval("1") #import "x.typ" ] } ) $ * _ ` ~ @ = / \\ " \'',
    "</script><script>alert(1)</script><!-- &lt;",
    "| a | b |\n| --- | --- |",
    "- list\n1. one\n> quote\n# head",
    "``` ` `` ~~~",
    "nul\x00bell\x07 lone \x1f",
    "عربي 漢字 é ✓",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_a_text_in_every_place(text: str) -> None:
    document = everything(text)
    page = html.written(document)
    seen = Seen(page)
    assert seen.tags.count("script") == 2
    assert not {"b", "i", "img"} & set(seen.tags)
    assert "\x00" not in page
    written = markdown.written(document)
    assert "\x00" not in written
    tables = [line for line in written.splitlines() if line.startswith(("| :--", "| --:"))]
    assert len(tables) == 3  # as many as there are, whatever a name looks like
    outside = re.sub(r"^(`{3,})\n.*?^\1$", "", written, flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^#{1,4} ", outside, re.MULTILINE)) == 4
    assert len(re.findall(r"^- ", outside, re.MULTILINE)) == 5
    assert pdf.written(document).startswith(b"%PDF-")


def test_a_table_in_markdown_has_its_cells() -> None:
    table = markdown.written(
        Document(
            "t",
            "s",
            [Grid(["a", GridColumn("n", "right")], [["x|y", "1"], [code("p|q"), "2"], ["short"]], chosen=1)],
            "f",
        )
    )
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert rows == ["| a | n |", "| :-- | --: |", r"| x\|y | 1 |", r"| **→** p\|q | 2 |", "| short |   |"]


def test_a_figure_in_markdown_is_its_numbers(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "*Figure: Rows by distribution\\_leakage of their class.*" in text
    assert "| from | to | rows | classes |" in text


def test_the_pdf_draws_figures_with_its_own_fonts() -> None:
    svg = pdf.drawn(everything("x").figures[0].specification)
    assert "Libertinus Serif" in svg
    assert "currentColor" not in svg


# --- words --------------------------------------------------------------------------------------------------------------


def test_every_privacy_measure_says_what_an_adversary_must_know() -> None:
    for name, each in registry().items():
        assert bool(each.card.knows) is (each.card.about == "privacy"), name


def test_words_are_found_however_they_are_written() -> None:
    assert glossary.define("Quasi-Identifiers") == glossary.define("quasi-identifier")
    assert glossary.define("quasi identifier") is not None
    assert glossary.define("classes") == glossary.define("class")
    assert glossary.define("nonsense") is None
    for word, said in glossary.WORDS.items():
        assert said.endswith("."), word
        assert not re.search(r"\b(?:anonymous|safe)\b", said), word


def test_a_tie_on_the_frontier_is_not_called_beaten() -> None:
    same = ("mondrian k=4", "mondrian k=4 mode=strict", "mondrian k=4 choose=loss")
    result = study(candidates=grid(same), require=(require("k_anonymity >= 4"),), context=None).run(refine=0)
    assert len({point.value(result.study.risk) for point in result.points}) == 1
    assert {standing(result, i) for i in result.made} == {"recommended", "on the frontier"}


def test_a_study_draws_further_maps() -> None:
    more = ((metric("marketer_risk"), metric("average_class_size")),)
    document = internal(study(maps=more).run(refine=0))
    assert [figure.name for figure in document.figures][:2] == ["map", "map-2"]
    values = json.dumps(document.figures[1].specification)
    assert "marketer risk" in values
    assert plain(["a", code("b")]) == "ab"


def test_what_is_suppressed_throughout_is_said_plainly() -> None:
    def column(name: str, share: float | None, role: str = "quasi") -> ColumnChange:
        shares = {} if share is None else {"suppressed": share}
        return ColumnChange(name=name, role=role, loss=None, how="generalized", share=shares)

    assert blanked("no original") == ""
    assert blanked([column("age", 0.5), column("sex", None), column("job", 1.0, "sensitive")]) == ""
    assert blanked([column("age", 1.0), column("sex", 1.0)]).startswith("Every quasi-identifier is * in every row")
    said = blanked([column("age", 1.0), column("sex", 0.0), column("town", 0.731)])
    assert said == "Suppressed to *: 'age' in every row; 'town' in 73.1% of the rows."
