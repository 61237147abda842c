"""Numbers at the ends of floating point in a CSV file: every metric, profile and ladder answers or refuses in a sentence.

No other exception, and no warning of numpy's (warnings are errors here). The mechanisms have theirs in
tests/mechanisms/test_mechanism_extremes.py.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from pathlib import Path

import metric_checks as checks
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.core.ladders import suggest
from sfumato.core.metric import Metric
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.profile.table import profile

ENDS = {
    "largest": ("1e308", "-1e308", "1.7976931348623157e308"),
    "infinite": ("inf", "-inf", "Infinity"),
    "not a number": ("nan", "NaN", "1"),
    "smallest": ("5e-324", "-5e-324", "0"),
    "beyond whole numbers": ("10000000000000001", "10000000000000000", "9007199254740993"),
    "all of them": ("1e308", "-1e308", "5e-324", "10000000000000001", "inf", "-inf"),
}
"""As a file spells them."""
EVERY = [checks.asked(variant) for metric in sf.registry().values() for variant in metric.variants()]


def table(folder: Path, ends: str, *, typed: bool, name: str = "people.csv") -> Table:
    """Extremes among plain numbers, both in a quasi-identifier and in a sensitive column."""
    x = [*ENDS[ends], *map(str, range(12 - len(ENDS[ends])))]
    lines = [f"{number},{'mf'[i % 2]},{x[-1 - i]},{'ab'[i % 3 == 0]}" for i, number in enumerate(x)]
    path = folder / name
    path.write_text("\n".join(["x,sex,s,t", *lines, ""]))
    if not typed:
        return sf.read(path)
    columns = zip(*(line.split(",") for line in lines), strict=True)
    content = dict(zip(("x", "sex", "s", "t"), map(list, columns), strict=True))
    return sf.read(pa.table({n: [float(v) for v in values] if n in "xs" else values for n, values in content.items()}))


def releases(original: Table) -> list[Release]:
    """The table as it is, a class of everybody, and what Mondrian makes of it where it can."""
    roles = Roles(quasi=("x", "sex"), sensitive=("s",))
    made = [Release(table=original.keep(("x", "sex", "s", "t")), original=original, pairing="position")]
    try:
        made.append(sf.Mondrian(k=2)(original, roles))
    except SfumatoError:
        made.append(dataclasses.replace(made[0], pairing="none"))
    return [dataclasses.replace(release, population=original) for release in made]


@pytest.mark.parametrize("typed", [False, True], ids=["csv", "floats"])
@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_every_metric_answers_or_refuses(metric: Metric, ends: str, typed: bool, tmp_path: Path) -> None:
    original = table(tmp_path, ends, typed=typed)
    for sensitive in (("s",), ("t",)):
        roles = Roles(quasi=("x", "sex"), sensitive=sensitive, orders={})
        for release in releases(original):
            with contextlib.suppress(SfumatoError):  # anything else, and any warning, fails
                assert metric.sentence(metric(release, roles).value)


@pytest.mark.parametrize("typed", [False, True], ids=["csv", "floats"])
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_profile_and_its_ladders_answer(ends: str, typed: bool, tmp_path: Path) -> None:
    original = table(tmp_path, ends, typed=typed)
    assert profile(original).toml()
    for column in original.count(("x",)).columns:
        rule = suggest(column, "numeric")
        assert rule == {"suppress": True} or all(0 < width < math.inf for width in rule["widths"])
