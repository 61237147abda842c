"""Names for tables: short, each another, and the same every time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

from sfumato.core.mechanism import Mechanism, MechanismCard
from sfumato.core.release import Release
from sfumato.mechanisms import registry as mechanisms
from sfumato.study.candidate import SHORT, Candidate, grid, short_names
from sfumato.study.study import GRID, SPLIT_GRID
from study_house import memory

STEERED = [
    f"mondrian k={k}{more} require='distinct_l_diversity(ill) >= 3' require='t_closeness[equal](ill) <= 0.4'"
    for k in (5, 10)
    for more in ("", " choose=width", " choose=width mode=relaxed")
]


def test_a_short_name_stays() -> None:
    assert short_names(grid(GRID)) == list(GRID)


def test_what_all_have_is_left_out() -> None:
    assert short_names(grid(STEERED)) == [
        "mondrian k=5",
        "mondrian k=5 width",
        "mondrian k=5 relaxed width",
        "mondrian k=10",
        "mondrian k=10 width",
        "mondrian k=10 relaxed width",
    ]


def test_what_tells_apart_is_said() -> None:
    found = short_names(grid([*GRID, *SPLIT_GRID]))
    assert found[-3:] == [
        "mondrian k=5, distinct_l_diversity >= 3",
        "mondrian k=5, t_closeness <= 0.4",
        "mondrian k=5, t_closeness <= 0.2",
    ]
    both = short_names(
        grid([f"mondrian k=5 require='t_closeness[{ground}](ill) <= 0.4'" for ground in ("equal", "ordered")])
    )
    assert both == ["mondrian k=5, t_closeness[equal](ill) <= 0.4", "mondrian k=5, t_closeness[ordered](ill) <= 0.4"]


def test_one_alone_keeps_its_k() -> None:
    assert short_names(grid(STEERED[:1])) == ["mondrian k=5"]


@pytest.mark.parametrize("texts", [[*GRID, *SPLIT_GRID, *STEERED], STEERED])
def test_all_differ_in_any_order(texts: list[str]) -> None:
    found = short_names(grid(texts))
    assert len(set(found)) == len(texts)
    assert short_names(grid(texts[::-1])) == found[::-1]


def test_files_go_by_their_names_and_the_owners_names_stay() -> None:
    release = Release(table=memory())
    long = "a/folder/with/a/rather/long/name"
    given = [
        Candidate(f"{long}/one.csv", release=release),
        Candidate(f"{long}/two/same.csv", release=release),
        Candidate(f"{long}/three/same.csv", release=release),
        Candidate(f"{long}/three/same.csv", release=release),
        Candidate("x", release=release, label="the owner's own name, however long it is"),
    ]
    found = short_names(given)
    assert len(given[-1].name) > SHORT
    assert found == [
        "one.csv",
        f"{long}/two/same.csv",
        f"{long}/three/same.csv",
        f"{long}/three/same.csv #2",
        "the owner's own name, however long it is",
    ]


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_no_document_that_leaves_says_where_a_file_of_a_mechanism_lies(name: str) -> None:
    made = mechanisms()[name]
    told = {key for key, text in made.card.parameters.items() if re.search(r"\b(CSV|the) file\b", text)}
    assert told <= set(made.card.files) <= set(made.card.parameters)
    for key in made.card.files:
        candidate = Candidate("x", NamesFile(made.card, key))
        assert "/somewhere/owner/secret" in candidate.name, "at home the whole place is told"
        assert candidate.outward == f"{name} {key}=matrix.csv, k_anonymity >= 3"


@dataclass(frozen=True)
class NamesFile(Mechanism):
    """A mechanism as far as its name goes."""

    card: MechanismCard  # type: ignore[misc]
    key: str

    def settings(self) -> dict[str, Any]:
        return {self.key: "/somewhere/owner/secret/matrix.csv", "require": ["k_anonymity >= 3"]}

    def sanitize(self, *args: Any, **more: Any) -> Release:
        raise AssertionError
