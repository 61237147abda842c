"""An adversary goes through every byte of a package: nothing in it tells what the release itself does not.

Markers are planted in identifiers, in columns without a role, in values and fine levels below the released ones, in rows that are
suppressed, in orders, in rules, and in the paths of the owner's machine; then every file is searched for them, however it is packed.
"""

from __future__ import annotations

import base64
import html
import io
import json
import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import here
from selection import few
from sfumato.core.hierarchy import Hierarchy
from sfumato.metrics import require
from sfumato.publishing import publish
from sfumato.report.documents import DOCUMENTS, write
from sfumato.report.package import write_package
from sfumato.study.study import Study, grid

ROWS = 240
PLANTED = {
    "identifier": "Idmark",
    "person": "Personmark",
    "no role": "Rolelessmark",
    "fine level": "Finemark",
    "unused value": "Unusedmark",
    "alone": "Lonelymark",
    "order": "Ordermark",
    "path": "Pathmark",
    "file name": "Filemark",
    "house column": "colmark_",
}


def people() -> pa.Table:
    """240 people; one has a town of their own, which a release of classes must leave out or cover."""
    rng = np.random.default_rng(3)
    towns = rng.choice([f"{PLANTED['fine level']}{i}" for i in range(6)], ROWS).tolist()
    towns[17] = f"{PLANTED['alone']}0"
    return pa.table(
        {
            "colmark_id": [f"{PLANTED['identifier']}{i}" for i in range(ROWS)],
            "colmark_key": [f"{PLANTED['person']}{i}" for i in range(ROWS)],
            "colmark_odd": [f"{PLANTED['no role']}{i}" for i in range(ROWS)],
            "age": rng.integers(20, 90, ROWS),
            "town": towns,
            "ill": [f"ill-{'abcd'[i % 4]}" for i in range(ROWS)],
            "grade": [str(i % 3) for i in range(ROWS)],
        }
    )


def roles_text() -> str:
    return (
        '[roles]\nidentifiers = ["colmark_id"]\nperson = "colmark_key"\nquasi = ["age", "town"]\nsensitive = ["ill"]\n'
        'insensitive = ["grade"]\n\n[hierarchies]\ntown = "town.csv"\nage = { cuts = [[31.0625, 55, 70], [55]] }\n'
        'colmark_id = "ids.csv"\nill = "ill.csv"\n\n[orders]\n'
        f'colmark_odd = ["{PLANTED["order"]}1", "{PLANTED["order"]}2"]\ngrade = ["0", "1", "2", "{PLANTED["order"]}3"]\n'
    )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """The owner's folder, with a marker in its path and in every file's name."""
    folder = tmp_path / f"{PLANTED['path']}1"
    folder.mkdir()
    lines = [f"{PLANTED['fine level']}{i};{'north' if i < 3 else 'south'};*" for i in range(6)]
    lines += [f"{PLANTED['unused value']}1;south;*", f"{PLANTED['alone']}0;north;*"]
    (folder / "town.csv").write_text("\n".join(lines) + "\n")
    (folder / "ids.csv").write_text("".join(f"{PLANTED['identifier']}{i};some;*\n" for i in range(ROWS)))
    ills = "".join(f"ill-{c};{'ab' if c in 'ab' else 'cd'};*\n" for c in "abcd")
    (folder / "ill.csv").write_text(f"{ills}{PLANTED['unused value']}2;cd;*\n")
    (folder / "roles.toml").write_text(roles_text())
    return folder


def readings(content: bytes) -> list[str]:
    """A file as text, in every way it may be packed: zip, streams of a PDF, base64, entities, escapes of JSON, UTF-16."""
    found = [content.decode("utf-8", "replace"), content.decode("utf-16-le", "replace")]
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            for name in packed.namelist():
                found += [name, *readings(packed.read(name))]
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
        try:
            found.append(zlib.decompress(stream).decode("latin-1"))
        except zlib.error:
            found.append(stream.decode("latin-1"))
    if len(found[0]) < 2_000_000:
        for word in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", found[0]):
            try:
                found.append(base64.b64decode(word + "=" * (-len(word) % 4)).decode("latin-1"))
            except ValueError:
                continue
    found += [html.unescape(found[0]), unquote(found[0]), found[0].replace("\\", "")]
    return [text.lower() for text in found]


