"""Hostile and broken input through the command line: one sentence, the right exit code, nothing left behind."""

from __future__ import annotations

import inspect
import subprocess
from importlib import import_module
from typing import Any, get_args

import duckdb
import pandas as pd
import pyreadstat
import pytest
import typer
from cli_house import CANARY, SCRIPT, House, Run, people

from selection import few
from sfumato.cli import app
from sfumato.cli.group import verbs

ATTACKS = ["COPY people TO '{new}'", "ATTACH '{new}' AS x", "SELECT * FROM read_csv('{foreign}')", "SELECT 1; SELECT 2"]


@pytest.mark.parametrize("query", ATTACKS)
@pytest.mark.parametrize("verb", ["profile", "study"])
def test_a_query_cannot_write_or_read_other_files(run: Run, house: House, verb: str, query: str) -> None:
    with duckdb.connect(str(house / "people.duckdb")) as base:
        base.execute(f"CREATE TABLE people AS SELECT * FROM read_csv('{house.people}')")
    text = query.format(new=house / "stolen", foreign=house.people)
    study = house.text(
        "study.toml",
        f'table = "people.duckdb"\nroles = "roles.toml"\nquery = """{text}"""\n[[candidate]]\nmechanism = "mondrian"\nk = 2\n',
    )
    before = house.listing()
    if verb == "profile":
        outcome = run("profile", house / "people.duckdb", "--query", text)
    else:
        outcome = run("study", study, "--out", house / "out")
    outcome.refused(2, "one SELECT", "people.duckdb")
    assert CANARY not in outcome.out
    assert house.listing() == before


# --- options and files that cannot be meant --------------------------------------------------------------------------


def sanitize(run: Run, house: House, *more: object) -> Any:
    return run("sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian", "--set", "k=2",
               "--out", house / "out.csv", *more)  # fmt: skip


def test_every_numeric_option_has_a_least_value() -> None:
    """An option without one would take -1; shares that the library itself refuses are the exception."""
    loose = []
    for verb in verbs(app):
        module = import_module(f"sfumato.cli.{verb.replace(' ', '.')}")
        for parameter in inspect.signature(module.run, eval_str=True).parameters.values():
            kind, *more = get_args(parameter.annotation) or (None,)
            kinds = set(get_args(kind)) or {kind}
            options = [each for each in more if isinstance(each, typer.models.ParameterInfo)]
            if kinds & {int, float} and options and options[0].min is None:
                loose.append(parameter.name)
    assert set(loose) <= {"suppression"}


@pytest.mark.parametrize("memory", ["-1", "-5GB", "0", "nan", "", "4 apples", "1e30GB"])
def test_memory_is_an_amount(run: Run, house: House, memory: str) -> None:
    run("profile", house.people, "--memory", memory).refused(2, "memory limit")


@pytest.mark.parametrize("seed", ["-1", "-9999999999", "1.5", "x"])
def test_a_seed_is_a_whole_number(run: Run, house: House, seed: str) -> None:
    sanitize(run, house, "--seed", seed).refused(2, "--seed")


@pytest.mark.parametrize(
    "encoding",
    ["hex", "zlib", "rot13", "base64", "undefined", "punycode", "idna", "unicode_escape", "nonsense", "utf-32"],
)
def test_an_encoding_is_one_of_text(run: Run, house: House, encoding: str) -> None:
    run("profile", house.people, "--encoding", encoding).refused(2, encoding)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000 + "]" * 100_000,
        "a" + ".a" * 100_000 + " = 1",
        "x = {" + "a.".join([""] * 5000) + "a = 1}",
    ],
    ids=["lists", "keys", "inline"],
)
def test_a_roles_file_that_nests_without_end(run: Run, house: House, text: str) -> None:
    house.text("roles.toml", text)
    sanitize(run, house).refused(2, "roles.toml", "nested too deeply")


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ("{ widths = [0] }", "above 0"),
        ("{ widths = [-5] }", "above 0"),
        ("{ widths = [nan] }", "numbers"),
        ("{ widths = [inf] }", "numbers"),
        ("{ widths = [true] }", "numbers"),
        ('{ widths = ["5"] }', "numbers"),
        ("{ widths = [5, 7] }", "multiple"),
        ("{ widths = [10, 5] }", "multiple"),
        ("{ widths = [5], origin = nan }", "origin"),
        ("{ cuts = [1], origin = 3 }", "origin"),
        ("{ cuts = [nan] }", "numbers"),
        ("{ cuts = [[1, 2], [3]] }", "level below"),
        ("{ quantiles = [0] }", "at least 1"),
        ("{ quantiles = [4, 3] }", "divide"),
        ("{ quantiles = [2000000000] }", "at most"),
        ('{ dates = ["year", "day"] }', "fine to coarse"),
        ("{ prefix = [0] }", "above 0"),
        ("{ prefix = [-1] }", "above 0"),
        ('{ prefix = ["x"] }', "above 0"),
        ("{ widths = [5], cuts = [3] }", "two rules"),
        ("{ suppress = 3 }", "true or false"),
    ],
)
def test_a_rule_is_refused_where_it_stands_used_or_not(run: Run, house: House, rule: str, word: str) -> None:
    """Mondrian needs no hierarchy, so nothing else would look at the rule."""
    house.text("roles.toml", house.roles.read_text() + f"[hierarchies]\nage = {rule}\n")
    sanitize(run, house).refused(2, "roles.toml, [hierarchies] age", word)


