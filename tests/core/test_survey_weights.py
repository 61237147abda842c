"""Survey weights: released by class or not at all, never as they are without a waiver, and what they say of the population."""

from __future__ import annotations

import csv
from collections import defaultdict
from math import fsum, log
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.metrics.privacy.individual_risk import of_classes

WEIGHTS = {"calibrated": 3, "rounded": 1}


def _rows(people: int = 400) -> dict[str, list[object]]:
    draw = np.random.default_rng(5)
    return {
        "age": draw.integers(18, 90, people).tolist(),
        "sex": draw.choice(["f", "m"], people).tolist(),
        "income": (draw.integers(9, 40, people) * 100).tolist(),
        "design": np.round(draw.uniform(0.4, 900, people), 3).tolist(),
    }


def _roles(how: str | None = None, **more: object) -> sf.Roles:
    survey = {} if how is None else {"weights": how}
    return sf.Roles(quasi=("age", "sex"), sensitive=("income",), weight="design", survey=survey, **more)  # type: ignore[arg-type]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _digits(text: str) -> int:
    return len(text.replace(".", "").strip("0"))


MECHANISMS = (
    sf.Mondrian(k=10),
    sf.Mondrian(k=10, mode="relaxed"),
    sf.KMember(k=10),
    sf.LocalSuppression(k=3),
    sf.GeneralizeFullDomain(k=10, suppression=0.1),
    sf.Mondrian(k=4) | sf.Mondrian(k=10),
)


@pytest.mark.parametrize("how", WEIGHTS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: f"{m.card.name}-{m.settings().get('mode', '')}")
def test_a_released_weight_is_of_the_class(mechanism: sf.Mechanism, how: str, tmp_path: Path) -> None:
    rows = _rows()
    roles = _roles(how, hierarchies={"age": {"widths": [10, 20]}, "sex": {"suppress": True}})
    release = mechanism(pa.table(rows), roles)
    sf.publish(release, roles, [], tmp_path / "release.csv")
    written = _read(tmp_path / "release.csv")
    of_class = defaultdict(list)
    for row in written:
        of_class[row["age"], row["sex"]].append(row["design"])
    assert all(len(set(weights)) == 1 for weights in of_class.values())
    assert all(_digits(row["design"]) <= WEIGHTS[how] for row in written)
    total, before = fsum(float(row["design"]) for row in written), fsum(map(float, rows["design"]))  # type: ignore[arg-type]
    if how == "calibrated":
        assert total == pytest.approx(before, rel=0.005)  # rows that were left out are made up for
    assert any(repr("design") in note for note in release.notes)


def test_it_stays_in_the_house_unless_asked_for(tmp_path: Path) -> None:
    release = sf.Mondrian(k=10)(pa.table(_rows()), _roles())
    assert "design" not in release.table.columns


def test_as_it_is_only_with_a_waiver(tmp_path: Path) -> None:
    roles, out = _roles("exact"), tmp_path / "release.csv"
    release = sf.Mondrian(k=10)(pa.table(_rows()), roles)
    with pytest.raises(sf.NotMet, match="survey weight"):
        sf.publish(release, roles, [], out)
    assert not out.exists()
    sf.publish(release, roles, [], out, waive={"design": "the office publishes its design"})
    assert sorted(float(row["design"]) for row in _read(out)) == sorted(_rows()["design"])  # type: ignore[type-var]


def test_one_that_others_released_is_refused_where_it_tells_rows_of_a_class_apart(tmp_path: Path) -> None:
    rows = {"age": ["[0,50)"] * 6, "design": [1.5] * 5 + [2.5]}
    roles = sf.Roles(quasi=("age",), weight="design")
    apart = sf.verify(sf.read(pa.table(rows)), roles, [])
    assert not apart.met
    assert "design" in apart.reasons[0]
    assert sf.verify(sf.read(pa.table(rows)), roles, [], waive={"design": "known"}).met
    assert sf.verify(sf.read(pa.table(rows | {"design": [1.5] * 6})), roles, []).met


