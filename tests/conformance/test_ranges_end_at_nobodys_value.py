"""No mechanism that recodes quasi-identifiers prints the least or the largest value that somebody has.

One person is 117, one was born in 1899, one earns far more than all others. Every mechanism that steers by classes is run, so that one
added later is tested before its own test is written; and whatever else makes ranges.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.cover import Domain
from sfumato.core.mechanism import Mechanism
from sfumato.core.roles import Roles
from sfumato.mechanisms import mechanism, registry
from sfumato.mechanisms.parameters.class_requirements import Steered
from sfumato.publishing import publish

ROWS = 120
NUMBERED = ("age", "pay", "born")
ILLS = ("flu", "cold", "gout", "mumps")
OUTLIERS = ("117", "987654.25", "1899-05-03")
STEERED = sorted(name for name, kind in registry().items() if issubclass(kind, Steered))
MORE: dict[str, list[dict[str, str]]] = {
    "cut_points": [{"column": name, "k": "4"} for name in NUMBERED],
    "generalize_to_levels": [{"levels": "age=1,pay=1,born=1", "k": "4", "suppression": "0.9"}],
    "k_member": [{"k": "4"}, {"k": "4", "loss": "byun"}, {"k": "4", "improve": "true"}, {"k": "4", "fit_queries": "true"}],
    "mondrian": [{"k": "4"}, {"k": "4", "mode": "relaxed"}, {"k": "4", "bounds": "cuts"}, {"k": "4", "choose": "width"}, {"k": "4", "improve": "true"}],
    "personalize": [{"limit": "0.9", "k": "4"}, {"limit": "0.9", "k": "4", "quasi": "full_domain"}],
    "microaggregation": [{"k": "4"}, {"k": "4", "centre": "median"}, {"k": "4", "improve": "true"}],
    "top_bottom_coding": [
        {"columns": "age,pay", "top_share": "0.05", "bottom_share": "0.05", "people": "4"},
        {"columns": "age,pay", "top_share": "0", "bottom_share": "0"},
    ],
}  # fmt: skip
RUNS = [(name, settings) for name in (*STEERED, "top_bottom_coding") for settings in MORE.get(name, [{"k": "4"}])]
RULES: dict[str, dict[str, Any]] = {
    "no rules": {},
    "quantiles": {"age": {"quantiles": [8, 4]}, "pay": {"quantiles": [8, 2]}, "born": {"dates": ["year", "decade"]}},
}


def columns(gaps: bool = False) -> dict[str, list[Any]]:
    rng = np.random.default_rng(5)
    age = [3, 117, *(rng.integers(20, 64, ROWS - 2)).tolist()]
    pay = [-55.5, 987654.25, *np.round(rng.normal(3000, 500, ROWS - 2), 2).tolist()]
    day = datetime.date(1960, 1, 1)
    born = [datetime.date(1899, 5, 3), datetime.date(2031, 7, 9)]
    born += [day + datetime.timedelta(days=int(d)) for d in rng.integers(0, 15000, ROWS - 2)]
    found: dict[str, list[Any]] = {"age": age, "pay": pay[::-1], "born": [*born[2:60], *born[:2], *born[60:]]}
    if gaps:
        for name in NUMBERED:
            found[name][70:82] = [None] * 12
    return found | {
        "ill": [ILLS[i] for i in rng.integers(0, 4, ROWS)],
        "guard": ["flu" if i % 9 == 0 else None for i in range(ROWS)],
    }


def made(name: str, settings: Mapping[str, str], rules: str, gaps: bool) -> tuple[Mechanism, sf.Release, Roles]:
    ills = sf.Hierarchy.of("ill", [(ill, f"kind {i // 2}", "*") for i, ill in enumerate(ILLS)])
    roles = Roles(quasi=NUMBERED, sensitive=("ill",), hierarchies={"ill": ills, **RULES[rules]})
    if name == "personalize":
        roles = dataclasses.replace(roles, guarding="guard")
    coarse = {"levels": settings["levels"].replace("1", "2")} if RULES[rules] and "levels" in settings else {}
    made_by = mechanism(name).of({**settings, **coarse})
    return made_by, made_by(sf.read(pa.table(columns(gaps))), roles, np.random.default_rng(1)), roles


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(
    ("name", "settings"), RUNS, ids=lambda given: given if isinstance(given, str) else "-".join(given.values())
)
def test_extremes_are_in_no_file(
    name: str, settings: Mapping[str, str], rules: str, gaps: bool, tmp_path: Path
) -> None:
    made_by, release, roles = made(name, settings, rules, gaps)
    publish(release, roles, made_by.promises, tmp_path / "out.csv")
    text = (tmp_path / "out.csv").read_text(encoding="utf-8")
    coded = [name for name in NUMBERED if name != "born"] if name == "top_bottom_coding" else NUMBERED
    original, rows = columns(gaps), list(csv.DictReader(text.splitlines()))
    for column in coded:
        ends = {
            str(end)
            for end in (
                min(v for v in original[column] if v is not None),
                max(v for v in original[column] if v is not None),
            )
        }
        for cell in {row[column] for row in rows}:
            parts = set(re.split(r"[\[\](),<>=]+", cell))
            assert not parts & ends, (column, cell)
    assert not any(outlier in text for outlier in OUTLIERS[: len(coded)])


@pytest.mark.parametrize(
    ("name", "settings"), [run for run in RUNS if run[0] not in ("microaggregation", "local_suppression")]
)
def test_every_value_is_covered_by_what_is_released(name: str, settings: Mapping[str, str]) -> None:
    _, release, roles = made(name, settings, "no rules", True)
    evidence = release.evidence(roles)
    for column in NUMBERED if name != "top_bottom_coding" else ("age", "pay"):
        domain = Domain(release.original.count((column,)).columns[0]) if release.original else None
        assert domain is not None
        for before, after, n in zip(*evidence.pairs(column, "the test"), strict=True):
            covered = domain.covered(after)
            assert covered is not None
            assert n > 0
            assert domain.column.texts.index(before) in covered.tolist(), (before, after)


def test_stated_bounds_are_where_ranges_end() -> None:
    table = sf.read(pa.table(columns()))
    roles = Roles(quasi=("age", "born"), domains={"age": "0:120", "born": "1890-01-01:2031-12-31"})
    release = sf.KMember(k=4)(table, roles)
    for column, low, high in (("age", "[0,", ",120]"), ("born", "[1890-01-01,", ",2031-12-31]")):
        texts = [str(text) for text in release.table.count((column,)).columns[0].texts]
        assert any(text.startswith(low) for text in texts)
        assert any(text.endswith(high) for text in texts)
        assert not any(text[0] in "<>" for text in texts)


def test_tight_ends_print_the_extremes() -> None:
    """What the others do not do: so the test above can fail."""
    table, roles = sf.read(pa.table(columns())), Roles(quasi=("age",))
    for made_by in (sf.Mondrian(k=4, ends="tight"), sf.KMember(k=4, ends="tight")):
        assert any("117" in str(text) for text in made_by(table, roles).table.count(("age",)).columns[0].texts)


def test_the_loss_is_that_of_tight_ranges() -> None:
    """The same values are covered, so nothing is lost by open ends."""
    table, roles = sf.read(pa.table(columns())), Roles(quasi=NUMBERED, sensitive=("ill",))
    for kind in (sf.Mondrian, sf.KMember):
        for metric in ("iloss", "k_anonymity", "discernibility"):
            found = [sf.metric(metric)(kind(k=4, ends=ends)(table, roles), roles).value for ends in ("open", "tight")]
            assert found[0] == pytest.approx(found[1], abs=1e-12)