def leaks(folder: Path, allowed: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """Which markers stand in which file: names, contents, link targets."""
    there = []
    for path in folder.rglob("*"):
        texts = [
            path.relative_to(folder).as_posix().lower(),
            str(os.readlink(path)).lower() if path.is_symlink() else "",
        ]
        texts += readings(path.read_bytes()) if path.is_file() else []
        there += [
            (kind, path.relative_to(folder).as_posix())
            for kind, marker in PLANTED.items()
            if kind not in allowed and any(marker.lower() in text for text in texts)
        ]
    return there


def packaged(house: Path, text: str, *, objects: bool = False, **more: Any) -> Path:
    """The package of one candidate, its hierarchies from files or as objects."""
    (house / f"{PLANTED['file name']}.csv").unlink(missing_ok=True)
    pa_csv = pytest.importorskip("pyarrow.csv")
    pa_csv.write_csv(people(), house / f"{PLANTED['file name']}.csv")
    roles = sf.Roles.read(house / "roles.toml")
    if objects:
        given = {name: roles.taxonomy(name) or rule for name, rule in roles.hierarchies.items()}
        roles = sf.Roles(
            quasi=roles.quasi, sensitive=roles.sensitive, identifiers=roles.identifiers, insensitive=roles.insensitive,
            person=roles.person, hierarchies=given, orders=roles.orders,
        )  # fmt: skip
    study = Study(
        table=sf.read(house / f"{PLANTED['file name']}.csv"), roles=roles, candidates=grid([text]),
        require=tuple(require(each) for each in more.pop("need", ())), measures=(), **more,
    )  # fmt: skip
    result = study.run(refine=0)
    result.__dict__["recommended"] = (0, "The only one.")  # also where the axes have no place for it
    return write_package(result, house / "out").folder


COARSE = (
    "generalize_to_levels levels=2,1 k=2",
    "generalize_full_domain k=40",
    "mondrian k=30",
    "local_suppression k=12",
    "top_down_specialization k=30",
    "dp_marginals columns=grade,ill domains='grade=0|1|2, ill=ill-a|ill-b|ill-c|ill-d' epsilon=1",
)
"""Releases that show no town as it is."""
FINE = (
    "rank_swapping p=20 columns=age",
    "additive_noise columns=age scale=0.1",
    "microaggregation k=3 columns=age",
    "pram columns=grade keep=0.8",
    "rounding base=10 columns=age",
    "anatomy l=2",
    "permute_within_groups l=2",
)
"""Releases that show towns as they are: then these markers are in the release itself."""


@pytest.mark.parametrize("text", few([*COARSE, *FINE], *COARSE[:2], *FINE[:2]))
def test_a_package_tells_nothing_that_the_release_does_not(house: Path, text: str) -> None:
    folder = packaged(house, text)
    released = "".join(path.read_text(encoding="utf-8") for path in folder.glob("release*.csv"))
    told = frozenset(kind for kind, marker in PLANTED.items() if marker in released)
    assert told <= {"fine level", "alone"}, "the release itself"
    if text in COARSE and not text.startswith("local_suppression"):
        assert not told
    assert leaks(folder, told) == []
    assert "31.0625" not in (folder / "roles.toml").read_text(), "a cut that no released value shows"


@pytest.mark.parametrize("objects", [False, True])
def test_hierarchies_hold_released_labels_and_what_is_above_them(house: Path, objects: bool) -> None:
    folder = packaged(house, "generalize_to_levels levels=2,1 k=2", objects=objects)
    roles = sf.Roles.read(folder / "roles.toml")
    assert (roles.quasi, roles.sensitive, roles.insensitive) == (("age", "town"), ("ill",), ("grade",))
    assert (roles.identifiers, roles.person, roles.guarding) == ((), None, None)
    assert set(roles.hierarchies) == {"town", "ill"}
    towns, ills = roles.taxonomy("town"), roles.taxonomy("ill")
    assert towns is not None
    assert towns.levels == (("north", "south"), ("north", "south"), ("*", "*"))
    assert ills is not None
    assert ills.levels[:2] == (tuple(f"ill-{c}" for c in "abcd"), ("ab", "ab", "cd", "cd"))
    assert roles.orders == {"grade": ("0", "1", "2")}
    assert not (folder / "value-maps").exists(), "value maps stay in the house"
    assert (folder.with_name("out.house") / "value-maps").is_dir()


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
@pytest.mark.parametrize("form", ["html", "md", "pdf"])
def test_documents_that_may_leave_tell_no_value_and_no_path(house: Path, name: str, form: str, tmp_path: Path) -> None:
    """Identifiers' names stand in the forms that ask for them, and the file's name in those that the owner signs; not in the note."""
    pa_csv = pytest.importorskip("pyarrow.csv")
    pa_csv.write_csv(people(), house / f"{PLANTED['file name']}.csv")
    table = sf.read(house / f"{PLANTED['file name']}.csv")
    study = Study(
        table=table, roles=sf.Roles.read(house / "roles.toml"), candidates=grid(["generalize_to_levels levels=2,1 k=2"]),
        require=(require("k_anonymity >= 2"),), measures=(),
    )  # fmt: skip
    (tmp_path / "look").mkdir()
    write(DOCUMENTS[name](study.run(refine=0)), tmp_path / "look" / f"{name}.{form}")
    allowed = frozenset() if name == "note" else frozenset({"house column", "file name"})
    assert leaks(tmp_path / "look", allowed) == []


def test_a_release_made_elsewhere_does_not_say_where_it_lay(house: Path) -> None:
    table = people()
    theirs = house / "theirs.csv"
    roles = sf.Roles.read(house / "roles.toml")
    made = sf.Mondrian(k=30)(sf.read(table), roles)
    publish(made, roles, [], theirs)
    pa_csv = pytest.importorskip("pyarrow.csv")
    pa_csv.write_csv(table, house / "people.csv")
    (house / "study.toml").write_text(
        'table = "people.csv"\nroles = "roles.toml"\nrequire = ["k_anonymity >= 2"]\nmeasures = ["k_anonymity"]\n'
        '[[candidate]]\nfile = "theirs.csv"\n'
    )
    from sfumato.study.study_file import read_study

    result = read_study(house / "study.toml").study.run(refine=0)
    found = write_package(result, house / "out")
    assert leaks(found.folder) == []
    for name, make in DOCUMENTS.items():
        (house / "look").mkdir(exist_ok=True)
        write(make(result), house / "look" / f"{name}.md")
    assert leaks(house / "look", frozenset({"house column"})) == []


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("source", ["csv", "categories", "parquet"])
def test_a_release_holds_no_value_that_no_row_has(house: Path, form: str, source: str) -> None:
    """Categories, dictionaries and file metadata could list what was suppressed, or what no row ever had."""
    import pyarrow.parquet as pq

    table = people()
    towns = pa.DictionaryArray.from_arrays(
        pa.array([sorted(set(table["town"].to_pylist())).index(t) for t in table["town"].to_pylist()], pa.int32()),
        pa.array([*sorted(set(table["town"].to_pylist())), f"{PLANTED['unused value']}9"]),
    )
    if source != "csv":
        table = table.set_column(table.column_names.index("town"), "town", towns)
    given: Any = table
    if source == "parquet":
        marked = table.replace_schema_metadata({"pandas": json.dumps({"path": str(house), "who": PLANTED["person"]})})
        pq.write_table(marked, house / "in.parquet")
        given = house / "in.parquet"
    roles = sf.Roles(
        quasi=("age",),
        insensitive=("town", "grade"),
        sensitive=("ill",),
        identifiers=("colmark_id",),
        person="colmark_key",
    )
    made = sf.Mondrian(k=30)(sf.read(given), roles)
    (house / "look").mkdir()
    publish(made, roles, [], house / "look" / f"release.{form}")
    assert leaks(house / "look", frozenset({"fine level", "alone"})) == []


def test_what_is_shipped_of_a_label_at_two_levels_still_nests() -> None:
    made = Hierarchy.of("q", [["v", "A", "B", "*"], ["w", "A", "B", "*"], ["x", "C", "A", "*"], ["C", "C", "A", "*"]])
    left = made.above(["A", "v", "C", "*", "nowhere"])
    assert left is not None
    assert left.levels == (("A", "C", "v"), ("A", "C", "A"), ("B", "A", "B"), ("*", "*", "*"))
    assert made.above(["nowhere", "*"]) is None


def test_limits_that_only_the_original_shows_are_told_without_their_number(house: Path) -> None:
    folder = packaged(house, "mondrian k=30", need=("iloss <= 0.9999", "k_anonymity >= 20"))
    said = {each["requirement"]: each for each in json.loads((folder / "requirements.json").read_text())}
    assert said["iloss <= 0.9999"]["measured"] is None
    assert said["iloss <= 0.9999"]["met"] is True
    assert said["k_anonymity >= 20"]["measured"] >= 30
    assert "keeps the number" in (folder / "README.md").read_text()


def test_a_private_release_is_packaged_without_a_number_of_the_original(house: Path) -> None:
    """What only the original gives would spend privacy that no budget knows of."""
    (house / "roles.toml").write_text(
        '[roles]\nidentifiers = ["colmark_id"]\nquasi = ["grade"]\nsensitive = ["ill"]\n[orders]\ngrade = ["0", "1", "2"]\n'
        'ill = ["ill-a", "ill-b", "ill-c", "ill-d"]\n'
    )
    folder = packaged(house, "dp_synthesis epsilon=2")
    assert "differential privacy allows" in (folder / "note.md").read_text()
    for name in ("note.md", "note.html", "README.md", "requirements.json"):
        text = (folder / name).read_text()
        assert "left out" not in text
        assert "% of" not in text


def test_the_command_line_packages_the_same(house: Path) -> None:
    pa_csv = pytest.importorskip("pyarrow.csv")
    pa_csv.write_csv(people(), house / f"{PLANTED['file name']}.csv")
    (house / "study.toml").write_text(
        f'table = "{PLANTED["file name"]}.csv"\nroles = "roles.toml"\nrequire = ["k_anonymity >= 5"]\nmeasures = ["k_anonymity"]\n'
        '[[candidate]]\nmechanism = "mondrian"\nk = 30\n'
    )
    words = ["sfumato", "study", str(house / "study.toml"), "--out", str(house / "docs"), "--refine", "0"]
    code, said = here([*words, "--package", house / "out"])
    assert code == 0, said
    assert leaks(house / "out") == []
