"""The demo's town: reproducible, possible, dependent, missing where it should be, and risky to publish as it is."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import ArrayLike
from pyarrow import csv as pa_csv

from sfumato.cli import demo_table

QUASI = ["age", "sex", "postal_code", "birth_country", "education", "marital_status", "occupation"]
ROWS = 30_000


@pytest.fixture(scope="module")
def town() -> pa.Table:
    return demo_table.people()


@pytest.fixture(scope="module")
def columns(town: pa.Table) -> dict[str, np.ndarray]:
    """Numpy columns; missing text is "", missing income -1."""
    return {
        name: np.asarray(pc.fill_null(town[name], -1 if pa.types.is_integer(town[name].type) else ""))
        for name in town.column_names
    }


def mutual_information(x: ArrayLike, y: ArrayLike) -> float:
    """Plug-in estimate of I(X;Y), in bits."""
    (_, row), (_, column) = (np.unique(np.asarray(codes), return_inverse=True) for codes in (x, y))
    counts = np.zeros((row.max() + 1, column.max() + 1))
    np.add.at(counts, (row, column), 1)
    joint = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / apart[seen])).sum())


def shuffled_information(x: np.ndarray, y: np.ndarray) -> float:
    """The largest of 20 estimates when nothing is to be found: what the plug-in's bias alone can show."""
    rng = np.random.default_rng(7)
    return max(mutual_information(x, rng.permutation(y)) for _ in range(20))


# --- reproducible -------------------------------------------------------------------------------------------------


def test_the_same_seed_writes_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    def written(folder: str, **kwargs: int) -> dict[str, bytes]:
        return {name: path.read_bytes() for name, path in demo_table.write_town(tmp_path / folder, **kwargs).items()}

    first, again, other = written("a", rows=2_000), written("b", rows=2_000), written("c", rows=2_000, seed=1)
    assert first == again
    assert first["people"] != other["people"]
    assert {name: text for name, text in first.items() if name != "people"} == {
        name: text for name, text in other.items() if name != "people"
    }


@pytest.mark.parametrize("rows", [1, 2, 999, ROWS])
def test_as_many_rows_as_asked_each_with_its_own_number(rows: int) -> None:
    table = demo_table.people(rows)
    assert table.num_rows == rows
    assert sorted(table["person_id"].to_pylist()) == [f"P-{i:06d}" for i in range(1, rows + 1)]


@pytest.mark.parametrize("rows", [0, -3])
def test_no_town_without_people(rows: int) -> None:
    with pytest.raises(ValueError, match="rows"):
        demo_table.people(rows)


def test_numbers_say_nothing_about_the_row(town: pa.Table, columns: dict[str, np.ndarray]) -> None:
    number = np.array([int(text[2:]) for text in town["person_id"].to_pylist()])
    # Under independence a correlation has standard error 1/sqrt(n); five of them leave no room for chance.
    for against in (np.arange(ROWS), columns["age"], columns["income"]):
        assert abs(np.corrcoef(number, against)[0, 1]) < 5 / np.sqrt(ROWS)


def test_importing_the_module_does_not_import_pyarrow() -> None:
    code = "import sys, sfumato.cli.demo_table; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- possible -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "values", "youngest"),
    [
        ("marital_status", ["married", "registered partner", "separated", "divorced", "widowed"], 18),
        ("education", ["lower secondary"], 14),
        ("education", ["upper secondary", "vocational"], 18),
        ("education", ["bachelor"], 21),
        ("education", ["master"], 23),
        ("education", ["doctorate"], 27),
        ("occupation", ["physician", "lawyer"], 23),
        ("occupation", list(demo_table.OCCUPATIONS), 16),
        ("diagnosis", ["dementia"], 45),
        ("diagnosis", ["HIV infection"], 15),
    ],
)
def test_nobody_is_too_young(columns: dict[str, np.ndarray], column: str, values: list[str], youngest: int) -> None:
    ages = columns["age"][np.isin(columns[column], values)]
    assert len(ages) > 0, "an absent value would pass in silence"
    assert ages.min() >= youngest


def test_ages_and_sexes_follow_the_pyramid(columns: dict[str, np.ndarray]) -> None:
    age, women = columns["age"], columns["sex"] == "female"
    assert (age.min(), age.max() <= 100) == (0, True)
    share = np.histogram(age, bins=[0, 16, 40, 65, 85, 101])[0] / ROWS
    assert share == pytest.approx([0.145, 0.27, 0.37, 0.185, 0.03], abs=0.03)
    assert women[age < 30].mean() == pytest.approx(0.49, abs=0.025)
    assert women[age >= 85].mean() > 0.6


