"""`generalize_full_domain`: the promise re-measured from the written file, rows left out, and what it refuses."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli import demo_table
from sfumato.core.errors import Infeasible, InputError, RequirementError
from sfumato.core.table import Table

Town = tuple[Table, sf.Roles]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    """A small town from the demo, with its roles and hierarchies."""
    paths = demo_table.write_town(tmp_path_factory.mktemp("town"), rows=3000)
    roles = next(path for path in paths.values() if path.suffix == ".toml")
    people = next(path for path in paths.values() if path.name.startswith("people"))
    return sf.read(people), sf.Roles.read(roles)


def test_the_written_file_keeps_the_promise(town: Town, tmp_path: Path) -> None:
    table, roles = town
    made_by = sf.GeneralizeFullDomain(k=5, require=[sf.require("distinct_l_diversity >= 2")], suppression=0.05)
    release = made_by(table, roles)
    found = sf.publish(release, roles, made_by.promises, tmp_path / "release.csv")
    assert found.met
    written = sf.read(tmp_path / "release.csv")
    assert release.recoding is not None
    assert written.rows == release.recoding.rows
    assert 0.95 * table.rows <= written.rows <= table.rows
    assert sf.k_anonymity(sf.Release(table=written), roles).value >= 5
    assert not set(roles.identifiers) & set(written.columns)
    assert "no node of the" in release.notes[0]


def test_every_value_of_a_column_is_at_one_level(town: Town) -> None:
    """Global recoding: an original value is always released the same way."""
    table, roles = town
    release = sf.GeneralizeFullDomain(k=10, suppression=0.1)(table, roles)
    assert release.recoding is not None
    for i in range(len(release.recoding.by)):
        before = release.recoding.table.column(i).to_pylist()
        after = release.recoding.table.column(len(release.recoding.by) + i).to_pylist()
        assert len(set(zip(before, after, strict=True))) == len(set(before))


def test_more_suppression_never_costs_more(town: Town) -> None:
    table, roles = town
    losses = [
        sf.optimal_generalization(table, roles, require=[sf.k_anonymity.at_least(5)], suppression=share).loss
        for share in (0.0, 0.01, 0.05, 0.2)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[-1]


def test_what_no_level_can_meet_is_refused(town: Town, tmp_path: Path) -> None:
    table, roles = town
    with pytest.raises(Infeasible, match=r"nearest is k_anonymity >= 3000"):
        sf.GeneralizeFullDomain(k=3001)(table, roles)
    assert not list(tmp_path.iterdir())


def test_parameters_are_checked() -> None:
    with pytest.raises(InputError, match="k must be"):
        sf.GeneralizeFullDomain(k=0)
    with pytest.raises(InputError, match="suppression"):
        sf.GeneralizeFullDomain(k=2, suppression=2)
    with pytest.raises(InputError, match="time_limit"):
        sf.GeneralizeFullDomain(k=2, time_limit=-1)
    with pytest.raises(RequirementError, match="los"):
        sf.GeneralizeFullDomain(k=2, minimise="los")


def test_nothing_asked_and_repeated_people_are_refused(town: Town) -> None:
    table, roles = town
    with pytest.raises(InputError, match="needs something to meet"):
        sf.GeneralizeFullDomain()(table, roles)
    repeated = dataclasses.replace(roles, identifiers=(), quasi=roles.quasi[:2], person=roles.quasi[2])
    with pytest.raises(InputError, match="several rows"):
        sf.GeneralizeFullDomain(k=2)(table, repeated)
