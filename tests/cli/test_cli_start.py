"""Starting up: help at once and without the heavy modules, versions, calls that cannot be."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from cli_house import SCRIPT, House, Run

import sfumato
from selection import few
from sfumato.cli import app
from sfumato.cli.group import verbs

VERBS = ("profile", "measure", "sanitize", "verify", "study", "inspect", "demo", "explain", "mechanisms")
HEAVY = (
    "numpy",
    "duckdb",
    "pyarrow",
    "pandas",
    "polars",
    "scipy",
    "altair",
    "jinja2",
    "vl_convert",
    "python_calamine",
    "pydantic",
    "starlette",
    "uvicorn",
)
LOADED = """
import json, sys
sys.argv = ["sfumato", *sys.argv[1:]]
from sfumato.cli import main
try:
    main()
except SystemExit as stop:
    code = stop.code
sys.stdout.flush()
print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""

VERSION = re.compile(rf"sfumato {re.escape(sfumato.__version__)}( \(commit [0-9a-f]{{12}}\))?\n")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["sanitize", "--help"], ["study", "--help"]], ids=" ".join
)
def test_help_loads_no_heavy_module(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True)
    told = json.loads(done.stderr.splitlines()[-1])
    assert told["code"] == 0
    assert "typer" in told["modules"]  # the list is a list of modules
    assert not {module.split(".")[0] for module in told["modules"]} & set(HEAVY)
    assert done.stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "imported"), [(["--help"], set()), (["--version"], set()), (["mine", "--help"], {"mine"})]
)
def test_only_the_verb_that_runs_is_imported(arguments: list[str], imported: set[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True)
    modules = json.loads(done.stderr.splitlines()[-1])["modules"]
    assert {verb for verb in verbs(app) if f"sfumato.cli.{verb.replace(' ', '.')}" in modules} == imported


def test_a_verb_that_reads_a_table_does_load_them() -> None:
    """The check above can fail: the same script sees the engine once it is used."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "explain", "--json"], capture_output=True, text=True, check=True
    )
    assert "numpy" in json.loads(done.stderr.splitlines()[-1])["modules"]


def test_a_search_loads_the_engine_and_little_else(house: House, tmp_path: Path) -> None:
    words = ["search", house.people, "--roles", house.roles, "--require", "k_anonymity >= 2", "--suppression", "0.1"]
    words += ["--out", tmp_path / "out.csv", "--json"]
    done = subprocess.run([sys.executable, "-c", LOADED, *map(str, words)], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stderr.splitlines()[-1])["modules"])
    assert {module.split(".")[0] for module in loaded} & set(HEAVY) == {"numpy", "duckdb", "pyarrow"}
    assert not loaded & {"numpy.random", "numpy.ma"}
    assert (tmp_path / "out.csv").exists()


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, sfumato; print(' '.join(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {module.split(".")[0] for module in done.stdout.split()} & set(HEAVY)


@pytest.mark.parametrize(("word", "seconds"), [("--help", 1.0), ("--version", 0.4)])
def test_it_answers_at_once(word: str, seconds: float) -> None:
    """Processor time, not the clock, so that a busy machine does not decide."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([SCRIPT, word], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < seconds


def test_help_lists_every_verb_and_the_exit_codes(run: Run) -> None:
    found = run("--help").fine()
    for verb in VERBS:
        assert verb in found.out
    words = " ".join(found.out.split())
    for code in ("0 done", "1 a requirement", "2 the", "3 a mistake", "130 interrupted"):
        assert code in words
    assert found.err == ""


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("profile", ["INPUT", "--write-roles", "--json", "--delimiter", "--encoding"]),
        ("measure", ["RELEASE", "--roles", "--original", "--metric", "--json"]),
        ("sanitize", ["INPUT", "--roles", "--mechanism", "--set", "--require", "--out", "--seed", "--json"]),
        ("verify", ["RELEASE", "--roles", "--require", "--json"]),
        ("study", ["INPUT", "--roles", "--out", "--require", "--candidate", "--release", "--json"]),
        ("demo", ["--out", "--rows", "--seed", "--json"]),
        ("explain", ["--json"]),
        ("mechanisms", ["--json"]),
    ],
)
def test_help_of_a_verb_names_what_it_takes(
    run: Run, verb: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    found = run(verb, "--help").fine()
    for option in options:
        assert option in found.out
    assert "anonymous" not in found.out.lower()


def test_the_version_is_the_package_s(run: Run) -> None:
    assert VERSION.fullmatch(run("--version").fine().out)


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "--version"], capture_output=True, text=True, check=True, timeout=600
    )
    assert VERSION.fullmatch(done.stdout)