def test_degrees_precede_the_professions_that_ask_for_them(columns: dict[str, np.ndarray]) -> None:
    held = set(columns["education"][np.isin(columns["occupation"], ["physician", "lawyer"])])
    assert held <= {"master", "doctorate"}
    assert {"master", "doctorate"} <= held


def test_income_is_in_hundreds_and_of_adults(columns: dict[str, np.ndarray]) -> None:
    income, age = columns["income"], columns["age"]
    given = income >= 0
    assert (income[given] % 100 == 0).all()
    assert (income[age < 16] == 0).all()
    earning = income[(age >= 25) & (age < 60) & (income > 0)]
    assert np.mean(earning) > 1.05 * np.median(earning), "a long right tail"
    assert np.quantile(earning, 0.99) > 3 * np.median(earning)


def test_households_hold_the_couple(columns: dict[str, np.ndarray]) -> None:
    size, status = columns["household_size"], columns["marital_status"]
    assert size.min() == 1
    assert size.max() <= 9
    assert size[np.isin(status, ["married", "registered partner"])].min() == 2
    assert size[columns["age"] < 18].min() == 2, "no child lives alone"


def test_the_old_have_retired(columns: dict[str, np.ndarray]) -> None:
    age, stated = columns["age"], columns["occupation"] != ""
    assert stated[(age >= 30) & (age < 55)].mean() > 0.8
    assert 0.1 < stated[(age >= 68) & (age < 80)].mean() < 0.5
    assert stated[age >= 85].mean() < 0.1
    assert np.median(columns["income"][age >= 70]) < 0.8 * np.median(columns["income"][(age >= 40) & (age < 60)])


# --- dependent ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "at_least"),
    [
        ("education", "income", 0.10),
        ("age", "diagnosis", 0.10),
        ("age", "marital_status", 0.40),
        ("age", "education", 0.30),
        ("sex", "occupation", 0.05),
        ("education", "occupation", 0.30),
        ("occupation", "diagnosis", 0.01),
        ("marital_status", "household_size", 0.10),
        ("region", "education", 0.002),
    ],
)
def test_columns_depend_on_each_other(columns: dict[str, np.ndarray], left: str, right: str, at_least: float) -> None:
    adults = (columns["age"] >= 25) & (columns["age"] < 65)
    known = adults & (columns["income"] >= 0) & (columns["occupation"] != "") & (columns["postal_code"] != "")
    # Children know neither degrees nor jobs, which alone would make everything depend on everything.
    rows = np.ones(ROWS, dtype=bool) if left == "age" else known
    bands = {
        **columns,
        "age": columns["age"] // 10,
        "income": np.searchsorted(np.quantile(columns["income"][known], [0.2, 0.4, 0.6, 0.8]), columns["income"]),
        "region": np.array([code[:2] for code in columns["postal_code"]]),
    }
    x, y = bands[left][rows], bands[right][rows]
    found, by_chance = mutual_information(x, y), shuffled_information(x, y)
    assert found > at_least
    assert found > 2 * by_chance


def test_the_information_measure_itself() -> None:
    assert mutual_information([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0)
    assert mutual_information([0, 1, 2, 3], ["a", "b", "c", "d"]) == pytest.approx(2)


def test_diagnoses_are_skewed_with_rare_ones(town: pa.Table) -> None:
    counts = Counter(town["diagnosis"].to_pylist())
    assert set(counts) == set(demo_table.DIAGNOSES)
    assert 0.4 < counts["healthy"] / ROWS < 0.7
    assert 0 < min(counts.values()) / ROWS < 0.005


def test_given_names_tell_the_sex(town: pa.Table) -> None:
    for sex, names in (("female", demo_table.WOMEN), ("male", demo_table.MEN)):
        mine = town.filter(pc.equal(town["sex"], sex))["name"].to_pylist()
        assert {name.split()[0] for name in mine} == set(names)


def test_places_are_five_digits_of_unequal_size_and_share_prefixes(town: pa.Table) -> None:
    counts = Counter(code for code in town["postal_code"].to_pylist() if code is not None)
    assert all(len(code) == 5 and code.isdigit() for code in counts)
    assert any(code.startswith("0") for code in counts), "a reader that takes the code for a number must lose something"
    distinct = [len({code[: 5 - masked] for code in counts}) for masked in range(4)]
    assert distinct[0] == 60
    assert distinct[3] == len(demo_table.REGIONS)
    assert all(finer > coarser for finer, coarser in itertools.pairwise(distinct))
    assert max(counts.values()) > 15 * min(counts.values())


# --- missing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        ("birth_country", 0.015, 0.025),
        ("income", 0.022, 0.038),
        ("postal_code", 0.003, 0.007),
        ("occupation", 0.35, 0.55),
        *[(name, 0.0, 0.0) for name in ("age", "sex", "education", "marital_status", "household_size", "diagnosis")],
    ],
)
def test_missing_shares(town: pa.Table, column: str, low: float, high: float) -> None:
    assert low <= town[column].null_count / ROWS <= high


