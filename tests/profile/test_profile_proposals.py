"""What the roles file proposes for differential privacy: in comments, without a value, and right once it is confirmed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.profile.proposals import outwards


def confirmed(text: str) -> sf.Roles:
    """The roles file with every # of a proposal taken away, as an owner does who agrees."""
    head, _, tail = text.partition("# [reading]")
    lines = ["[reading]", *(line.removeprefix("#").strip() for line in tail.splitlines() if "..." not in line)]
    return sf.Roles.of(tomllib.loads(head + "\n".join(lines)))


def test_a_confirmed_proposal_reads_the_file(tmp_path: Path) -> None:
    rows = [f"{17 + i % 70};Canary{i % 2};{1 + i % 9}.234,50;{1 + i % 28}.12.1980" for i in range(200)]
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(["age;sex;rent;born", *rows, "é;Canary1;1,5;1.12.1980"]).encode("latin-1"))
    text = sf.profile(sf.read(path, missing=["é"])).toml()
    assert "canary" not in text.lower()
    assert not sf.Roles.of(tomllib.loads(text)).reading  # nothing holds before it is confirmed
    assert not sf.Roles.of(tomllib.loads(text)).domains
    roles = confirmed(text)
    assert dict(roles.reading) == {
        "encoding": "latin-1",
        "delimiter": ";",
        "quote": '"',
        "header": True,
        "missing": ["é"],
        "decimal": "comma",
        "dates": "day-first",
    }
    assert roles.domains["age"] == "10:90"
    table = sf.read(path, stated=True, **roles.reading)
    assert table.count(("born",)).columns[0].texts[0] == "1980-12-01"
    assert np.nanmax(table.reading.numbers(table.count(("rent",)).columns[0])) == 9234.5
    release = sf.DpStatistics(statistics="sum(age)", epsilon=1e6)(table, roles)
    assert float(release.table.count(("value",)).columns[0].texts[0] or 0) == sum(17 + i % 70 for i in range(200))


@pytest.mark.parametrize(
    ("low", "high", "around"),
    [
        (17, 90, ("10", "100")),
        (0, 0, ("0", "1")),
        (-3.2, 0.04, ("-4", "1")),
        (0.12, 0.13, ("0.12", "0.14")),
        (5, 5, ("5", "6")),
    ],
)
def test_ends_are_rounded_outwards(low: float, high: float, around: tuple[str, str]) -> None:
    found = outwards(low, high)
    assert float(found[0]) <= low <= high <= float(found[1])
    assert found == around
