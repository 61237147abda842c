"""What people bring: odd names, other encodings and delimiters, Parquet, Excel, databases; and what cannot be read."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
from cli_house import CANARY, House, Outcome, Run, people

import sfumato as sf


def sanitize(run: Run, house: House, source: Path, *more: object, roles: Path | None = None) -> Outcome:
    return run(
        "sanitize", source, "--roles", roles or house.roles, "--mechanism", "mondrian", "--set", "k=4",
        "--out", house / "out.csv", *more,
    )  # fmt: skip


def rows(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(map(tuple, csv.reader(file)))


@pytest.fixture
def expected(run: Run, house: House) -> Counter[tuple[str, ...]]:
    """The release of the plain file: every other form of it must give the same."""
    sanitize(run, house, house.people).fine()
    found = rows(house / "out.csv")
    (house / "out.csv").unlink()
    return found


@pytest.mark.parametrize(
    ("content", "encoding", "note"),
    [
        (people(), "utf-8-sig", ""),
        (people(), "utf-16", "utf-16"),
        (people(";"), "utf-8", "semicolon"),
        (people("\t"), "utf-8", "tab"),
        (people("|"), "utf-8", "bar"),
        (people().replace("\n", "\r\n"), "utf-8", ""),
        (people().rstrip("\n"), "utf-8", ""),
        ('"' + people().replace(",", '","').replace("\n", '"\n"').removesuffix('"'), "utf-8", ""),
    ],
    ids=["BOM", "UTF-16", "semicolon", "tab", "bar", "CRLF", "no last line end", "quoted"],
)
def test_other_forms_of_a_csv_file_give_the_same_release(
    run: Run, house: House, expected: Counter[tuple[str, ...]], content: str, encoding: str, note: str
) -> None:
    path = house.text("other.csv", content, encoding)
    found = sanitize(run, house, path).fine()
    assert rows(house / "out.csv") == expected
    assert (note in found.err) if note else found.err == ""
    assert CANARY not in found.err
    (house / "out.csv").unlink()
    quiet = sanitize(run, house, path, "--json").fine()
    assert quiet.err == ""


def test_dates_and_numbers_are_read_as_what_they_are(run: Run, house: House) -> None:
    """A column a note, said once; an option settles what the values do not."""
    lines = [f"{i % 9 + 1:02}/0{i % 3 + 1}/1980;{1 + i % 2}.200,{i % 4}0;{'ab'[i % 2]}" for i in range(24)]
    path = house.text("de.csv", "\n".join(["born;pay;ill", *lines]))
    roles = house.text("de.toml", '[roles]\nquasi = ["born", "pay"]\nsensitive = ["ill"]\n')
    told = sanitize(run, house, path, roles=roles).fine().err
    assert "column 'born' looks like dates" in told
    assert "column 'pay' holds numbers with a decimal comma" in told
    (house / "out.csv").unlink()
    settled = sanitize(run, house, path, "--dates", "month-first", "--decimal", "text", roles=roles).fine()
    assert "column 'born' holds dates as MM/DD/YYYY" in settled.err
    assert "'pay'" not in settled.err
    text = (house / "out.csv").read_text(encoding="utf-8")
    assert "1980-0" in text
    assert "/1980" not in text


def test_latin_1_is_read_and_written_as_utf_8(run: Run, house: House) -> None:
    content = people().replace("Rome", "Zürich").replace("town", "città").replace(CANARY, "Malmö")
    roles = house.text("città.toml", house.roles.read_text().replace("town", "città"))
    path = house.text("latin.csv", content, "latin-1")
    found = sanitize(run, house, path, roles=roles).fine()
    assert "latin-1" in found.err
    text = (house / "out.csv").read_text(encoding="utf-8")
    assert "città" in text
    assert "Malmö note" in text
    assert sanitize(run, house, path, "--encoding", "latin-1", "--json", roles=roles).fine().err == ""
    run("verify", house / "out.csv", "--roles", roles, "--require", "k_anonymity >= 4").fine()


def test_parquet_gives_the_same_release(run: Run, house: House, expected: Counter[tuple[str, ...]]) -> None:
    sf.read(house.people).write(house / "people.parquet")
    sanitize(run, house, house / "people.parquet").fine()
    assert rows(house / "out.csv") == expected


def workbook(house: House, name: str, title: str = "people", first: bool = True) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    if not first:
        sheet.append(["nothing"])
        sheet = book.create_sheet(title)
    sheet.title = title
    for line in csv.reader(io.StringIO(people())):
        sheet.append([int(value) if value.isdigit() else value or None for value in line])
    book.save(house / name)
    return house / name


def test_excel_gives_the_same_release(run: Run, house: House, expected: Counter[tuple[str, ...]]) -> None:
    sanitize(run, house, workbook(house, "people.xlsx")).fine()
    assert rows(house / "out.csv") == expected


def test_a_sheet_is_chosen(run: Run, house: House, expected: Counter[tuple[str, ...]]) -> None:
    path = workbook(house, "two.xlsx", title="the people", first=False)
    sanitize(run, house, path, "--sheet", "the people").fine()
    assert rows(house / "out.csv") == expected
    sanitize(run, house, path, "--sheet", "others").refused(2, "no sheet 'others'", "the people")


def test_databases_give_the_same_release(run: Run, house: House, expected: Counter[tuple[str, ...]]) -> None:
    lines = list(csv.reader(io.StringIO(people())))
    with duckdb.connect(house / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INTEGER, town TEXT, ill TEXT, note TEXT)")
        connection.execute("CREATE TABLE other (x INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", lines[1:])
    lite = sqlite3.connect(house / "people.sqlite")
    lite.execute("CREATE TABLE people (name TEXT, age INTEGER, town TEXT, ill TEXT, note TEXT)")
    lite.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", lines[1:])
    lite.commit()
    lite.close()
    sanitize(run, house, house / "people.sqlite").fine()
    assert rows(house / "out.csv") == expected
    sanitize(run, house, house / "people.duckdb").refused(2, "2 tables", "--query")
    sanitize(run, house, house / "people.duckdb", "--query", "SELECT * FROM people").fine()
    assert rows(house / "out.csv") == expected


def test_texts_that_mean_missing(run: Run, house: House, expected: Counter[tuple[str, ...]]) -> None:
    content = "\n".join(",".join(f or "?" for f in line.split(",")) for line in people().splitlines()) + "\n"
    path = house.text("marked.csv", content)
    sanitize(run, house, path, "--missing", "?").fine()
    assert rows(house / "out.csv") == expected


def test_a_file_without_a_header(run: Run, house: House) -> None:
    path = house.text("bare.csv", people().split("\n", 1)[1])
    roles = house.text("bare.toml", '[roles]\nquasi = ["column2", "column3"]\nsensitive = ["column4"]\n')
    found = sanitize(run, house, path, "--no-header", roles=roles).fine()
    assert "column2,column3,column4" in (house / "out.csv").read_text().splitlines()[0]
    assert "Not released: column1, column5." in found.out


# --- odd names ------------------------------------------------------------------------------------------------------

ODD = [
    "first name",
    'a"b',
    "o'clock",
    "select",
    "x,y",
    "città",
    "日本",
    "a;b",
    "(c)",
    "[d]",
    "e>=f",
    "%",
    "n",
    "Ünï (code)",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_column_names_go_all_the_way(run: Run, house: House, name: str) -> None:
    """As a quasi-identifier and as a sensitive column, through roles, requirement, release, verify and measure."""
    secret = f"{name} too"
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([name, secret, "plain"])
    writer.writerows([str(20 + i), "uvw"[i % 3], "z"] for i in range(12))
    source = house.text("odd.csv", buffer.getvalue())
    roles = house.text("odd.toml", sf.Roles(quasi=(name, "plain"), sensitive=(secret,)).toml())
    wanted = str(sf.metric("distinct_l_diversity").on(secret).at_least(2))
    sanitize(run, house, source, "--require", wanted, roles=roles).fine()
    with (house / "out.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == [name, secret, "plain"]
    run("verify", house / "out.csv", "--roles", roles, "--require", wanted, "--require", "k_anonymity >= 4").fine()
    asked = str(sf.metric("t_closeness").set(ground="equal").on(secret))
    content = run("measure", house / "out.csv", "--roles", roles, "--metric", asked, "--json").fine().json
    assert list(content["scores"]) == [asked]


def test_names_that_differ_in_case_only_are_refused(run: Run, house: House) -> None:
    path = house.text("twice.csv", "age,Age,ill\n1,2,x\n3,4,y\n")
    sanitize(run, house, path).refused(2, "twice", "columns 1 and 2")


# --- what cannot be read --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", ["empty.csv", "empty"]),
        ("blank.csv", b"\n\n  \n", ["empty"]),
        ("header.csv", b"name,age,town,ill,note\n", ["header", "no row"]),
        ("ragged.csv", people().replace("Rome", "Rome,extra", 1).encode(), ["ragged.csv", "6 fields", "5"]),
        ("short.csv", people().replace(f",{CANARY} note\n", "\n", 1).encode(), ["short.csv"]),
        ("zero.csv", b"name,age\n\x00\x00,1\n" + CANARY.encode(), ["not a text table"]),
        ("fake.parquet", people().encode(), ["not a Parquet file"]),
        ("fake.xlsx", people().encode(), ["not an Excel file"]),
        ("cut.parquet", b"PAR1" + CANARY.encode() * 9, ["cut.parquet"]),
        ("nameless.csv", people().replace("town", "", 1).encode(), ["column 3 has no name"]),
        ("twin.csv", people().replace("town", "age", 1).encode(), ["columns", "the same name"]),
        ("open.csv", people().replace("Oslo", '"Oslo', 1).encode(), ["open.csv"]),
        ("broken.csv", people().encode() + "99,é".encode("latin-1") * 3 + b"\n", ["broken.csv"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    run: Run, house: House, name: str, content: bytes, words: list[str]
) -> None:
    path = house / name
    path.write_bytes(content)
    found = sanitize(run, house, path)
    lines = found.err.splitlines()
    assert found.code == 2, (found.code, found.err)
    assert lines[-1].startswith("sfumato: ")
    assert "Traceback" not in found.err
    assert CANARY not in found.out + found.err
    for word in words:
        assert word in lines[-1]
    assert not (house / "out.csv").exists()


def test_a_file_that_is_not_there(run: Run, house: House) -> None:
    sanitize(run, house, house / "nowhere.csv").refused(2, "nowhere.csv: no such file")


def test_a_folder_is_no_table(run: Run, house: House) -> None:
    sanitize(run, house, house.folder).refused(2, "a folder, not a table")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--encoding", "klingon"], ["'klingon'", "encoding"]),
        (["--sheet", "x"], ["sheet does not apply"]),
        (["--query", "SELECT 1"], ["query does not apply"]),
        (["--memory", "lots"], ["'lots'", "memory limit"]),
        (["--dates", "ymd"], ["dates must be day-first, month-first or text"]),
        (["--decimal", "dot"], ["decimal must be comma, point or text"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_options_that_do_not_fit(run: Run, house: House, more: list[str], words: list[str]) -> None:
    sanitize(run, house, house.people, *more).refused(2, *words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[roles]\nquasi = ["agee", "town"]\n', ["no column 'agee'", "did you mean 'age'?"]),
        ('[roles]\nquasi = ["age"]\nsensitive = ["zzz"]\n', ["no column 'zzz'", "sensitive"]),
        ('[roles]\nquasi = ["age"]\nidentifiers = ["zzz"]\n', ["no column 'zzz'", "identifiers"]),
        ('[roles]\nquasi = ["age", "age"]\n', ["'age'", "twice"]),
        ('[roles]\nquasi = ["age"]\nsensitive = ["age"]\n', ["'age'", "quasi and sensitive"]),
        ('[roles]\nsensitive = ["ill"]\n', ["no quasi-identifier"]),
        ("[rolls]\n", ["unknown section 'rolls'", "did you mean 'roles'?"]),
        ("[roles]\nquasy = []\n", ["unknown key 'quasy'", "did you mean 'quasi'?"]),
        ("[roles]\nquasi = 5\n", ["quasi must be a list"]),
        ("[roles\n", ["not a TOML file"]),
        ("", ["no [roles] section"]),
        ('[roles]\nquasi = ["age"]\n[hierarchies]\nage = "nowhere.csv"\n', ["nowhere.csv", "no such hierarchy file"]),
        ('[roles]\nquasi = ["town"]\n[hierarchies]\ntown = "jobs.csv"\n', ["have no line in its hierarchy"]),
        ('[roles]\nquasi = ["town"]\n[hierarchies]\ntown = "twisted.csv"\n', ["do not nest"]),
    ],
    ids=lambda value: value.replace("\n", " ") if isinstance(value, str) else None,
)
def test_roles_that_do_not_fit(run: Run, house: House, content: str, words: list[str]) -> None:
    house.text("jobs.csv", "Rome;Italy;*\nOslo;Norway;*\n")
    house.text("twisted.csv", f"Rome;A;X;*\nOslo;A;Y;*\n{CANARY};B;Y;*\n")
    roles = house.text("other.toml", content)
    sanitize(run, house, house.people, roles=roles).refused(2, *words)
    assert not (house / "out.csv").exists()


@pytest.mark.parametrize(
    "content",
    [
        '[roles]\nquasi = ["age"]\n[orders]\nill = 5\n',
        'hierarchies = 3\n[roles]\nquasi = ["age"]\n',
        'orders = ["a"]\n[roles]\nquasi = ["age"]\n',
        'weights = 2\n[roles]\nquasi = ["age"]\n',
        '[roles]\nquasi = ["age"]\n[hierarchies]\nage = { file = 5 }\n',
    ],
    ids=lambda value: value.replace("\n", " "),
)
def test_roles_of_another_shape_are_refused_and_no_mistake_of_ours(run: Run, house: House, content: str) -> None:
    roles = house.text("other.toml", content)
    sanitize(run, house, house.people, roles=roles).refused(2, "other.toml")


def test_a_missing_roles_file_says_how_to_get_one(run: Run, house: House) -> None:
    found = sanitize(run, house, house.people, roles=house / "nowhere.toml")
    found.refused(2, "nowhere.toml", "no such roles file", "sfumato profile", "--write-roles")


@pytest.mark.parametrize("verb", ["profile", "measure", "sanitize", "verify", "study"])
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_no_verb_lets_a_value_into_an_error(run: Run, house: House, verb: str, more: list[str]) -> None:
    """A row with a field too many, full of canaries."""
    path = house.text("ragged.csv", people() + f"{CANARY},{CANARY},{CANARY},{CANARY},{CANARY},{CANARY}\n")
    options: dict[str, list[Any]] = {
        "profile": [],
        "measure": ["--roles", house.roles],
        "verify": ["--roles", house.roles, "--require", "k_anonymity >= 2"],
        "sanitize": ["--roles", house.roles, "--mechanism", "mondrian", "--set", "k=2", "--out", house / "out.csv"],
        "study": ["--roles", house.roles, "--out", house / "report"],
    }
    found = run(verb, path, *options[verb], *more)
    found.refused(2, "line 42", "6 fields")
    if more:
        assert found.json["exit_code"] == 2
    assert not (house / "out.csv").exists()
