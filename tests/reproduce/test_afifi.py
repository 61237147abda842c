"""Afifi et al. 2018: examples to the golden values, figures on Adult, and each erratum by its own computation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.reproduce import afifi
from sfumato.reproduce.check import Paper

Numbers = Callable[[str, str], list[float]]


@pytest.mark.parametrize(
    ("start", "example", "measure"),
    [
        ("Ex. 4: EMD", "example_4", "EMD_equal"),
        ("Ex. 4: L_D", "example_4", "L_D"),
        ("Ex. 4: L_E", "example_4", "L_E"),
        ("Ex. 5: L_D", "example_5_and_10", "L_D"),
        ("Ex. 5: L_E", "example_5_and_10", "L_E"),
        ("Ex. 6: L_D", "example_6", "L_D"),
        ("Ex. 6: L_E", "example_6", "L_E"),
        ("Ex. 7: L_D", "example_7", "L_D"),
        ("Ex. 7: L_E", "example_7", "L_E"),
        ("Ex. 8 (Table 4b): L_D", "example_8", "L_D"),
        ("Ex. 8: L_E", "example_8", "L_E"),
        ("Ex. 9 (Table 4c): L_D", "example_9", "L_D"),
        ("Ex. 9: L_E", "example_9", "L_E"),
        ("Ex. 10 (Table 5b): EMD", "example_5_and_10", "EMD_equal"),
        ("Ex. 11 (Table 3): EMD", "example_11", "EMD_ordered"),
        ("Ex. 11, 27 rows: EMD", "example_11_second_part", "EMD_ordered"),
        ("Ex. 11, 27 rows: L_D", "example_11_second_part", "L_D"),
        ("Ex. 11, 27 rows: L_E", "example_11_second_part", "L_E"),
    ],
)
def test_examples(ours: Numbers, golden: dict[str, Any], start: str, example: str, measure: str) -> None:
    assert ours("afifi", start) == pytest.approx(golden["afifi"][example][measure], abs=5.1e-5)


def test_without_adult_the_examples_still_run(tmp_path: Path) -> None:
    found = afifi.reproduce(tmp_path)
    assert found.holds
    assert "No adult_48842.csv" in found.lacking
    assert len(found.errata) == 9
    assert not found.figures
    verdicts = {line.what: line.verdict for line in found.lines}
    assert verdicts["Ex. 8 (Table 4b): L_D"] == "erratum"
    assert verdicts["Ex. 9 (Table 4c): L_D"] == "agrees"
    assert verdicts["Ex. 6: L_E"] == "cut off"


@pytest.mark.usefixtures("adult_folder")
def test_the_figures_of_adult(paper: Callable[[str], Paper], ours: Numbers) -> None:
    found = paper("afifi")
    assert found.holds
    assert ours("afifi", "Fig. 2: classes") == [8]
    assert ours("afifi", "Fig. 2b: values") == [8]
    assert ours("afifi", "0.1-closeness, 13-diversity: L_D") == [0.0134, 0.0510]  # printed 0.0125 and 0.0477
    assert {line.verdict for line in found.lines if line.what.startswith("0.1-closeness")} == {"open"}
    names = [figure.name for figure in found.figures]
    assert names == ["afifi-fig1", "afifi-fig2a", "afifi-fig2b", "afifi-fig3a", "afifi-fig3b", "afifi-fig4"]
    belief = [row for figure in found.figures if figure.name == "afifi-fig2b" for row in figure.rows]
    assert sum(row["share"] == 0 for row in belief if row["which"] == "published") == 8
    for which in ("original", "published"):
        assert sum(row["share"] for row in belief if row["which"] == which) == pytest.approx(1)