def test_missing_is_not_at_random() -> None:
    # Refusals are a few percent of a few percent: only a larger town shows their pattern beyond chance.
    town = demo_table.people(200_000)
    young = pc.and_(pc.greater_equal(town["age"], 18), pc.less(town["age"], 35))
    newly, settled = (town.filter(mask)["postal_code"] for mask in (young, pc.invert(young)))
    assert newly.null_count / len(newly) > 2 * settled.null_count / len(settled)
    adults = town.filter(pc.greater_equal(town["age"], 16))
    rich = adults.filter(pc.is_in(adults["occupation"], pa.array(["physician", "lawyer", "manager"])))
    assert rich["income"].null_count / len(rich) > 1.15 * adults["income"].null_count / len(adults)


# --- taxonomies and roles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["birth_country", "education", "marital_status", "occupation"])
def test_taxonomies_cover_and_nest(town: pa.Table, column: str) -> None:
    rows = demo_table.HIERARCHIES[column]
    assert set(town[column].drop_null().to_pylist()) == {row[0] for row in rows}
    assert len({row[0] for row in rows}) == len(rows)
    assert {len(row) for row in rows} == {4}
    assert {row[-1] for row in rows} == {"*"}
    for level in range(3):
        parents: dict[str, set[str]] = {}
        for row in rows:
            parents.setdefault(row[level], set()).add(row[level + 1])
        assert all(len(above) == 1 for above in parents.values()), f"level {level} splits on the way up"
        assert len({row[level] for row in rows}) > len({row[level + 1] for row in rows})


def test_the_roles_name_every_column_once_and_the_files_exist(town: pa.Table, tmp_path: Path) -> None:
    paths = demo_table.write_town(tmp_path, rows=50)
    settings = tomllib.loads(paths["roles"].read_text(encoding="utf-8"))
    assert settings["roles"]["quasi"] == QUASI
    assert sorted(name for role in settings["roles"].values() for name in role) == sorted(town.column_names)
    assert settings["hierarchies"].pop("age") == {"widths": [5, 10, 20]}
    assert settings["hierarchies"].pop("postal_code") == {"prefix": [1, 2, 3]}
    assert set(settings["hierarchies"]) == set(demo_table.HIERARCHIES)
    for column, file in settings["hierarchies"].items():
        assert tmp_path / file == paths[column]
        with paths[column].open(encoding="utf-8", newline="") as lines:
            assert list(csv.reader(lines, delimiter=";")) == demo_table.HIERARCHIES[column]


def test_the_csv_is_the_table(town: pa.Table, tmp_path: Path) -> None:
    path = demo_table.write_town(tmp_path)["people"]
    assert b'"' not in path.read_bytes(), "nothing in it needs a quote, least of all what is missing"
    read = pa_csv.read_csv(
        path,
        convert_options=pa_csv.ConvertOptions(
            column_types=town.schema, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
        ),
    )
    assert read.equals(town.combine_chunks())


# --- risky --------------------------------------------------------------------------------------------------------


def test_a_clear_majority_is_unique_on_the_quasi_identifiers(town: pa.Table) -> None:
    def unique(by: list[str]) -> float:
        sizes = town.group_by(by).aggregate([([], "count_all")])["count_all"].to_numpy()
        return float((sizes == 1).sum() / ROWS)

    assert 0.65 < unique(QUASI) < 0.90
    # What little it takes for nobody to be unique on: the demo must leave something for a sanitizer to find.
    assert unique(["sex", "marital_status"]) == 0
