"""DataFrames in, DataFrames out: a frame stands wherever a table is wanted, and a release becomes one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pytest

import sfumato as sf
from sfumato.core.counted_table import CountedTable
from sfumato.core.table import Table

ROWS = pa.table(
    {
        "age": [31, 34, 38, 52, 57, 59, None, 33],
        "pay": [1.5, 2.0, 2.5, None, 3.0, 9.0, 4.0, 1.0],
        "ill": ["flu", "cold", "flu", "cold", None, "flu", "cold", "flu"],
    }
)
ROLES = sf.Roles(quasi="age", sensitive="ill", insensitive="pay")
FRAMES: dict[str, Callable[[], Any]] = {
    "arrow": lambda: ROWS,
    "batches": lambda: pa.RecordBatchReader.from_batches(ROWS.schema, ROWS.to_batches()),
    "pandas": ROWS.to_pandas,
    "polars": lambda: pl.DataFrame(ROWS),
    "polars lazy": lambda: pl.DataFrame(ROWS).lazy().filter(pl.lit(True)),
    "duckdb": lambda: duckdb.from_arrow(ROWS),
}


@pytest.fixture(params=FRAMES)
def frame(request: pytest.FixtureRequest) -> Any:
    return FRAMES[request.param]()


def test_a_mechanism_takes_any_frame(frame: Any) -> None:
    expected = sf.Mondrian(k=2)(sf.read(ROWS), ROLES).to_arrow()
    assert sf.Mondrian(k=2)(frame, ROLES).to_arrow().to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("mechanism", [sf.KMember(k=2), sf.GeneralizeFullDomain(k=2)], ids=repr)
def test_every_mechanism_takes_a_frame(mechanism: sf.Mechanism) -> None:
    rows = ROWS.filter(pa.compute.is_valid(ROWS["ill"]))
    roles = ROLES.assign(hierarchies={"age": {"widths": [10, 20]}})
    first, second = (mechanism(source, roles).to_arrow() for source in (sf.read(rows), rows.to_pandas()))
    assert first.num_rows == second.num_rows > 0
    assert first.column_names == second.column_names


def test_a_frame_with_several_rows_a_person_is_refused() -> None:
    rows = pd.DataFrame({"person": [1, 1, 2, 3], "age": [31, 32, 33, 34]})
    with pytest.raises(sf.InputError, match="some people have several rows"):
        sf.Mondrian(k=2)(rows, sf.Roles(quasi="age", person="person"))


def test_the_frame_is_untouched() -> None:
    rows = ROWS.to_pandas()
    before = rows.copy()
    sf.Mondrian(k=2)(rows, ROLES)
    pd.testing.assert_frame_equal(rows, before)


@pytest.mark.parametrize("source", [7, object(), [1, 2]])
def test_what_is_no_table_is_refused_without_its_values(source: Any) -> None:
    with pytest.raises(sf.InputError, match=rf"type {type(source).__name__} cannot be read"):
        sf.Mondrian(k=2)(source, ROLES)


def test_a_release_becomes_every_frame() -> None:
    release = sf.Mondrian(k=2)(ROWS, ROLES)
    rows = release.to_arrow().to_pylist()
    assert len(rows) == 8
    assert release.to_polars().to_dicts() == rows
    assert pl.DataFrame(release).to_dicts() == rows
    assert pa.table(release).to_pylist() == rows
    assert release.to_pandas()["ill"].isna().sum() == 1
    assert release.to_arrow().schema.field("pay").type == pa.float64()


def test_a_frame_holds_the_rows_of_the_written_file_in_their_order(tmp_path: Any) -> None:
    release = sf.Mondrian(k=2)(ROWS, ROLES)
    release.table.write(tmp_path / "release.parquet")
    assert release.to_arrow().to_pylist() == pl.read_parquet(tmp_path / "release.parquet").to_dicts()
    shuffled = sf.Mondrian(k=2)(ROWS.take([7, 0, 3, 2, 6, 5, 1, 4]), ROLES)
    assert shuffled.to_arrow().equals(release.to_arrow())


def test_an_engine_without_an_order_of_its_own_gives_the_same_rows() -> None:
    table = sf.read(ROWS).keep(["ill"])
    assert Table.to_arrow(table).to_pylist() == table.to_arrow().to_pylist()
    assert Table.to_arrow(sf.read(ROWS)).num_rows == 8
    assert CountedTable.to_arrow is Table.to_arrow


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_library_that_is_missing_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release = sf.Mondrian(k=2)(ROWS, ROLES)
    if library == "pandas":  # pyarrow may have loaded it long ago, so it cannot be hidden from it
        monkeypatch.setattr(type(release), "to_arrow", lambda self: _WithoutPandas())
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(sf.Unavailable, match=f"{library} is not installed"):
        getattr(release, f"to_{library}")()


class _WithoutPandas:
    def to_pandas(self) -> None:
        raise ModuleNotFoundError("No module named 'pandas'")


def test_a_release_made_elsewhere_is_measured_from_frames() -> None:
    rows = ROWS.to_pandas()
    release = sf.Release(table=rows.assign(age="*"), original=rows, pairing="position")
    assert sf.k_anonymity(release, ROLES).value == 8
    assert sf.Study(rows, ROLES).table.rows == 8
    assert sf.profile(rows).rows == 8
    assert sf.raw_risk(rows, ROLES, curve=False).quasi == ("age",)


def test_suggested_roles_are_those_of_the_profile_and_can_be_changed() -> None:
    rows = ROWS.to_pandas()
    suggested = sf.suggest_roles(rows)
    assert suggested == sf.profile(rows).roles
    column = suggested.quasi[0]
    changed = suggested.assign(insensitive=column, hierarchies={column: {"widths": [5, 10]}})
    assert column in changed.insensitive
    assert column not in changed.quasi
    assert changed.hierarchies[column] == {"widths": [5, 10]}
    assert changed == replace(changed)
    assert suggested.assign() == suggested


def test_roles_are_written_in_python_as_in_toml(tmp_path: Any) -> None:
    written = sf.Roles(
        quasi=["age"],
        sensitive="ill",
        hierarchies={"age": {"widths": [5, 10]}},
        orders={"ill": ["cold", "flu"], "grade": [1, 2, 3]},
    )
    (tmp_path / "roles.toml").write_text(written.toml(), encoding="utf-8")
    read = sf.Roles.read(tmp_path / "roles.toml")
    assert replace(read, source="roles", folder=written.folder) == written
    assert written.orders["grade"] == ("1", "2", "3")


def test_roles_are_changed_in_python_as_in_a_file() -> None:
    roles = sf.Roles(quasi=("age", "patient"), sensitive=("ill",), identifiers=("flat",))
    changed = roles.assign(person="patient", household="flat", people={"rows": "linked"})
    assert (changed.person, changed.household, changed.quasi, changed.identifiers) == ("patient", "flat", ("age",), ())
    assert changed.linked
    assert changed.assign(quasi="patient").person is None  # a column has one role
    assert not changed.assign(quasi="patient").people
    weighed = changed.assign(weight="w", survey={"weights": "calibrated"}, orders={"ill": ["a", "b"]})
    assert (weighed.weight, weighed.orders["ill"]) == ("w", ("a", "b"))
    with pytest.raises(sf.InputError, match="takes no 'persons'"):
        roles.assign(persons="patient")
