"""`dp_marginals`: cells that come from stated domains alone, the right noise on each, and what adds up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from noise_checks import epsilon_at_least, fits, rejects_other_scales, written

import sfumato as sf
from house import rng
from sfumato.core.errors import Infeasible, InputError, Unavailable
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.differential_privacy import private_release
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.dp_marginals import DpMarginals

ROLES = sf.Roles(quasi=("sex", "age"), sensitive=("job",), identifiers=("name",))
DOMAINS = "sex=F|M, age=20:59:20, job=cook|smith"


def town(sex: list[Any], age: list[Any], job: list[Any] | None = None) -> Table:
    columns = {"name": [f"p{i}" for i in range(len(sex))], "sex": sex, "age": age, "job": job or ["cook"] * len(sex)}
    return sf.read(
        pa.table(columns, schema=pa.schema([(c, pa.int64() if c == "age" else pa.string()) for c in columns]))
    )


def cells(release: sf.Release, folder: Path) -> dict[tuple[str, ...], int]:
    return {tuple(row.values())[:-1]: int(tuple(row.values())[-1]) for row in written(release, folder)}


def test_with_a_huge_epsilon_the_counts_are_exact_and_zeros_are_there(tmp_path: Path) -> None:
    table = town(["F", "F", "M", None], [25, 30, 40, 59])
    made_by = DpMarginals(columns="sex,age", domains=DOMAINS, epsilon=10_000)
    found = cells(made_by(table, ROLES, rng()), tmp_path)
    assert len(found) == 3 * 3  # two values and missing, each way
    assert {cell: n for cell, n in found.items() if n} == {
        ("F", "[20,40)"): 2,
        ("M", "[40,59]"): 1,
        ("", "[40,59]"): 1,
    }


def test_rows_outside_are_dropped_if_asked(tmp_path: Path) -> None:
    table = town(["F", "F", "M", None, "X"], [25, 30, 40, 59, 20])
    made_by = DpMarginals(columns="sex,age", domains=DOMAINS, epsilon=10_000, outside="drop")
    found = cells(made_by(table, ROLES, rng()), tmp_path)
    assert found == {("F", "[20,40)"): 2, ("F", "[40,59]"): 0, ("M", "[20,40)"): 0, ("M", "[40,59]"): 1}


def test_the_domain_never_comes_from_the_data(tmp_path: Path) -> None:
    """Values that nobody has are there, a value that was not stated is not, and the noise is the same."""
    made_by = DpMarginals(columns="sex", domains="sex=F|M|X", epsilon=1, nonnegative=False)
    plain = cells(made_by(town(["F"] * 3, [30] * 3), ROLES, rng()), tmp_path)
    strange = cells(made_by(town(["F", "F", "unstated"], [30] * 3), ROLES, rng()), tmp_path)
    assert set(plain) == set(strange) == {("F",), ("M",), ("X",), ("",)}
    assert {cell: strange[cell] - plain[cell] for cell in plain} == {("F",): -1, ("M",): 0, ("X",): 0, ("",): 1}
    assert "unstated" not in (tmp_path / "release.csv").read_text()


def test_hierarchy_files_and_orders_are_domains_too(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text("cook;food;*\nbaker;food;*\nsmith;metal;*\n")
    roles = sf.Roles(quasi=("job", "sex"), hierarchies={"job": "job.csv"}, orders={"sex": ("M", "F")}, folder=tmp_path)
    release = DpMarginals(ways=1, epsilon=1)(town(["F"], [30]), roles, rng())
    assert set(cells(release, tmp_path)) == {
        *(("*", job) for job in ("cook", "baker", "smith", "")),
        *((sex, "*") for sex in ("M", "F", "")),
    }
    rule = sf.Roles(quasi=("age",), hierarchies={"age": {"widths": [10]}})  # an inline rule looks at the data
    with pytest.raises(InputError, match="never taken from the data; state them as age = "):
        DpMarginals(epsilon=1)(town(["F"], [30]), rule, rng())


def test_all_pairs_share_the_budget(tmp_path: Path) -> None:
    table = town(["F", "M"] * 10, [25, 45] * 10, ["cook"] * 20)
    made_by = DpMarginals(ways=2, domains=DOMAINS, epsilon=0.9)
    release = made_by(table, ROLES, rng())
    found = cells(release, tmp_path)
    assert len(found) == 3 * 9
    assert all(cell.count("*") == 1 for cell in found)
    assert release.notes[1] == (
        "Privacy budget spent: epsilon 0.9 of 0.9: 0.3 on the counts of sex x age (in parallel over 9 disjoint parts); 0.3 on "
        "the counts of sex x job (in parallel over 9 disjoint parts); 0.3 on the counts of age x job (in parallel over 9 "
        "disjoint parts)."
    )
    assert "noise of scale 3.33333" in release.notes[2]


@pytest.mark.parametrize("seed", [1, None])
def test_every_cell_has_the_right_noise(tmp_path: Path, seed: int | None) -> None:
    """A contingency table costs epsilon once, however many cells: scale 1/epsilon."""
    table = town(["F"] * 5, [3] * 5)
    made_by = DpMarginals(columns="age", domains="age=0:9999", epsilon=0.5, nonnegative=False, outside="drop")
    drawn = cells(made_by(table, ROLES, None if seed is None else rng(seed)), tmp_path)
    noise = np.array([n - (5 if cell == ("3",) else 0) for cell, n in drawn.items()])
    assert fits(noise, 2.0)
    assert rejects_other_scales(noise, 2.0)


@pytest.mark.full  # many releases; test_dp_games plays it too
def test_neighbours_are_told_apart_by_epsilon_at_most(tmp_path: Path) -> None:
    """One row more: the cell that it is in, over many releases."""
    made_by = DpMarginals(columns="sex", domains="sex=F|M", epsilon=2, nonnegative=False)
    drawn = []
    for rows in (4, 5):
        table, generator = town(["F"] * rows, [30] * rows), rng(rows)
        releases = (made_by(table, ROLES, generator) for _ in range(300))
        drawn.append(np.array([_rows_of(release, "F") for release in releases]))
    assert 0.6 < epsilon_at_least(*drawn) <= 2


def _rows_of(release: sf.Release, value: str) -> int:
    counts = release.table.count(("sex", "rows"))
    at = counts.column("sex").texts.index(value)
    where = int(np.flatnonzero(counts.codes[0] == at)[0])
    return int(str(counts.column("rows").texts[counts.codes[1][where]]))


def test_counts_below_zero_only_if_asked(tmp_path: Path) -> None:
    table = town(["F"], [30])
    keep = cells(DpMarginals(domains=DOMAINS, epsilon=0.1, nonnegative=False)(table, ROLES, rng()), tmp_path)
    cut = cells(DpMarginals(domains=DOMAINS, epsilon=0.1)(table, ROLES, rng()), tmp_path)
    assert min(keep.values()) < 0
    assert cut == {cell: max(n, 0) for cell, n in keep.items()}


def test_statistics_a_seed_and_a_file(tmp_path: Path) -> None:
    table, made_by = town(["F", "M"], [30, 40]), DpMarginals(domains=DOMAINS, epsilon=1)
    release = made_by(table, ROLES, rng())
    assert release.statistics
    assert sf.publish(release, ROLES, made_by.promises, tmp_path / "out.csv").met
    assert sf.read(tmp_path / "out.csv").rows == 27
    assert cells(release, tmp_path) == cells(made_by(table, ROLES, rng()), tmp_path)
    assert cells(release, tmp_path) != cells(made_by(table, ROLES), tmp_path)
    assert "name" not in release.table.columns
    with pytest.raises(Unavailable, match="holds statistics"):
        sf.k_anonymity(release, ROLES)


def test_an_empty_cell_and_an_empty_table_are_alike(tmp_path: Path) -> None:
    table = town(["F"], [30])
    nobody = table.recode(sf.core.table.Recoding(("sex",), ("sex",), _nothing()))
    made_by = DpMarginals(columns="sex,age", domains=DOMAINS, epsilon=1, nonnegative=False)
    full, empty = (cells(made_by(t, ROLES, rng()), tmp_path) for t in (table, nobody))
    assert {cell: full[cell] - empty[cell] for cell in full if full[cell] != empty[cell]} == {("F", "[20,40)"): 1}


def _nothing() -> pa.Table:
    return pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string()), "n": pa.array([], pa.int64())})


def test_odd_names(tmp_path: Path) -> None:
    table = sf.read(pa.table({"rows": ["x|y", "z"], 'a="b"': [1.5, 2.5]}))
    roles = sf.Roles(quasi=("rows",), insensitive=('a="b"',))
    settings = {"domains": 'rows="x|y"|z, "a=""b"""=0:3:1.5', "epsilon": "9999", "outside": "drop"}
    found = written(mechanism("dp_marginals").of(settings)(table, roles, rng()), tmp_path)
    assert {"rows": "x|y", 'a="b"': "[1.5,3]", "rows counted": "1"} in found


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"domains": DOMAINS}, "needs an epsilon"),
        ({"domains": DOMAINS, "epsilon": "1", "ways": "0"}, "ways must be at least 1"),
        ({"domains": DOMAINS, "epsilon": "1", "ways": "4"}, "ways is 4, and there are only 3 columns"),
        ({"epsilon": "1"}, "'sex' may have are not stated, and they are never taken from the data"),
        ({"domains": "sex=F||M", "epsilon": "1", "columns": "sex"}, "empty value or one that is stated twice"),
        ({"domains": "sex=F|F", "epsilon": "1", "columns": "sex"}, "empty value or one that is stated twice"),
        ({"domains": "age=9:1", "epsilon": "1", "columns": "age"}, "lower bound below the upper"),
        ({"domains": "name=a|b", "epsilon": "1", "columns": "name"}, "'name' has no role that may be released"),
        ({"domains": "age=0:9999999", "epsilon": "1", "columns": "age"}, "more than 1,000,000 values"),
        ({"domains": DOMAINS, "epsilon": "1", "columns": "sex,,age"}, "names is empty"),
        ({"domains": DOMAINS, "epsilon": "1", "outside": "keep"}, "must be one of missing, drop"),
    ],
)
def test_refusals(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mechanism("dp_marginals").of(settings)(town(["F", "M"], [30, 40]), ROLES, rng())


def test_too_many_cells_and_an_overdrawn_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Infeasible, match="does not allow dp_marginals"):
        DpMarginals(domains=DOMAINS, epsilon=1, budget=Budget(0.5))(town(["F"], [30]), ROLES, rng())
    monkeypatch.setattr(private_release, "MOST_CELLS", 26)
    with pytest.raises(InputError, match="make 27 cells, and 26 is the most"):
        DpMarginals(domains=DOMAINS, epsilon=1)(town(["F"], [30]), ROLES, rng())