def test_mechanisms_without_classes_say_so() -> None:
    with pytest.raises(sf.Infeasible, match="no classes"):
        sf.RankSwapping(columns=("age",))(pa.table(_rows()), _roles("calibrated"))


@pytest.mark.parametrize("bad", ["-1", "", "many"])
def test_a_weight_that_is_none_is_refused(bad: str) -> None:
    rows = _rows() | {"design": [*map(str, _rows()["design"][1:]), bad]}
    with pytest.raises(sf.InputError, match="survey weight"):
        sf.Mondrian(k=10)(pa.table(rows), _roles("calibrated"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[roles]\nquasi = ["age"]\n[survey]\nweights = "calibrated"', "name the column"),
        ('[roles]\nquasi = ["age"]\nweight = "w"\n[survey]\nweights = "some"', "must be one of"),
        ('[roles]\nquasi = ["age", "w"]\nweight = "w"', "give it one role"),
    ],
)
def test_roles_that_make_no_sense(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "roles.toml").write_text(text)
    with pytest.raises(sf.InputError, match=said):
        sf.Roles.read(tmp_path / "roles.toml")


def test_roles_are_read_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "roles.toml").write_text(_roles("rounded").toml())
    again = sf.Roles.read(tmp_path / "roles.toml")
    assert (again.weight, again.survey) == ("design", {"weights": "rounded"})


def test_the_profile_suggests_the_role_and_a_release_by_class() -> None:
    rows = _rows() | {"Gewichtung": _rows()["design"], "replicate_weight": ["a"] * 400}
    del rows["design"]
    roles = sf.suggest_roles(pa.table(rows))
    assert roles.weight == "Gewichtung"
    assert roles.survey == {"weights": "calibrated"}


def test_individual_risk_at_its_extremes_and_by_brute_force() -> None:
    assert of_classes(np.array([1, 3]), np.array([1.0, 3.0])).tolist() == pytest.approx([1.0, 1 / 3])  # all are there
    assert of_classes(np.array([1, 3]), np.array([1e12, 1e12])).max() < 1e-10
    p = 0.2
    assert of_classes(np.array([1]), np.array([5.0]))[0] == pytest.approx(p / (1 - p) * log(1 / p))
    assert of_classes(np.array([2]), np.array([10.0]))[0] == pytest.approx(
        p / (1 - p) - (p / (1 - p)) ** 2 * log(1 / p)
    )
    for rows in (1, 2, 3, 7, 20, 50, 51, 120):
        for share in (0.05, 0.3, 0.5, 0.7, 0.99):
            chance, expected = share**rows, 0.0  # E[1/F] of a negative binomial, term by term
            for larger in range(rows, rows + 40_000):
                expected += chance / larger
                chance *= (1 - share) * larger / (larger - rows + 1)
            assert of_classes(np.array([rows]), np.array([rows / share]))[0] == pytest.approx(expected, rel=1e-3)


def test_individual_risk_of_a_release_and_of_the_table() -> None:
    rows, roles = _rows(), _roles("calibrated")
    table = sf.read(pa.table(rows))
    score = sf.individual_risk(sf.Mondrian(k=10)(table, roles), roles)
    assert 0 < score.value < 1 / 10
    assert score.exactness == "estimate"
    risk = sf.raw_risk(table, roles, curve=False)
    assert risk.survey is not None
    assert risk.population is not None
    assert risk.survey.population == pytest.approx(fsum(rows["design"]))  # type: ignore[arg-type]
    assert risk.population.fraction == pytest.approx(400 / fsum(rows["design"]))  # type: ignore[arg-type]
    assert any("stand for" in sentence for sentence in risk.sentences)
    with pytest.raises(sf.Unavailable, match="weight"):
        sf.individual_risk(sf.Mondrian(k=10)(table, roles), sf.Roles(quasi=("age", "sex")))
