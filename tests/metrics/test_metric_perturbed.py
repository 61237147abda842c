"""Where a quasi-identifier was perturbed, counting who shares its values says nothing, and no metric may pretend it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import sfumato as sf
from sfumato.core.errors import Unavailable
from sfumato.core.release import Release

ORIGINAL = {"age": [20, 30, 40, 50], "ill": ["a", "b", "a", "b"]}
NOISY = {"age": [21, 21, 41, 41], "ill": ["a", "b", "a", "b"]}
ROLES = sf.Roles(quasi=("age",), sensitive=("ill",))


def release(perturbed: frozenset[str]) -> sf.Release:
    import pyarrow as pa

    tables = [sf.read(pa.table(data)) for data in (NOISY, ORIGINAL)]
    return sf.Release(table=tables[0], original=tables[1], pairing="position", perturbed=perturbed)


@pytest.mark.parametrize(
    "name", ["k_anonymity", "prosecutor_risk", "marketer_risk", "t_closeness[equal]", "mutual_information"]
)
def test_what_counts_classes_refuses(name: str) -> None:
    assert sf.metric(name)(release(frozenset()), ROLES).value >= 0  # unless it is told, it cannot know
    with pytest.raises(Unavailable, match=r"'age' was perturbed.*linkage_distance_risk"):
        sf.metric(name)(release(frozenset({"age"})), ROLES)


def test_what_looks_at_pairs_or_at_worth_answers() -> None:
    noisy = release(frozenset({"age"}))
    assert sf.metric("linkage_distance_risk")(noisy, ROLES).value >= 0
    assert sf.metric("minimal_distortion")(noisy, ROLES).value == 1
    scores, skipped = sf.measure(noisy, ROLES)
    assert "k_anonymity" in skipped
    assert "k_anonymity" not in scores


def test_another_perturbed_column_does_not_matter() -> None:
    assert sf.k_anonymity(release(frozenset({"ill"})), ROLES).value == 2


def test_a_requirement_on_classes_is_refused_not_passed(tmp_path) -> None:
    noisy = release(frozenset({"age"}))
    with pytest.raises(Unavailable, match="perturbed"):
        sf.publish(noisy, ROLES, [sf.require("k_anonymity >= 2")], tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_perturbed_sensitive_column_is_not_counted_as_true(release: Callable[..., Release]) -> None:
    """Its values are not those of the people they stand beside; another column can still be asked, and so can k."""
    columns = {"age": ["1", "1", "2", "2"], "ill": list("abab"), "pay": list("xyxy")}
    roles = sf.Roles(quasi=("age",), sensitive=("ill", "pay"))
    noisy = release(columns, perturbed=frozenset({"ill"}))
    with pytest.raises(Unavailable, match="'ill', which was perturbed"):
        sf.distinct_l_diversity(noisy, roles)
    assert sf.distinct_l_diversity.on("pay")(noisy, roles).value == 2
    assert sf.k_anonymity(noisy, roles).value == 2
