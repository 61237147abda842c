"""A promise about rows is not one about people: verification counts the people of each class, and publishing refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, NotMet
from sfumato.core.people import several_rows
from sfumato.core.table import Table
from sfumato.metrics import registry, require
from sfumato.publishing import publish, verify_release
from sfumato.publishing.class_people import class_people, people_note

ROLES = sf.Roles(quasi=("age",), sensitive=("ill",), person="who", source="roles.toml")
K = [require("k_anonymity >= 6")]


def table(whos: list[int], ages: list[int], name: str = "who") -> Table:
    ills = [("flu", "cold", "gout")[i % 3] for i in range(len(ages))]
    return sf.read(pa.table({name: [f"p{who:03d}" for who in whos], "age": ages, "ill": ills}))


def foreign(original: Table, pairing: str = "none") -> sf.Release:
    """A release that another tool made: the original without its person column."""
    return sf.Release(table=original.keep(("age", "ill")), original=original, pairing=pairing)


TWO_EACH = table([i // 3 for i in range(60)], [i // 6 for i in range(60)])  # classes of 6 rows, of 2 people each
SPREAD = table([i % 20 for i in range(120)], [i // 20 for i in range(120)])  # classes of 20 rows, of 20 people each


def test_a_promise_that_people_break_is_not_verified() -> None:
    found = verify_release(foreign(TWO_EACH, "position"), ROLES, K)
    assert [verdict.met for verdict in found.verdicts] == [True]  # of rows
    assert not found.met
    assert found.people is not None
    assert found.people.exact
    assert found.people.people.tolist() == [2] * 10
    assert "does not hold of people in 10 of 10 classes: by 'who', measured 2 (exact)" in found.problems[0]
    assert "at least 6 rows" in found.counted
    assert "holds 2 people" in found.counted


def test_without_pairs_the_fewest_people_count() -> None:
    found = verify_release(foreign(TWO_EACH), ROLES, K)
    assert found.people is not None
    assert not found.people.exact
    assert not found.met
    assert "may not hold of people" in found.problems[0]
    assert "--pair" in found.problems[0]
    assert verify_release(
        foreign(TWO_EACH), ROLES, [require("k_anonymity >= 2")]
    ).met  # six rows take two people at least


def test_what_holds_of_people_is_verified() -> None:
    assert verify_release(foreign(SPREAD, "position"), ROLES, [require("k_anonymity >= 20")]).met
    assert verify_release(foreign(SPREAD), ROLES, [require("k_anonymity >= 4")]).met  # 20 rows of people with 6 each
    assert not verify_release(foreign(SPREAD), ROLES, [require("k_anonymity >= 5")]).met


def test_sensitive_values_of_one_person_are_not_those_of_several() -> None:
    limits = [require("distinct_l_diversity >= 3")]
    found = verify_release(foreign(TWO_EACH, "position"), ROLES, limits)
    assert not found.met
    assert "10 of 10 classes hold several rows of one person" in found.problems[0]
    assert verify_release(foreign(SPREAD, "position"), ROLES, limits).met  # each class has a row of each


def test_the_fewest_people_are_never_more_than_there_are() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        rows = int(rng.integers(5, 80))
        whos = rng.integers(0, rng.integers(1, 30), rows).tolist()
        ages = rng.integers(0, rng.integers(1, 9), rows).tolist()
        original = table(whos, ages)
        bound, exact = (class_people(foreign(original, pairing), ROLES) for pairing in ("none", "position"))
        if several_rows(original, ROLES) is None:
            assert bound is exact is None
            continue
        assert bound is not None
        assert exact is not None
        recounted = [len({who for who, of in zip(whos, ages, strict=True) if of == age}) for age in set(ages)]
        assert sorted(exact.people.tolist()) == sorted(recounted)
        assert (bound.people <= exact.people).all()
        assert (exact.people <= exact.rows).all()
        assert bound.rows.sum() == rows


@pytest.mark.parametrize("name", ["k_anonymity", "prosecutor_risk", "marketer_risk"])
def test_every_measure_of_sizes_is_asked_of_people(name: str) -> None:
    """The limit that rows just meet fails, the one that people just meet holds."""
    metric = registry()[name]
    release, alike = foreign(TWO_EACH, "position"), table(list(range(20)), [i // 2 for i in range(20)])
    by_rows = metric(release, ROLES).value
    by_people = metric(foreign(alike), ROLES).value
    limit = metric.at_least if metric.card.better == "higher" else metric.at_most
    assert by_rows != by_people
    assert not verify_release(release, ROLES, [limit(by_rows)]).met
    assert verify_release(release, ROLES, [limit(by_people)]).met


def test_rows_are_called_people_only_where_that_is_known() -> None:
    plain = sf.Roles(quasi=("age",), sensitive=("ill",), source="roles.toml")
    once = table(list(range(60)), [i // 6 for i in range(60)], "label")
    alone = sf.Release(table=once.keep(("age", "ill")))
    assert verify_release(alone, plain, K).counted.startswith("Each class has at least 6 rows. Rows are counted")
    stated = sf.Roles(quasi=("age",), sensitive=("ill",), one_row_per_person=True, source="roles.toml")
    assert "each of another person, as roles.toml says" in verify_release(alone, stated, K).counted
    seen = sf.Roles(quasi=("age",), sensitive=("ill",), person="label")
    assert "each of another person, by 'label'" in verify_release(foreign(once), seen, K).counted


@pytest.mark.parametrize("limits", [K, [], [require("k_anonymity >= 2")]])
@pytest.mark.parametrize("role", ["person", "lookalike"])
def test_publishing_refuses_whoever_made_it(tmp_path: Path, role: str, limits: list[sf.Requirement]) -> None:
    name = "who" if role == "person" else "patient_id"
    original = table([i // 3 for i in range(120)], [i // 6 for i in range(120)], name)
    roles = ROLES if role == "person" else sf.Roles(quasi=("age",), sensitive=("ill",), identifiers=("patient_id",))
    with pytest.raises(InputError, match="one row per person"):
        publish(foreign(original, "position"), roles, limits, tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())
    if role == "lookalike":
        stated = sf.Roles(
            quasi=("age",), sensitive=("ill",), identifiers=("patient_id",), one_row_per_person=True, source="r.toml"
        )
        assert publish(foreign(original, "position"), stated, limits, tmp_path / "out.csv").met


def test_a_note_has_both_counts() -> None:
    note = people_note(foreign(TWO_EACH, "position"), ROLES)
    assert note is not None
    assert "60 rows are of 20 people" in note
    assert people_note(sf.Release(table=table([i // 3 for i in range(90)], [1] * 90, "patient_id")), ROLES) is not None
    assert people_note(sf.Release(table=TWO_EACH.keep(("age", "ill"))), ROLES) is None


def _measured(alone: int, rows: int) -> tuple[Table, sf.Roles]:
    """100 people with so many rows each, and a height that the first of them have to themselves; the others share three."""
    whos = [who for who in range(100) for _ in range(rows)]
    columns = {
        "who": [f"p{who:03d}" for who in whos],
        "age": [20 + i % 5 for i in range(len(whos))],
        "height": [f"{1400 + who if who < alone else 1700 + who % 3} mm" for who in whos],
        "ill": [("flu", "cold", "gout")[i % 3] for i in range(len(whos))],
    }
    roles = sf.Roles(
        quasi=("age",),
        sensitive=("ill",),
        insensitive=("height",),
        person="who",
        people={"rows": "unlinked"},
        source="roles.toml",
    )
    return sf.read(pa.table(columns)), roles


@pytest.mark.parametrize("rows", [2, 6])
def test_a_column_that_joins_the_rows_of_unlinked_people_is_refused(rows: int, tmp_path: Path) -> None:
    """No row is alone by it, since its person has another with the same value; so people are looked at."""
    original, roles = _measured(40, rows)
    release = sf.Mondrian(k=5)(original, roles)
    with pytest.raises(
        NotMet, match=rf"'height': {40 * rows} of {100 * rows} rows \(40%\) have values of it that one person alone"
    ):
        publish(release, roles, [], tmp_path / "o.csv")
    assert not (tmp_path / "o.csv").exists()
    publish(release, roles, [], tmp_path / "o.csv", waive={"height": "nobody measures people"})
    few, roles = _measured(4, rows)
    publish(sf.Mondrian(k=5)(few, roles), roles, [], tmp_path / "few.csv")
