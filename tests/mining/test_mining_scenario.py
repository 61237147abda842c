"""Scenario files: every key, and one sentence with the place for whatever is wrong."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mining_house import people

import sfumato as sf
from sfumato.core.errors import InputError, RequirementError, SfumatoError
from sfumato.mining.mine import mine_file
from sfumato.mining.scenario import AIMS, MiningPlan, read

WHOLE = """
table = "people.csv"
roles = "roles.toml"
delimiter = ";"
missing = ["?"]
folds = 3
seed = 7
rows = 80

[[candidate]]
mechanism = "mondrian"
set = { k = 4 }
require = "distinct_l_diversity >= 2"

[[candidate]]
name = "noise"
mechanism = "local_noise"
set = { bounds = "age=18:90", epsilon = 0.5 }

[[candidate]]
file = "release.csv"
pair = "position"
perturbed = ["age"]

[good]
field = "pay"
error = "predicted >= true"
weights = { "age > 55 and work = 'boss'" = 10, otherwise = 1 }
miners = ["naive_bayes", "tree"]
groups = ["work"]
transfer = false

[bad]
field = "age"
miners = ["tree", "zero_rule"]
[bad.aims.A]
nearer = 0
[bad.aims.old]
nearer = 50
weights = ["age > 60 -> 5", "otherwise -> 0"]
[bad.aims.C]
chosen = 0.25
"""
ROLES = '[roles]\nidentifiers = ["number"]\nquasi = ["age", "work", "town"]\nsensitive = ["pay"]\n'
SMALL = 'table = "people.csv"\nroles = "roles.toml"\n[[candidate]]\nfile = "r.csv"\n'
GOOD = '[good]\nfield = "pay"\n'


def write(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    columns = people(120)
    columns["town"][5] = "?"
    write(tmp_path / "people.csv", columns)
    rng = np.random.default_rng(0)
    noisy = [round(a + float(e), 2) for a, e in zip(columns["age"], rng.normal(0, 9, 120), strict=True)]
    write(tmp_path / "release.csv", {**columns, "age": noisy})
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    return tmp_path


def plan(folder: Path, text: str) -> MiningPlan:
    path = folder / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_every_key(tmp_path: Path) -> None:
    found = plan(tmp_path, WHOLE)
    assert (found.table, found.roles) == (tmp_path / "people.csv", tmp_path / "roles.toml")
    assert found.reading == {"delimiter": ";", "missing": ("?",)}
    first, second, third = found.candidates
    assert (first.name, first.mechanism, first.parameters) == ("mondrian k=4", "mondrian", {"k": 4})
    assert first.require == ("distinct_l_diversity >= 2",)
    assert (second.name, second.parameters["epsilon"]) == ("noise", 0.5)
    assert (third.name, third.file, third.pair) == ("release.csv", tmp_path / "release.csv", "position")
    assert third.perturbed == {"age"}
    scenario = found.scenario
    assert (scenario.folds, scenario.seed, scenario.rows) == (3, 7, 80)
    assert scenario.good is not None
    assert scenario.good.weights.rules == (("age > 55 and work = 'boss'", 10.0),)
    assert scenario.good.error.text == "predicted >= true"
    assert (scenario.good.groups, scenario.good.transfer) == (("work",), False)
    assert scenario.bad is not None
    a, old, c = scenario.bad.aims
    assert (a.name, a.nearer, a.chosen) == ("A", 0, None)
    assert (old.nearer, old.weights.rules, old.weights.otherwise) == (50, (("age > 60", 5.0),), 0.0)
    assert (c.nearer, c.chosen) == (0, 0.25)


def test_what_is_left_out(tmp_path: Path) -> None:
    found = plan(tmp_path, SMALL + GOOD + '[bad]\nfield = "age"\n').scenario
    assert (found.folds, found.seed, found.rows) == (10, 0, None)
    assert found.good is not None
    assert (found.good.error.text, found.good.weights.plain, found.good.transfer) == ("equal", True, True)
    assert found.bad is not None
    assert found.bad.aims == AIMS
    assert [(aim.name, aim.nearer, aim.chosen) for aim in AIMS] == [("A", 0, None), ("B", 100, None), ("C", 0, 0.05)]


def test_carried_out(folder: Path) -> None:
    (folder / "scenario.toml").write_text(WHOLE, encoding="utf-8")
    told: list[float] = []
    found = mine_file(folder / "scenario.toml", progress=lambda share, text: told.append(share))
    assert list(found) == ["mondrian k=4", "noise", "release.csv"]
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)
    for mined in found.values():
        assert (mined.rows, mined.folds, mined.seed, mined.paired) == (80, 3, 7, True)
        assert mined.good is not None
        assert mined.bad is not None
        assert [m.miner for m in mined.good.miners] == ["naive_bayes", "tree"]
        assert [aim.aim for aim in mined.bad.aims] == ["A", "old", "C"]
        assert mined.bad.aims[2].total == 20
    again = mine_file(folder / "scenario.toml")
    assert again == found


def test_sets_of_miners_by_name(tmp_path: Path) -> None:
    from sfumato.mining.miners import PAPER, QUICK, chosen, miners

    for name, size in (
        ("quick", len(QUICK["classes"])),
        ("paper", len(PAPER["classes"])),
        ("reference", len(miners("classes"))),
    ):
        good = plan(tmp_path, SMALL + GOOD + f'miners = "{name}"\n').scenario.good
        assert good is not None
        assert len(chosen(good.miners, "classes")) == size


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("table = ", ("TOML",)),
        ('roles = "r"\n', ("table",)),
        ('table = "t"\n', ("roles",)),
        ('table = 5\nroles = "r"\n', ("table",)),
        ('table = "t"\nroles = "r"\n', ("[[candidate]]",)),
        ('table = "t"\nroles = "r"\ncandidate = "x"\n', ("[[candidate]]",)),
        ('table = "t"\nroles = "r"\ncandidate = ["x"]\n', ("[[candidate]]",)),
        (SMALL, ("good",)),
        ("nonsense = 1\n" + SMALL + GOOD, ("nonsense",)),
        ('folds = "3"\n' + SMALL + GOOD, ("folds",)),
        ("folds = true\n" + SMALL + GOOD, ("folds",)),
        ("folds = 1\n" + SMALL + GOOD, ("folds",)),
        ("rows = 3\n" + SMALL + GOOD, ("rows",)),
        ("seed = 1.5\n" + SMALL + GOOD, ("seed",)),
        ("seed = -1\n" + SMALL + GOOD, ("seed",)),
        ("missing = 5\n" + SMALL + GOOD, ("missing",)),
        ("delimiter = 5\n" + SMALL + GOOD, ("delimiter",)),
        (SMALL + 'nope = 1\n' + GOOD, ("candidate 1", "nope")),
        (SMALL + 'mechanism = "mondrian"\n' + GOOD, ("candidate 1", "one of both")),
        (SMALL + 'pair = "somehow"\n' + GOOD, ("candidate 1", "pair")),
        (SMALL + 'pair = 3\n' + GOOD, ("candidate 1", "pair")),
        (SMALL + 'perturbed = 5\n' + GOOD, ("candidate 1", "perturbed")),
        (SMALL + 'set = { k = 2 }\n' + GOOD, ("candidate 1", "set")),
        (SMALL + '[[candidate]]\nfile = "r.csv"\n' + GOOD, ("same name",)),
        (SMALL.replace('file = "r.csv"', "file = 5") + GOOD, ("candidate 1", "file")),
        (SMALL.replace('file = "r.csv"', 'mechanism = "x"\nset = 5') + GOOD, ("candidate 1", "set")),
        (SMALL.replace('file = "r.csv"', 'mechanism = "x"\nrequire = 5') + GOOD, ("candidate 1", "require")),
        (SMALL.replace('file = "r.csv"', 'mechanism = "x"\nrequire = [5]') + GOOD, ("candidate 1", "require")),
        (SMALL.replace('file = "r.csv"', 'mechanism = "x"\npair = "position"') + GOOD, ("candidate 1", "pair")),
        (SMALL + "good = 5\n", ("good",)),
        (SMALL + "[good]\nfield = 5\n", ("[good]", "field")),
        (SMALL + "[good]\nweights = 5\n", ("[good]", "field")),
        (SMALL + GOOD + "weights = 5\n", ("[good]", "weights")),
        (SMALL + GOOD + 'weights = "age"\n', ("[good]", "age")),
        (SMALL + GOOD + 'weights = { "age > 5" = "x" }\n', ("[good]", "weight")),
        (SMALL + GOOD + "miners = 5\n", ("[good]", "miners")),
        (SMALL + GOOD + "miners = [5]\n", ("[good]", "miners")),
        (SMALL + GOOD + "groups = 5\n", ("[good]", "groups")),
        (SMALL + GOOD + 'transfer = "no"\n', ("[good]", "transfer")),
        (SMALL + GOOD + "error = 5\n", ("[good]", "error")),
        (SMALL + GOOD + "nearer = 5\n", ("[good]", "nearer")),
        (SMALL + '[bad]\nfield = "age"\naims = 5\n', ("[bad]", "aims")),
        (SMALL + '[bad]\nfield = "age"\naims = {}\n', ("[bad]", "aim")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims]\nA = 5\n', ("[bad]", "aims")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims.A]\nnearer = "x"\n', ("[bad]", "aim A", "nearer")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims.A]\nnearer = 101\n', ("[bad]", "A", "nearer")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims.A]\nnearer = true\n', ("[bad]", "aim A", "nearer")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims.A]\nchosen = 0\n', ("[bad]", "A", "chosen")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims.A]\nchosen = "x"\n', ("[bad]", "aim A", "chosen")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims.A]\nweights = 5\n', ("[bad]", "A", "weights")),
        (SMALL + '[bad]\nfield = "age"\n[bad.aims.A]\nnope = 5\n', ("[bad]", "aim A", "nope")),
        (SMALL + '[bad]\nfield = "age"\nerror = "equal"\n', ("[bad]", "error")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, refusal: Callable[..., str], text: str, words: tuple[str, ...]
) -> None:
    refusal(InputError, lambda: plan(tmp_path, text), "scenario.toml", *words)


def test_files_that_are_not_there(folder: Path, refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: read(folder / "none.toml"), "none.toml")
    refusal(InputError, lambda: read(folder), str(folder))
    (folder / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    refusal(InputError, lambda: read(folder / "bytes.toml"), "bytes.toml")
    for name in ("people.csv", "roles.toml", "release.csv"):
        text = WHOLE.replace(f'"{name}"', '"gone.csv"')
        (folder / "scenario.toml").write_text(text, encoding="utf-8")
        refusal(InputError, lambda: mine_file(folder / "scenario.toml"), "gone.csv")


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ('"mondrian"', '"mondriam"', InputError),
        ("k = 4", 'k = "x"', InputError),
        ("k = 4", "kk = 4", InputError),
        ('"distinct_l_diversity >= 2"', '"distinct_l_diversity 2"', RequirementError),
        ('field = "pay"', 'field = "paid"', InputError),
        ("work = 'boss'", "wrok = 'boss'", InputError),
        ('"predicted >= true"', '"predicted => true"', InputError),
        ('groups = ["work"]', 'groups = ["job"]', InputError),
        ('"tree", "zero_rule"', '"tree", "zero_rul"', InputError),
        ("age > 60", "agee > 60", InputError),
    ],
)
def test_what_only_the_table_tells_is_refused_in_a_sentence(
    folder: Path, refusal: Callable[..., str], old: str, new: str, kind: type[SfumatoError]
) -> None:
    assert old in WHOLE
    (folder / "scenario.toml").write_text(WHOLE.replace(old, new), encoding="utf-8")
    with pytest.raises(SfumatoError):
        mine_file(folder / "scenario.toml")
    refusal(kind, lambda: mine_file(folder / "scenario.toml"))


def test_in_python(refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: sf.Scenario(), "good")
    refusal(InputError, lambda: sf.Bad(field="age", aims=()), "no aim")
    refusal(InputError, lambda: sf.Bad(field="age", aims=(sf.Aim(name="A"), sf.Aim(name="A"))), "same name")
    for folds in (1, 0, -3, 2.5):
        refusal(InputError, lambda folds=folds: sf.Scenario(good=sf.Good(field="x"), folds=folds), "folds")
    refusal(InputError, lambda: sf.Aim(name="A", nearer=-1), "nearer")
    refusal(InputError, lambda: sf.Aim(name="A", chosen=1.5), "chosen")
    refusal(InputError, lambda: sf.Aim(name="A", count="rows"), "people or classes")
