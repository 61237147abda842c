"""`channel` and `design` from the command line: the paper's numbers, releases, designs that sanitize, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_house import CANARY, Run

from sfumato.channel.channel import Channel

APPENDIX = ",T1,T2,T3,T4\na,5/17,2/17,0,10/17\nb,0,20/35,5/35,10/35\nc,15/28,5/28,3/28,5/28\nd,5/20,8/20,0,7/20\n"
TOML = """rows = 5
k = 2
publish = "{publish}"
[[attribute]]
name = "age"
role = "quasi"
levels = [["a","b","c","d"], ["ab","ab","cd","cd"], ["*","*","*","*"]]
[[attribute]]
name = "gender"
role = "quasi"
levels = [["m","f"], ["*","*"]]
[[attribute]]
name = "disease"
role = "sensitive"
levels = [["x","y","z"]]
"""
ROLES = '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "appendix.csv").write_text(APPENDIX, encoding="utf-8")
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    (tmp_path / "before.csv").write_text(f"age,ill\n21,a\n22,b\n23,{CANARY}\n24,a\n", encoding="utf-8")
    (tmp_path / "after.csv").write_text(f"age,ill\n21-22,a\n21-22,b\n23,{CANARY}\n24,a\n", encoding="utf-8")
    ages = "\n".join(f"{20 + i % 7 + i % 3},x" for i in range(60))
    (tmp_path / "people.csv").write_text(f"age,ill\n{ages}\n", encoding="utf-8")
    return tmp_path


def test_a_matrix(run: Run, folder: Path) -> None:
    found = run("channel", folder / "appendix.csv", "--json").fine().json
    assert found["error"] == pytest.approx(0.5404411764705882)
    assert found["worst_prior"]["error"] == pytest.approx(0.6016898008449004)
    assert found["santhi_vardy"] == pytest.approx(0.6881130630730286)
    assert found["conditional_entropy"] == pytest.approx(1.6809049667515885)
    assert found["worst_prior"]["prior"] == pytest.approx([0.21545, 0.25347, 0.16898, 0.36210], abs=5e-6)
    assert (found["inputs"], found["outputs"], found["exactness"]) == (4, 4, "exact")
    said = run("channel", folder / "appendix.csv").fine().out
    for word in ("0.540441", "0.60169", "0.75", "Santhi", "capacity"):
        assert word in said


def test_a_prior(run: Run, folder: Path) -> None:
    (folder / "prior.csv").write_text("input,probability\na,1/2\nb,0.5\n", encoding="utf-8")
    found = run("channel", folder / "appendix.csv", "--prior", folder / "prior.csv", "--json").fine().json
    assert found["adversaries"]["prior"] == 0.5
    rows = np.array([[5 / 17, 2 / 17, 0, 10 / 17], [0, 20 / 35, 5 / 35, 10 / 35]]) / 2
    assert found["error"] == pytest.approx(1 - rows.max(axis=0).sum())


def test_k_anonymity_described(run: Run, folder: Path) -> None:
    """The headline on the paper's example: deterministic publishing leaks more."""
    errors = {}
    for publish in ("uniform", "deterministic"):
        (folder / "k.toml").write_text(TOML.format(publish=publish), encoding="utf-8")
        found = run("channel", folder / "k.toml", "--no-worst-prior", "--json").fine().json
        assert (found["inputs"], found["outputs"], found["exactness"]) == (98280, 5481, "exact")
        assert found["adversaries"]["both"] == pytest.approx(found["error"])  # the matrix says the same
        assert "worst_prior" not in found
        errors[publish] = found["error"]
    assert errors["uniform"] == pytest.approx(0.9873829873829875)
    assert errors["deterministic"] == pytest.approx(0.9442307692307692)


def test_a_release(run: Run, folder: Path) -> None:
    more = ("--roles", folder / "roles.toml", "--original", folder / "before.csv")
    found = run("channel", folder / "after.csv", *more, "--json").fine()
    assert (found.json["inputs"], found.json["outputs"], found.json["rows"]) == (4, 3, 4)
    assert found.json["error"] == pytest.approx(0.25)
    assert found.json["bayes_capacity"] == pytest.approx(3)
    assert CANARY not in found.out
    run("channel", folder / "after.csv", *more).fine()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["appendix.csv", "--original", "before.csv"], ["--roles"]),
        (["after.csv", "--roles", "roles.toml"], ["--original"]),
        (["after.csv"], ["after.csv", "--roles"]),
        (["none.csv"], ["none.csv"]),
        (["appendix.csv", "--prior", "after.csv"], ["line 2"]),
        (["none.toml"], ["none.toml"]),
    ],
)
def test_channel_refuses(run: Run, folder: Path, arguments: list[str], words: list[str]) -> None:
    run("channel", *(word if word.startswith("-") else folder / word for word in arguments)).refused(2, *words)


# --- design ----------------------------------------------------------------------------------------------------------


def test_a_design_sanitizes_a_column(run: Run, folder: Path) -> None:
    more = ("--column", "age", "--budget", "0.1", "--save", folder / "matrix.csv", "--json")
    found = run("design", folder / "people.csv", *more).fine().json
    (design,) = found["designs"]
    assert design["exactness"] == "exact"
    assert design["degradation"] <= 0.1 + 1e-7
    assert design["error"] == pytest.approx(design["bound"], abs=1e-7)
    assert Channel.read(folder / "matrix.csv").shape == (found["inputs"],) * 2
    settings = ("--set", "columns=age", "--set", f"matrix={folder / 'matrix.csv'}", "--out", folder / "out.csv")
    run("sanitize", folder / "people.csv", "--roles", folder / "roles.toml", "--mechanism", "pram", *settings).fine()
    assert len((folder / "out.csv").read_text(encoding="utf-8").splitlines()) == 61


def test_outputs_that_are_no_values_sanitize_too(run: Run, folder: Path) -> None:
    """A degradation matrix with groups as outputs: what is saved is a square matrix that pram takes."""
    ages = sorted({line.split(",")[0] for line in (folder / "people.csv").read_text(encoding="utf-8").splitlines()[1:]})
    half = ages[: len(ages) // 2]
    lines = [",young,old", *(f"{age},{0 if age in half else 2},{2 if age in half else 0}" for age in ages)]
    (folder / "cost.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    more = ("--column", "age", "--degradation", folder / "cost.csv", "--budget", "0", "--save", folder / "m.csv")
    found = run("design", folder / "people.csv", *more, "--json").fine().json
    assert (found["inputs"], found["outputs"]) == (len(ages), 2)
    settings = ("--set", "columns=age", "--set", f"matrix={folder / 'm.csv'}", "--out", folder / "out.csv")
    run("sanitize", folder / "people.csv", "--roles", folder / "roles.toml", "--mechanism", "pram", *settings).fine()
    released = {line.split(",")[0] for line in (folder / "out.csv").read_text(encoding="utf-8").splitlines()[1:]}
    assert released == {"young", "old"}


def test_the_frontier_and_the_rivals(run: Run, folder: Path) -> None:
    found = (
        run("design", folder / "people.csv", "--column", "age", "--frontier", "4", "--compare", "--json").fine().json
    )
    errors = [design["error"] for design in found["designs"]]
    assert len(errors) == 4
    assert errors == sorted(errors)
    for line in found["compared"]:
        assert line["designed"] >= line["error"] - 1e-7
    assert {line["name"] for line in found["compared"]} >= {"pram keep=0.9", "groups of 2"}
    said = run(
        "design", folder / "people.csv", "--column", "age", "--error", "0.5", "--epsilon", "2", "--compare"
    ).fine()
    assert "At equal degradation" in said.out
    assert "--uniform" in said.err


def test_a_gain_function(run: Run, folder: Path) -> None:
    (folder / "cost.csv").write_text(",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n", encoding="utf-8")
    (folder / "gain.csv").write_text("guess,c,b,a\nab,0,1,1\nbc,1,1,0\n", encoding="utf-8")
    more = ("--degradation", folder / "cost.csv", "--gain", folder / "gain.csv", "--budget", "1", "--json")
    found = run("design", *more).fine().json
    assert found["designs"][0]["error"] == pytest.approx(1 / 3)


def test_a_design_under_a_limit_of_bits(run: Run, folder: Path) -> None:
    found = run("design", folder / "people.csv", "--column", "age", "--bits", "0.5", "--json").fine().json
    (design,) = found["designs"]
    assert design["information"] <= 0.5 + 1e-7
    assert design["exactness"] == "exact"
    freer = run("design", folder / "people.csv", "--column", "age", "--bits", "1", "--json").fine().json["designs"][0]
    assert freer["degradation"] < design["degradation"]
    assert "bits told" in run("design", folder / "people.csv", "--column", "age", "--bits", "0.5").fine().out
    run("design", folder / "people.csv", "--column", "age", "--bits", "1", "--epsilon", "1").refused(2, "--epsilon")
    run("design", folder / "people.csv", "--column", "age", "--bits", "1", "--budget", "1").refused(2, "one of")


def test_design_refuses(run: Run, folder: Path) -> None:
    people = folder / "people.csv"
    run("design", people, "--column", "age").refused(2, "--budget", "--frontier")
    run("design", people, "--column", "age", "--budget", "1", "--error", "1").refused(2, "one of")
    run("design", people, "--budget", "1").refused(2, "--column")
    run("design", "--budget", "1").refused(2, "--degradation")
    run("design", people, "--column", "pay", "--budget", "1").refused(2, "'pay'")
    run("design", people, "--column", "age", "--budget", "1", "--neighbours", "some").refused(2, "--neighbours")
    run("design", people, "--column", "age", "--budget", "1", "--cost", "x").refused(2, "--cost")
    run("design", people, "--column", "age", "--error", "0.999").refused(1, "cannot be reached")
    run("design", people, "--column", "age", "--budget", "0.001", "--epsilon", "0.1").refused(1, "at least")
    run("design", people, "--column", "age", "--frontier", "3", "--save", folder / "m.csv").refused(2, "frontier")
    assert not (folder / "m.csv").exists()


def test_mechanisms_in_one_table(run: Run, folder: Path) -> None:
    (folder / "k.toml").write_text(TOML.format(publish="uniform").replace("rows = 5", "rows = 2"), encoding="utf-8")
    said = run("channel", folder / "k.toml", "--compare").fine().out
    for word in ("Mechanisms on the same tables", "PRAM", "local noise", "count query", "anatomy", "deterministic"):
        assert word in said
    run("channel", folder / "appendix.csv", "--compare").refused(2, "--compare")


@pytest.mark.full
def test_the_frontier_is_drawn_above_what_is_published(run: Run, folder: Path) -> None:
    """No point of PRAM or of groups lies above the line, and the page needs no network."""
    page = folder / "map.html"
    found = (
        run("design", folder / "people.csv", "--column", "age", "--budget", "0.5", "--figure", page, "--json")
        .fine()
        .json
    )
    assert found["figure"] == str(page)
    html = page.read_text(encoding="utf-8")
    assert "pram keep=0.5" in html
    assert "groups of 2" in html
    assert "src=" not in html.split("<script>")[0]
    assert "<link" not in html
    run(
        "design", folder / "people.csv", "--column", "age", "--budget", "0.5", "--figure", folder / "no" / "m.html"
    ).refused(2, "folder does not exist")
