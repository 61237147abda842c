"""What may stand in a metric's brackets: one spelling for one metric, and a clear word against anything else."""

from __future__ import annotations

import pytest

from sfumato.core.errors import RequirementError
from sfumato.core.metric import Metric, measure, parse, parse_requirement
from sfumato.core.parameter import Choice, Number, Words


@measure(
    title="a test", question="Does it read?", about="privacy", better="lower", unit="things", bounds=(0, 1), monotone=False,
    source="Nobody 2026", sentence=str, misleads="Always.", needs=frozenset({"sensitive"}),
    parameters={"ground": Choice(("near", "far")), "l": Number(None, 1, 9, whole=True), "t": Number(0.5, 0, 1), "free": Words()},
)  # fmt: skip
def example(classes: object, ground: str, l: float, t: float, free: frozenset[str]) -> None:
    """Nothing is computed."""


KNOWN = {"example": example}


def read(text: str) -> Metric:
    return parse(text, KNOWN)[0]


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("example[near,l=3]", "example[near,l=3]"),
        ("example[near,3]", "example[near,l=3]"),
        ("example[l=3,ground=far]", "example[far,l=3]"),
        ("example[near,3,0.5]", "example[near,l=3]"),  # the default is not spelled
        ("example[near,3,t=0.25,free=flu|cold]", "example[near,l=3,t=0.25,free=cold|flu]"),
        ("example[ near , l = 3 ](a column)", "example[near,l=3](a column)"),
    ],
)
def test_one_metric_has_one_spelling(text: str, spelled: str) -> None:
    assert str(read(text)) == spelled
    assert read(spelled) == read(text)
    assert str(parse_requirement(f"{text} <= 0.1", KNOWN)) == f"{spelled} <= 0.1"


def test_what_is_not_given_has_its_default() -> None:
    assert read("example[near,3]").arguments == {"ground": "near", "l": 3, "t": 0.5, "free": frozenset()}


@pytest.mark.parametrize(
    "text",
    [
        "example[middle,3]", "example[near,0]", "example[near,2.5]", "example[near,x]", "example[near,3,t=2]",
        "example[near,3,t=nan]", "example[near,3,who=5]", "example[near,near]", "example[near,3,0.5,a,b]", "example[free=]",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_how_it_is_written(text: str) -> None:
    with pytest.raises(RequirementError, match=r"is written example\[near,l=...,t=...,free=...\] or example\[far"):
        read(text)


def test_a_number_without_default_must_be_given() -> None:
    assert example.variants() == []
    with pytest.raises(RequirementError, match="is written"):
        read("example[near]").check_complete()
    assert [str(v) for v in example.set(l=2).variants()] == ["example[near,l=2]", "example[far,l=2]"]
