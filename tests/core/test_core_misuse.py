"""What a newcomer hands over by mistake is answered with a sentence that says what to write."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError

ROWS = pa.table({"age": [1, 1, 2, 2], "ill": ["a", "b", "a", "b"]})
ROLES = sf.Roles(quasi=["age"], sensitive=["ill"])


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: sf.Mondrian(k=2)(ROWS, "roles.toml"), "Roles.read"),
        (lambda: sf.explore(ROWS, "roles.toml"), "Roles.read"),
        (lambda: sf.iloss("release.csv", ROLES), "Give a release"),
        (lambda: sf.k_anonymity(ROWS, ROLES), "Give a release"),
        (lambda: sf.homogeneity(ROWS, ROLES), "Give a release"),
        (lambda: sf.homogeneity(sf.Mondrian(k=2)(ROWS, ROLES), "roles.toml"), "Roles.read"),
    ],
)
def test_what_is_no_release_and_no_roles(call: Callable[[], object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        call()


def test_metrics_may_be_named_by_their_texts() -> None:
    explorer = sf.explore(ROWS, ROLES, metrics=["iloss", "k_anonymity"])
    assert set(explorer.at().scores) == {"iloss", "k_anonymity"}


def test_a_refusal_names_the_file_that_was_to_be_written(tmp_path) -> None:
    release = sf.Mondrian(k=2)(ROWS, ROLES)
    other = sf.Roles(quasi=["age", "town"], sensitive=["ill"])
    with pytest.raises(InputError, match=r"out\.csv: no column 'town'") as refusal:
        sf.publish(release, other, [sf.k_anonymity.at_least(2)], tmp_path / "out.csv")
    assert ".sfumato-" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []
