"""What nouns show in a notebook, and the line of progress."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import Unavailable
from sfumato.core.metric import Score
from sfumato.core.progress_line import progress_line

ROWS = 40
ROLES = sf.Roles(quasi=["age", "<b>town</b>"], sensitive=["ill"], hierarchies={"age": {"widths": [5, 10]}})


@pytest.fixture(scope="module")
def table() -> sf.Table:
    data = {"age": [30 + i % 9 for i in range(ROWS)], "<b>town</b>": ["Xi"] * ROWS, "ill": ["flu", "none"] * 20}
    return sf.read(pa.table(data))


def test_every_noun_that_a_cell_ends_with_is_a_small_table(table: sf.Table) -> None:
    release = sf.Mondrian(k=5)(table, ROLES)
    study = sf.Study(table, ROLES, sf.grid(["mondrian k=5", "mondrian k=20"]), measures=())
    nouns = {
        "Roles": (ROLES, ["age", "quasi", "widths"]),
        "Table": (table, ["3 columns"]),
        "Profile": (sf.profile(table), ["40 rows", "suggested role"]),
        "Mondrian": (sf.Mondrian(k=5), ["promises", "k=5"]),
        "Release": (release, ["mondrian", "40 rows"]),
        "Score": (sf.k_anonymity(release, ROLES), ["exact", "rows"]),
        "Metric": (sf.k_anonymity, ["asks"]),
        "Outcome": (sf.homogeneity(release, ROLES), ["success", "40 attacked"]),
        "Result": (study.run(refine=0), ["mondrian k=20", "on the frontier"]),
    }
    for name, (noun, words) in nouns.items():
        html = noun._repr_html_()
        assert all(word in html for word in words), (name, html)
        assert len(html) < 6_000, name
        assert "<b>town" not in html, f"{name} does not escape names"
        assert "<script" not in html
        assert "Xi" not in html.replace("Existing", ""), f"{name} shows a value"


def test_a_map_and_a_score_are_charts(table: sf.Table) -> None:
    result = sf.Study(table, ROLES, sf.grid(["mondrian k=5", "mondrian k=20"]), measures=()).run(refine=0)
    names = {row.get("name") for layer in result.map().to_dict()["layer"] for row in layer["data"]["values"]}
    assert {"mondrian k=5", "mondrian k=20"} <= names
    release = sf.Mondrian(k=5)(table, ROLES)
    score = sf.k_anonymity(release, ROLES)
    bars = score.plot().to_dict()["data"]["values"]
    assert sum(bar["classes"] for bar in bars) == len(score.per_class)


def test_what_cannot_be_drawn_says_so() -> None:
    with pytest.raises(Unavailable, match="one number for the whole table"):
        Score(1.0, "rows").plot()
    with pytest.raises(Unavailable, match="finite"):
        Score(np.inf, "bits", per_class=np.array([np.inf, np.inf])).plot()
    drawn = Score(np.inf, "bits", per_class=np.array([np.inf, 1.0])).plot().to_dict()
    assert "1 without a bound" in drawn["encoding"]["x"]["title"]


def test_progress_is_one_line_with_the_time_that_is_left(monkeypatch, capsys) -> None:
    now = iter([0.0, 0.1, 10.0, 40.0, 41.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    monkeypatch.setattr("sfumato.core.progress_line._rewrites", lambda: True)
    with progress_line("work", True) as tell:
        tell(0.0)  # too soon to be worth a line
        tell(0.25, "first")
        tell(1.0)
    shown = capsys.readouterr().err
    lines = [line.strip() for line in shown.split("\r")]
    assert lines == ["", "work: 25%, about 30 seconds left (first)", "work: 100%", "work: 41 seconds"]
    assert shown.endswith("\n")


def test_in_a_log_progress_is_a_plain_line_now_and_then(monkeypatch, capsys) -> None:
    now = iter([0.0, 1.0, 10.0, 15.0, 20.0, 61.0, 90.0, 99.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    with progress_line("work", True) as tell:
        tell(0.1)  # too soon
        tell(0.25, "first")
        tell(0.3)  # too soon
        tell(0.5, "second", "7 of 14, about 3 minutes left")
        tell(0.75)
        tell(0.9)  # too soon: by now lines are half a minute apart
        tell(0.99)
    assert capsys.readouterr().err.splitlines() == [
        "work: 25%, about 30 seconds left (first)",
        "work: 7 of 14, about 3 minutes left (second)",
        "work: 75%, about 20 seconds left",
        "work: 99%, about 1 second left",
    ]


def test_nobody_or_a_function_is_told_where_that_is_asked(table: sf.Table, capsys) -> None:
    shares: list[float] = []
    sf.KMember(k=5)(table, ROLES, progress=shares.append)
    sf.KMember(k=5)(table, ROLES)
    with progress_line("work", None) as tell:
        assert tell is None
    with progress_line("work", shares.append) as tell:
        tell(0.5)
    assert shares[-1] == 0.5
    assert capsys.readouterr().err == ""