# --- what the first 256 KB tell --------------------------------------------------------------------------------------


def test_many_columns_are_counted_to_the_end(run: Run, house: House) -> None:
    header = ",".join(f"column_{i}" for i in range(100_000))
    wide = house.text("wide.csv", f"{header}\n{','.join('1' * 100_000)}\n")
    run("profile", wide).refused(2, "100,000 columns")


@pytest.mark.parametrize(("text", "word"), [("x" * 10_000_000, "the first line"), ("a,b\n" + "x" * 20_000_000 + ",1\n", "2 MB")])  # fmt: skip
def test_a_line_without_end(run: Run, house: House, text: str, word: str) -> None:
    run("profile", house.text("line.csv", text)).refused(2, "line.csv", word)


@pytest.mark.parametrize("encoding", ["utf-32", "utf-16", "utf-8-sig"])
def test_marked_encodings_are_read(run: Run, house: House, encoding: str) -> None:
    path = house.text("marked.csv", people(), encoding)
    assert run("profile", path, "--json").fine().json["rows"] == 40


@pytest.mark.parametrize("text", ['{"name": "CANARY", "age": [3]}\n{"name": "x"}\n', '{"name": "CANARY"', '[\n {"name": "CANARY"}\n]', '[{"name": "CANARY"}]'])  # fmt: skip
def test_json_is_no_table(run: Run, house: House, text: str) -> None:
    run("profile", house.text("t.json", text.replace("CANARY", CANARY))).refused(2)


@pytest.mark.parametrize(
    "address", [f"https://me:{CANARY}@host/t.csv?key={CANARY}", f"postgresql://me:{CANARY}@host/db"]
)
def test_addresses_are_named_by_their_scheme_alone(run: Run, house: House, address: str) -> None:
    """Wherever one is given: its password stands in no sentence."""
    made = ("--mechanism", "mondrian", "--set", "k=4")
    for words in (
        ("profile", address),
        ("profile", house.people, "--deep", "--roles", address),
        ("verify", address, "--roles", house.roles, "--require", "k_anonymity >= 2"),
        ("measure", house.people, "--roles", house.roles, "--original", address),
        ("sanitize", house.people, "--roles", house.roles, *made, "--out", address),
        ("study", address, "--roles", house.roles, "--out", house / "out"),
    ):
        said = run(*words).refused(2, address.split(":")[0] + "://...")
        assert "host" not in said


@pytest.mark.parametrize("written", few(["release.dta", "release.sav", "release.xlsx"], "release.dta"))
def test_statistical_files_go_in_and_out(run: Run, house: House, written: str) -> None:
    """From SPSS to Stata and back through every verb that has a table."""
    frame = pd.read_csv(house.people)
    pyreadstat.write_sav(frame.astype({"age": float}), str(house / "people.sav"))
    known = ("--roles", house.roles)
    assert run("profile", house / "people.sav", "--json").fine().json["rows"] == 40
    made = ("--mechanism", "mondrian", "--set", "k=4")
    k4 = ("--require", "k_anonymity >= 4")
    run("sanitize", house / "people.sav", *known, *made, "--out", house / written).fine()
    run("verify", house / written, *known, *k4).fine()
    run("measure", house / written, *known, "--original", house / "people.sav", "--json").fine()
    run("search", house / "people.sav", *known, *k4, "--suppression", "0.5", "--out", house / "found.sav").fine()
    run("verify", house / "found.sav", *known, *k4).fine()
    (house / "cut.sav").write_bytes((house / "people.sav").read_bytes()[:700])
    run("profile", house / "cut.sav").refused(2, "cut.sav")


@pytest.mark.parametrize("name", few(["-", "/dev/stdin"], "-"))
def test_standard_input_is_read_whole(house: House, name: str) -> None:
    words = [SCRIPT, "profile", name, "--json"]
    done = subprocess.run(words, input=house.people.read_bytes(), capture_output=True, timeout=600, check=True)
    assert b'"rows": 40' in done.stdout


def test_a_device_is_no_table(run: Run) -> None:
    run("profile", "/dev/zero").refused(2, "a device")