def test_no_argument_shows_the_help_and_no_half_sentence(spawn: Run) -> None:
    found = spawn()
    assert found.code in (0, 2)
    assert "sanitize" in found.out + found.err
    assert "sfumato: ;" not in found.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bogus"], ["No such command 'bogus'", "`sfumato --help`"]),
        (["verify"], ["Missing argument 'RELEASE'", "`sfumato verify --help`"]),
        (["sanitize", "in.csv"], ["Missing option '--roles'", "`sfumato sanitize --help`"]),
        (["measure", "in.csv", "--bogus"], ["--bogus", "`sfumato measure --help`"]),
        (["sanitize", "in.csv", "--roles", "r", "--mechanism", "m", "--out", "o", "--seed", "x"], ["--seed"]),
        (["demo", "--rows", "3"], ["--rows", "100"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_call_that_cannot_be_is_one_sentence(run: Run, arguments: list[str], words: list[str]) -> None:
    run(*arguments).refused(2, *words)


def test_an_error_with_json_is_an_object_on_standard_output(run: Run, house: House) -> None:
    found = run("verify", house / "nowhere.csv", "--roles", house.roles, "--require", "k_anonymity >= 2", "--json")
    sentence = found.refused(2, "nowhere.csv: no such file")
    assert found.json == {"error": sentence.removeprefix("sfumato: "), "exit_code": 2}


@pytest.mark.parametrize("arguments", [["bogus", "--json"], ["verify", "--json"]], ids=" ".join)
def test_a_wrong_call_with_json_is_an_object_too(run: Run, arguments: list[str]) -> None:
    found = run(*arguments)
    sentence = found.refused(2)
    assert found.json == {"error": sentence.removeprefix("sfumato: "), "exit_code": 2}


def test_a_mistake_of_ours_is_told_without_what_it_says(
    run: Run, house: House, canary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of a foreign error may quote the table."""
    import sfumato.core.roles

    def broken(*args: object, **more: object) -> None:
        raise ValueError(f"could not convert {canary}")

    monkeypatch.setattr(sfumato.core.roles.Roles, "read", broken)
    monkeypatch.delenv("SFUMATO_DEBUG", raising=False)
    for more in ([], ["--json"]):
        found = run("verify", house.people, "--roles", house.roles, "--require", "k_anonymity >= 2", *more)
        found.refused(3, "a mistake of ours (ValueError", "report")
        if more:
            assert found.json["exit_code"] == 3


def test_the_reader_of_a_pipe_may_leave(house: House) -> None:
    """`sfumato explain | head -1` ends quietly."""
    process = subprocess.Popen([SCRIPT, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.wait(timeout=600)
    process.stderr.close()
    assert err == ""


@pytest.mark.parametrize("encoding", few(["ascii", "latin-1"], "ascii"))
def test_a_terminal_that_lacks_a_character_is_no_mistake(
    house: House, spawn: Run, encoding: str, tmp_path: Path
) -> None:
    """A tick that cannot be printed must not turn a verified release into a failure."""
    out = tmp_path / "out.csv"
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    made = spawn(
        "sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian", "--set", "k=4", "--out", out,
        env=environment,
    )  # fmt: skip
    assert made.code == 0, made.err
    checked = spawn("verify", out, "--roles", house.roles, "--require", "k_anonymity >= 4", env=environment)
    assert checked.code == 0, checked.err


def test_no_bracket_of_a_help_is_eaten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Helps are Markdown, where `t_closeness[ordered](salary)` would be a link: what is written must be what is read."""
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 3000)
    seen = 0
    for name, verb in verbs(app).items():
        shown = " ".join(run(*name.split(), "--help").fine().out.split())
        for text in [verb.help, *(getattr(option, "help", None) for option in verb.params)]:
            for written in re.findall(r"\S*\[[^\]]*\]\S*", (text or "").replace("\\", "").replace("`", "")):
                seen += 1
                assert written in shown, f"sfumato {name} --help lacks {written}"
    assert seen > 5
