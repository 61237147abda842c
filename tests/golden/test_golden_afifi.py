"""Afifi, Zhou, Ren 2018: examples 4 to 11, written out here, each as a table of rows. Errata as in leakage.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.release import Release
from sfumato.core.roles import Roles

HEART, VIRUS, CANCER, FLU = "Heart Disease", "Virus Infection", "Cancer", "Flu"

# Per class, in the paper's order: rows of each sensitive value.
DISTRIBUTIONS: dict[str, list[list[int]]] = {
    "example_4": [[1, 2, 2], [0, 3, 2]],
    "example_5_and_10": [[3, 1, 0], [3, 1, 0], [1, 1, 2]],
    "example_6": [[1, 1, 1, 1], [3, 1, 0, 0], [3, 0, 1, 0], [3, 0, 0, 1]],
    "example_7": [[1, 1, 1, 1], [2, 1, 1, 0], [3, 1, 0, 0], [3, 0, 0, 1]],
}
# Tables 3, 4b, 4c and 5b: (zip code, age) of each class in the paper's order, and its sensitive values.
TABLES: dict[str, dict[tuple[str, str], list[str]]] = {
    "example_8": {
        ("130**", "< 30"): [HEART, HEART, VIRUS, VIRUS],
        ("1485*", "≥40"): [CANCER, HEART, VIRUS, VIRUS],
        ("130**", "3*"): [CANCER] * 4,
    },
    "example_9": {
        ("1305*", "≤40"): [HEART, VIRUS, CANCER, CANCER],
        ("1485*", "> 40"): [CANCER, HEART, VIRUS, VIRUS],
        ("1306*", "≤40"): [HEART, VIRUS, CANCER, CANCER],
    },
    "example_5_and_10": {
        ("4901*", "2*"): [FLU, FLU, FLU, HEART],
        ("4997*", "3*"): [FLU, FLU, FLU, HEART],
        ("4882*", "4*"): [FLU, HEART, CANCER, CANCER],
    },
    "example_11": {
        ("4767*", "≤40"): ["3K", "5K", "9K"],
        ("4790*", "≥40"): ["6K", "11K", "8K"],
        ("4760*", "≤40"): ["4K", "7K", "10K"],
    },
    # 27 rows, nine salaries three times each; the two classes that are looked at, and all other rows
    "example_11_second_part": {
        ("1", "first"): ["3K", "4K", "5K"],
        ("2", "second"): ["7K", "7K", "7K"],
        ("3", "rest"): [*["3K", "4K", "5K"] * 2, *["6K", "8K", "9K", "10K", "11K"] * 3],
    },
}
VALUES: dict[str, dict[str, list[float]]] = {
    "example_4": {"L_D": [0.1414, 0.1414], "L_E": [0.1610, 0.3900], "EMD_equal": [0.1, 0.1]},
    "example_5_and_10": {
        "L_D": [0.2357, 0.2357, 0.4714],
        "L_E": [0.5732, 0.5732, 0.1156],
        "EMD_equal": [0.1667, 0.1667, 0.3333],
    },
    "example_6": {"L_D": [0.4330, 0.25, 0.25, 0.25], "L_E": [0.4512, 0.7375, 0.7375, 0.7375]},
    "example_7": {"L_D": [0.3644, 0.1976, 0.2652, 0.3187], "L_E": [0.3303, 0.1697, 0.8585, 0.8585]},
    "example_8": {"L_D": [0.5137, 0.2357, 0.7169], "L_E": [0.5546, 0.0546, 1.5546]},
    "example_9": {"L_D": [0.1179, 0.2357, 0.1179], "L_E": [0.0546, 0.0546, 0.0546]},
    "example_11": {"EMD_ordered": [0.1667, 0.1667, 0.0833]},
    "example_11_second_part": {"EMD_ordered": [0.375, 0.2778], "L_D": [0.4714, 0.9428], "L_E": [1.5850, 3.1699]},
}
METRICS = {
    "L_D": "distribution_leakage",
    "L_E": "entropy_leakage",
    "EMD_equal": "t_closeness[equal]",
    "EMD_ordered": "t_closeness[ordered]",
}
ROLES = Roles(quasi=("zip", "age"), sensitive=("s",))


def classes_of(example: str, source: str) -> dict[tuple[str, str], list[str]]:
    if source == "table":
        return TABLES[example]
    return {
        (str(i), "*"): [f"v{value}" for value, times in enumerate(counts) for _ in range(times)]
        for i, counts in enumerate(DISTRIBUTIONS[example])
    }


CASES = [(e, "distribution", m) for e in DISTRIBUTIONS for m in VALUES[e]] + [
    (e, "table", m) for e in TABLES for m in VALUES[e]
]


@pytest.mark.parametrize(("example", "source", "measure"), CASES)
def test_example(release: Callable[..., Release], example: str, source: str, measure: str) -> None:
    classes = classes_of(example, source)
    rows = [(*label, value) for label, values in classes.items() for value in values]
    zips, ages, values = (list(column) for column in zip(*rows, strict=True))
    published = release({"zip": zips, "age": ages, "s": values})
    score = sf.metric(METRICS[measure])(published, ROLES)
    tuples = published.evidence(ROLES).tuples
    texts = [[c.texts[k] for k in codes] for c, codes in zip(tuples.columns, tuples.codes, strict=True)]
    labels = list(zip(*texts, strict=True))
    assert score.per_class is not None
    found = dict(zip(labels, score.per_class.tolist(), strict=True))
    expected = VALUES[example][measure]
    assert [found[label] for label in list(classes)[: len(expected)]] == pytest.approx(expected, abs=5.1e-5)
    assert score.value == max(found.values())


def test_the_exact_roots_that_the_paper_prints(release: Callable[..., Release]) -> None:
    """Ex. 5 and 7 print roots; the third of ex. 5 is sqrt(32)/12 (printed sqrt(26)/12)."""
    for example, roots in {
        "example_5_and_10": np.sqrt([8, 8, 32]) / 12,
        "example_6": np.sqrt([48, 16, 16, 16]) / 16,
        "example_7": np.sqrt([34, 10, 18, 26]) / 16,
    }.items():
        rows = [(*label, value) for label, vs in classes_of(example, "distribution").items() for value in vs]
        zips, ages, values = (list(column) for column in zip(*rows, strict=True))
        score = sf.distribution_leakage(release({"zip": zips, "age": ages, "s": values}), ROLES)
        assert score.per_class == pytest.approx(roots, abs=1e-12)


@pytest.mark.parametrize("example", list(VALUES))
def test_what_stands_here_is_what_was_verified(golden: dict[str, Any], example: str) -> None:
    verified = {key: value for key, value in golden["afifi"][example].items() if not key.startswith("printed")}
    assert verified == VALUES[example]


def test_no_example_is_left_out(golden: dict[str, Any]) -> None:
    assert set(golden["afifi"]) == set(VALUES)
