"""Record linkage: planted people are found, nothing gives the baseline, and a few lines of plain Python say the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import Make, MakeTable, outcomes
from sfumato.attacks.linkage import linkage
from sfumato.attacks.lookup import match as match_module
from sfumato.attacks.lookup.match import Match
from sfumato.core.errors import InputError, SfumatoError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("age", "zip"), sensitive=("s",), identifiers=("name",))
PEOPLE = {
    "name": ["Ann", "Bob", "Cid", "Dee", "Eve"],
    "age": ["21", "25", "34", "38", "38"],
    "zip": ["47906", "47902", "47906", "47633", "47633"],
    "s": ["a", "b", "a", "b", "c"],
}
PUBLISHED = {
    "age": ["2*", "2*", "[30,39]", "[30,39]", "[30,39]"],
    "zip": ["479**"] * 3 + ["476**"] * 2,
    "s": PEOPLE["s"],
}
TREE = Hierarchy.of("job", [("nurse", "health"), ("doctor", "health"), ("clerk", "office"), ("lawyer", "office")])


# --- extremes --------------------------------------------------------------------------------------------------------


def test_planted_people_are_found(release: Make, table: MakeTable) -> None:
    attack = linkage(release(PUBLISHED, PEOPLE, pairing="position"), ROLES)
    assert outcomes(attack) == (1, 4, 0, 0)  # Cid alone is 30 to 39 in 479**
    assert attack.fell == pytest.approx(1 + 4 / 2)
    assert attack.success.value == pytest.approx(0.6)
    assert attack.baseline is not None
    assert attack.baseline.value == pytest.approx(0.2)
    assert attack.exactness == "exact"
    assert attack.control is None
    named = linkage(release(PUBLISHED, PEOPLE, pairing="position"), ROLES, external=table(PEOPLE), reveal=True)
    assert named.details.found == ["Cid"]
    assert named.fell == pytest.approx(attack.fell)
    json.dumps(named.details.to_dict())


def test_identity_finds_everybody_who_is_alone(release: Make) -> None:
    rows = {"age": [str(i) for i in range(50)], "zip": ["1"] * 50, "s": ["a"] * 50}
    attack = linkage(release(rows, rows, pairing="position"), ROLES)
    assert attack.success.value == 1
    assert outcomes(attack) == (50, 0, 0, 0)
    assert attack.worked
    assert attack.above == pytest.approx(1 - 1 / 50)


def test_a_release_that_carries_nothing_gives_the_baseline(release: Make) -> None:
    rows = {"age": [str(i) for i in range(50)], "zip": ["1"] * 50, "s": ["a"] * 50}
    attack = linkage(release({**rows, "age": ["*"] * 50, "zip": ["*"] * 50}, rows, pairing="position"), ROLES)
    assert attack.baseline is not None
    assert attack.success.value == pytest.approx(attack.baseline.value)
    assert outcomes(attack) == (0, 50, 0, 0)
    assert attack.worked is False
    assert attack.above == pytest.approx(0)


def test_one_row(release: Make) -> None:
    rows = {"age": ["3"], "zip": ["1"], "s": ["a"]}
    assert linkage(release(rows, rows, pairing="position"), ROLES).success.value == 1


def test_no_value_of_the_table_is_told_unasked(release: Make, table: MakeTable, canary: str) -> None:
    people = {**PEOPLE, "name": [canary, *PEOPLE["name"][1:]], "zip": [canary, *PEOPLE["zip"][1:]]}
    published = {**PUBLISHED, "zip": ["*"] * 5}
    attack = linkage(release(published, people, pairing="position"), ROLES, external=table(people))
    assert canary not in str(attack)


# --- the survey ------------------------------------------------------------------------------------------------------

WORK = Hierarchy.of(
    "job", [("Engineer", "Professional"), ("Lawyer", "Professional"), ("Writer", "Artist"), ("Dancer", "Artist")]
)
SURVEY = Roles(quasi=("job", "sex", "age"), sensitive=("disease",), hierarchies={"job": WORK})
PATIENTS = {  # Manta, table 3.1, and who they are
    "name": ["Ed", "Ian", "Lou", "Wanda", "Willa", "Dora", "Alice"],
    "job": ["Engineer", "Engineer", "Lawyer", "Writer", "Writer", "Dancer", "Dancer"],
    "sex": ["male"] * 3 + ["female"] * 4,
    "age": ["35", "38", "38", "35", "35", "35", "36"],
    "disease": ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "HIV"],
}
VOTERS = {"name": ["Alice"], "job": ["Dancer"], "sex": ["female"], "age": ["36"]}  # table 3.2
THREE = {**PATIENTS, "job": ["Professional"] * 3 + ["Artist"] * 4, "age": ["[35,40)"] * 7}  # table 3.3


def test_manta_tables_1_to_3(release: Make, table: MakeTable) -> None:
    """Alice is found in the patients' table by a join, and in the 3-anonymous one with one guess in four."""
    raw = release({n: PATIENTS[n] for n in ("job", "sex", "age", "disease")}, PATIENTS, pairing="position")
    attack = linkage(raw, SURVEY, external=table(VOTERS), identity="name", reveal=True)
    assert attack.details.found == ["Alice"]
    assert attack.success.value == 1
    assert outcomes(linkage(raw, SURVEY)) == (5, 2, 0, 0)  # all but the two writers
    three = release({n: THREE[n] for n in ("job", "sex", "age", "disease")}, PATIENTS, pairing="position")
    attack = linkage(three, SURVEY, external=table(VOTERS), identity="name", reveal=True)
    assert attack.details.found == []
    assert attack.success.value == pytest.approx(1 / 4)
    everybody = linkage(three, SURVEY)
    assert everybody.details.candidates["least"] == sf.k_anonymity(three, SURVEY).value == 3
    assert everybody.fell == pytest.approx(2)


def test_manta_table_4(release: Make, table: MakeTable) -> None:
    """Three rows of a class and two people: a person is found with 1/2, not 1/3."""
    rows = {"pid": ["1", "2", "1"], "job": ["Professional"] * 3, "sex": ["male"] * 3, "age": ["[35,40)"] * 3}
    known = table({"pid": ["1", "2"], "job": ["Engineer", "Lawyer"], "sex": ["male"] * 2, "age": ["35", "38"]})
    roles = Roles(quasi=SURVEY.quasi, person="pid", hierarchies={"job": WORK})
    attack = linkage(release(rows), roles, external=known)
    assert attack.success.value == pytest.approx(1 / 2)


# --- what is known ---------------------------------------------------------------------------------------------------


def test_who_knows_less_finds_less(release: Make) -> None:
    published = release(PUBLISHED, PEOPLE, pairing="position")
    attack = linkage(published, ROLES, knows=("age",))
    assert outcomes(attack) == (0, 5, 0, 0)
    assert attack.fell == pytest.approx(2 / 2 + 3 / 3)
    assert attack.details.candidates == {"least": 2, "median": 3, "mean": pytest.approx(2.6), "most": 3}
    assert linkage(published, ROLES, knows=("age", "zip", "s")).details.correct == 5  # a sensitive value that is known


@pytest.mark.parametrize("label", ["health", "{doctor, nurse}", "*"])
def test_nodes_sets_and_stars_cover(label: str, release: Make) -> None:
    roles = Roles(quasi=("job",), hierarchies={"job": TREE})
    people = {"job": ["nurse", "doctor", "clerk"]}
    attack = linkage(release({"job": [label, label, "clerk"]}, people, pairing="position"), roles)
    assert outcomes(attack) == ((0, 3, 0, 0) if label == "*" else (1, 2, 0, 0))
    # * covers the clerk, too
    assert attack.fell == pytest.approx(2 / 2 + (1 / 3 if label == "*" else 1))


def test_values_as_they_are_spelled(release: Make) -> None:
    published = release(PUBLISHED, PEOPLE, pairing="position")
    assert outcomes(linkage(published, ROLES, how="exact")) == (0, 0, 0, 5)
    assert linkage(published, ROLES, how="exact", knows=("s",)).fell == pytest.approx(3)


def test_an_external_table_may_be_wrong_about_people(release: Make, table: MakeTable) -> None:
    external = {"name": ["Ann", "Bob", "Cid", "Zoe", "Yan", None], "age": ["33", "99", "34", "33", "21", "20"]}
    external["zip"] = ["47906", "47902", "47906", "47906", "11111", "47906"]
    attack = linkage(release(PUBLISHED, PEOPLE, pairing="position"), ROLES, external=table(external))
    assert attack.attacked == 3
    assert outcomes(attack) == (1, 0, 1, 1)  # Cid; Ann is taken for Cid; nobody is 99
    assert attack.fell == 1
    # Zoe is taken for Cid, Yan for nobody; who has no name may be anybody
    assert attack.details.not_in_release == {"from": "external", "people": 2, "one": 1, "several": 0, "none": 1}
    assert attack.control is not None
    assert attack.control.value == pytest.approx(0.5)


def test_people_who_were_left_out_are_a_control(table: MakeTable) -> None:
    """One of 50 is left out; whoever was is not covered, but has a candidate in no class."""
    rows = {"q": ["1"] * 20 + ["2"] * 29 + ["9"], "s": ["a"] * 50}
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": {"widths": [2]}})
    made = sf.GeneralizeFullDomain(k=10, suppression=0.1)(table(rows), roles)
    assert made.table.rows == 49
    attack = linkage(made, roles)
    assert attack.attacked == 49
    assert attack.fell == pytest.approx(2)
    assert attack.details.not_in_release == {
        "from": "left out of the release",
        "people": 1,
        "one": 0,
        "several": 0,
        "none": 1,
    }
    assert attack.control is not None
    assert attack.control.value == 0


def test_left_out_people_whom_a_class_covers(release: Make) -> None:
    people = {"id": list("abcd"), "age": ["21", "22", "33", "34"], "zip": ["1"] * 4, "s": ["a"] * 4}
    published = {"id": list("abc"), "age": ["2*", "2*", "3*"], "zip": ["1"] * 3, "s": ["a"] * 3}
    attack = linkage(release(published, people, pairing="key:id"), ROLES)
    assert outcomes(attack) == (1, 2, 0, 0)
    assert attack.details.not_in_release["one"] == 1  # d is taken for c
    assert attack.control is not None
    assert attack.control.value == 1


def test_a_control_of_ones_own(release: Make, table: MakeTable) -> None:
    control = table({"age": ["35", "22", "70"], "zip": ["47901", "47903", "47903"]})
    attack = linkage(release(PUBLISHED, PEOPLE, pairing="position"), ROLES, control=control)
    assert attack.control is not None
    assert attack.control.value == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert attack.control.people == 3


# --- people ----------------------------------------------------------------------------------------------------------


def test_several_rows_of_a_person(release: Make, table: MakeTable) -> None:
    """Two of the three candidates are Ann's: a guess is right twice in three; all of Bob's candidates are his."""
    people = {"name": ["Ann", "Ann", "Cid", "Bob", "Bob"], "age": ["20", "21", "22", "40", "40"], "zip": ["1"] * 5}
    published = {"age": ["2*"] * 3 + ["4*"] * 2, "zip": ["1"] * 5}
    attack = linkage(
        release(published, people, pairing="position"),
        Roles(quasi=("age", "zip")),
        external=table(people),
        identity="name",
    )
    assert attack.fell == pytest.approx(2 * 2 / 3 + 1 / 3 + 2)
    assert outcomes(attack) == (2, 3, 0, 0)


def test_a_release_that_carries_people_counts_people(release: Make, table: MakeTable) -> None:
    roles = Roles(quasi=("q",), person="id")
    published = release({"id": ["1", "1", "2", "3"], "q": ["[0,5]", "[0,9]", "[6,9]", "[0,1]"]})
    external = table({"id": ["1", "2", "3", "4"], "q": [3, 7, 0, 20]})
    attack = linkage(published, roles, external=external)
    # 3: person 1 (two rows); 7: 1 and 2; 0: 1 and 3
    assert outcomes(attack) == (1, 2, 0, 0)
    assert attack.fell == pytest.approx(1 + 1 / 2 + 1 / 2)
    assert attack.baseline is not None
    assert attack.baseline.value == pytest.approx(1 / 3)
    assert attack.details.not_in_release["none"] == 1


JOBS = {"pid": list("1234567"), "job": ["Professional"] * 3 + ["Artist"] * 4}  # Manta, tables 3.6 and 3.7
PERSONS = {"pid": list("1234567"), "sex": ["male"] * 3 + ["female"] * 4, "age": ["[35-40)"] * 7}


def test_manta_related_tables(release: Make, table: MakeTable) -> None:
    """What the tables say is known: as many fall as there are groups of people of whom they say the same."""
    roles = Roles(quasi=("job", "sex", "age"), person="pid")
    both = release(JOBS, related=(table(PERSONS),))
    attack = linkage(both, roles)
    assert attack.fell == pytest.approx(2)
    assert attack.details.tables == 2
    assert attack.details.candidates["least"] == sf.multir_anonymity(both, roles).value == 3
    finer = {**PERSONS, "age": ["35", "38", "39", "35", "35", "35", "36"]}
    assert linkage(release(JOBS, related=(table(finer),)), roles).details.correct == 4


def test_tables_that_are_harmless_alone(release: Make, table: MakeTable) -> None:
    roles = Roles(quasi=("q", "r"), person="id")
    one, two = {"id": list("abcd"), "q": ["[0,4]"] * 2 + ["[5,9]"] * 2}, {"id": list("dcba"), "r": ["x", "y", "x", "y"]}
    known = table({"id": list("abcde"), "q": [1, 2, 6, 7, 1], "r": ["y", "x", "y", "x", "x"]})
    both = release(one, related=(table(two),))
    attack = linkage(both, roles, external=known)
    assert outcomes(attack) == (4, 0, 0, 0)
    assert linkage(both, roles, external=known, knows=("q",)).fell == pytest.approx(2)
    assert linkage(both, roles, external=known, knows=("r",)).fell == pytest.approx(2)
    assert attack.control is not None
    assert attack.control.value == 1  # e is taken for somebody


@pytest.mark.parametrize("seed", range(6))
def test_related_tables_in_plain_python(seed: int, release: Make, table: MakeTable) -> None:
    """Several rows a person in both tables, people who are in one only, a column that both have."""
    rng = np.random.default_rng(seed)

    def labels(n: int) -> list[str]:
        return [f"[{a},{a + int(rng.integers(0, 4))}]" for a in rng.integers(0, 8, n).tolist()]

    one = {"id": [str(v) for v in rng.integers(0, 9, 14)], "q": labels(14), "r": labels(14)}
    two = {"id": [str(v) for v in rng.integers(3, 12, 14)], "r": labels(14), "t": labels(14)}
    known = {"id": [str(i) for i in range(14)], **{c: rng.integers(0, 9, 14).tolist() for c in "qrt"}}
    attack = linkage(
        release(one, related=(table(two),)), Roles(quasi=("q", "r", "t"), person="id"), external=table(known)
    )

    def inside(value: int, label: str) -> bool:
        low, high = map(int, label[1:-1].split(","))
        return low <= value <= high

    def fits(tab: dict[str, list[str]], columns: Sequence[str], i: int) -> set[str]:
        return {tab["id"][j] for j in range(len(tab["id"])) if all(inside(known[c][i], tab[c][j]) for c in columns)}

    people = set(one["id"]) | set(two["id"])
    fell, found, mistaken = 0.0, Counter[str](), 0
    for i, person in enumerate(known["id"]):
        candidates = fits(one, "qr", i) & fits(two, "rt", i)
        if person not in people:
            continue
        right = person in candidates
        fell += 1 / len(candidates) if right else 0
        mistaken += not right and len(candidates) == 1
        found[
            "none" if not candidates else "wrong" if not right else "correct" if len(candidates) == 1 else "ambiguous"
        ] += 1
    assert attack.fell == pytest.approx(fell)
    assert outcomes(attack) == tuple(found[name] for name in ("correct", "ambiguous", "wrong", "none"))
    assert attack.details.mistaken == mistaken
    assert attack.details.released == len(people)


# --- mechanisms and oracles ------------------------------------------------------------------------------------------


def adult_like(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    return {
        "x": [None if rng.random() < 0.05 else int(v) for v in rng.integers(0, 20, rows)],
        "y": [None if rng.random() < 0.05 else int(v) for v in rng.integers(0, 15, rows)],
        "c": [None if rng.random() < 0.05 else "abcde"[v] for v in rng.integers(0, 5, rows)],
        "s": [str(v) for v in rng.integers(0, 3, rows)],
    }


@pytest.mark.parametrize("name", ["Mondrian", "GeneralizeFullDomain", "KMember", "LocalSuppression"])
@pytest.mark.parametrize("seed", range(3))
def test_our_mechanisms(name: str, seed: int, table: MakeTable) -> None:
    """Everybody's own row covers them, and by k-anonymity nobody has fewer than k candidates."""
    roles = Roles(
        quasi=("x", "y", "c"), sensitive=("s",), hierarchies={"x": {"widths": [5, 10]}, "y": {"widths": [4, 8]}}
    )
    people = table(adult_like(np.random.default_rng(seed), 120))
    made = getattr(sf, name)(k=4)(people, roles)
    attack = linkage(made, roles)
    assert attack.details.wrong == attack.details.none == 0
    assert attack.details.unread_values == 0
    assert attack.details.candidates["least"] >= 4
    assert attack.fell / attack.attacked <= sf.marketer_risk(made, roles).value + 1e-12
    everywhere = sf.linkage_reidentification(made, roles)
    assert everywhere.value == pytest.approx(attack.success.value)
    assert sf.metric("linkage_reidentification[known=x]")(made, roles).value == pytest.approx(
        linkage(made, roles, knows=("x",)).success.value
    )


def oracle(published: Mapping[str, Any], people: Mapping[str, Any], columns: str) -> float:
    def covers(label: str | None, value: str | None) -> bool:
        if label == "*" or label == value:
            return True
        if label is None or value is None:
            return False
        if label[0] == "{":
            return value in label[1:-1].split(", ")
        if label[0] == "[":
            low, high = map(int, label[1:-1].split(","))
            return low <= int(value) <= high
        return False

    rows, fell = range(len(published[columns[0]])), 0.0
    for i in rows:
        fits = [j for j in rows if all(covers(published[c][j], people[c][i]) for c in columns)]
        fell += (i in fits) / max(len(fits), 1)
    return fell


@pytest.mark.parametrize("seed", range(25))
def test_local_recoding_in_plain_python(seed: int, release: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Overlapping intervals, sets and stars, missing values; cells are divided to the end, and in small parts."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(match_module, "_FEW", int(rng.integers(0, 3)))
    monkeypatch.setattr(match_module, "_PAIRS", int(rng.choice([1, 10, 1000])))
    monkeypatch.setattr(match_module, "_REFERENCES", int(rng.choice([4, 40, 10**6])))
    rows = int(rng.integers(1, 60))

    def interval(v: int) -> str | None:
        kind = rng.random()
        low, high = v - int(rng.integers(0, 4)), v + int(rng.integers(0, 4))
        return None if v > 10 else "*" if kind < 0.1 else str(v) if kind < 0.3 else f"[{low},{high}]"

    def some(v: int) -> str | None:
        kind = rng.random()
        others = {"abcdef"[v], *("abcdef"[w] for w in rng.integers(0, 6, 2))}
        return "*" if kind < 0.2 else "abcdef"[v] if kind < 0.4 else "{" + ", ".join(sorted(others)) + "}"

    x, y, z = (rng.integers(0, size, rows).tolist() for size in (12, 12, 6))
    people = {
        "x": [None if v > 10 else str(v) for v in x],
        "y": [None if v > 10 else str(v) for v in y],
        "z": ["abcdef"[v] for v in z],
    }
    published = {"x": [interval(v) for v in x], "y": [interval(v) for v in y], "z": [some(v) for v in z]}
    made = release({n: pa.array(v, pa.string()) for n, v in published.items()}, people, pairing="position")
    for columns in ("xyz", "xz", "z"):
        attack = linkage(made, Roles(quasi=tuple("xyz")), knows=tuple(columns), how="cover")
        assert attack.fell == pytest.approx(oracle(published, people, columns))


def test_pairs_and_candidates_agree(table: MakeTable) -> None:
    """The walk that adds boxes as a whole and the one that names every pair."""
    rng = np.random.default_rng(1)
    low = rng.integers(0, 60, (2, 3000))
    labels = [[f"[{a},{a + b}]" for a, b in zip(line, rng.integers(0, 25, 3000), strict=True)] for line in low.tolist()]
    boxes = table({"x": labels[0], "y": labels[1]}).count(("x", "y"))
    known = table({"x": rng.integers(0, 80, 4000), "y": rng.integers(0, 80, 4000)}).count(("x", "y"))
    match = Match.of(boxes, known, [None, None])
    total = np.zeros(match.points, dtype=np.int64)
    for point, box in match.pairs():
        np.add.at(total, point, boxes.n[box])
    assert np.array_equal(total, match.candidates())
    assert total.sum() > 100_000


# --- by distance -----------------------------------------------------------------------------------------------------


def nearest(published: Mapping[str, Any], people: Mapping[str, Any], columns: Sequence[str]) -> float:
    a, b = (np.array([side[c] for c in columns], dtype=float).T for side in (people, published))
    scale = a.std(axis=0)
    away = (((a[:, None] - b[None]) / scale) ** 2).sum(axis=2)
    tied = away <= away.min(axis=1, keepdims=True) * (1 + 1e-9)
    return float(sum(tied[i, i] / tied[i].sum() for i in range(len(a))))


@pytest.mark.parametrize("seed", range(5))
def test_noise_in_plain_python(seed: int, release: Make) -> None:
    rng = np.random.default_rng(seed)
    people = {"x": rng.integers(0, 30, 80).tolist(), "y": rng.integers(0, 30, 80).tolist()}
    published = {c: (np.array(people[c]) + rng.integers(-3, 4, 80)).tolist() for c in "xy"}
    made = release(published, people, pairing="position", perturbed=frozenset("xy"))
    attack = linkage(made, Roles(quasi=("x", "y")))
    assert attack.details.how == "distance"
    assert attack.exactness == "exact"
    assert attack.fell == pytest.approx(nearest(published, people, "xy"))
    assert attack.control is None


def test_microaggregation_is_attacked_by_distance(table: MakeTable) -> None:
    rng = np.random.default_rng(0)
    people = table({"x": rng.normal(size=200), "y": rng.normal(size=200), "s": ["a"] * 200})
    roles = Roles(quasi=("x", "y"), sensitive=("s",))
    made = sf.Microaggregation(k=4)(people, roles)
    attack = linkage(made, roles)
    assert attack.details.how == "distance"
    assert 0.1 < attack.success.value <= 0.26  # nearly everybody is nearest to the mean of their own group of four
    assert attack.details.correct == 0


def test_other_columns_must_be_covered(release: Make) -> None:
    """Noise in x alone would mislead; sex, as it is, leaves the right row only."""
    people = {"x": [1.0, 2.0, 30.0, 40.0], "sex": ["f", "m", "f", "m"]}
    published = {"x": [2.0, 1.0, 40.0, 30.0], "sex": ["f", "m", "f", "m"]}
    roles = Roles(quasi=("x", "sex"))
    made = release(published, people, pairing="position", perturbed=frozenset("x"))
    assert linkage(made, roles, knows=("x",)).fell == 0
    assert linkage(made, roles).fell == 4


def test_by_distance_an_external_table_may_be_wrong(release: Make, table: MakeTable) -> None:
    """Where sex is wrong, another's row is nearest; where nobody has it, there is none."""
    people = {"id": list("abcd"), "x": [1.0, 2.0, 30.0, 40.0], "sex": ["f", "m", "f", "m"]}
    made = release(
        {"x": [1.5, 2.5, 31.0, 39.0], "sex": people["sex"]}, people, pairing="position", perturbed=frozenset("x")
    )
    known = table({**people, "sex": ["f", "f", "f", "other"]})
    attack = linkage(made, Roles(quasi=("x", "sex")), external=known, identity="id", reveal=True, control=known)
    assert outcomes(attack) == (2, 0, 1, 1)
    assert attack.details.found == ["a", "c"]
    assert attack.control is not None
    assert attack.control.value == attack.success.value  # the same people again: their links are as near


def test_perturbed_categories_count_by_agreement(release: Make) -> None:
    people = {"a": ["p", "p", "q"], "b": ["u", "v", "v"], "c": ["x", "x", "y"]}
    published = {"a": ["p", "p", "q"], "b": ["u", "u", "v"], "c": ["x", "y", "y"]}
    made = release(published, people, pairing="position", perturbed=frozenset("abc"))
    attack = linkage(made, Roles(quasi=("a", "b", "c")))
    # the second person: one, two and one columns off
    assert outcomes(attack) == (2, 0, 1, 0)


@pytest.mark.full
def test_the_interval_of_a_sample_has_its_coverage(release: Make) -> None:
    rng = np.random.default_rng(0)
    people = {"x": rng.normal(size=2000), "y": rng.normal(size=2000)}
    published = {c: people[c] + rng.normal(scale=0.05, size=2000) for c in "xy"}
    made = release(published, people, pairing="position", perturbed=frozenset("xy"))
    roles = Roles(quasi=("x", "y"))
    whole = linkage(made, roles, sample=10_000)
    assert whole.exactness == "exact"
    inside = 0
    for seed in range(100):
        attack = linkage(made, roles, sample=150, seed=seed)
        assert attack.exactness == "estimate"
        inside += attack.success.low <= whole.success.value <= attack.success.high
    assert inside >= 88


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "kind", "name"),
    [
        ({"knows": ("nothing",)}, InputError, "nothing"),
        ({"knows": ("age", "age")}, InputError, "twice"),
        ({"how": "magic"}, InputError, "magic"),
        ({"sample": 0}, InputError, "sample"),
        ({"identity": "nobody"}, InputError, "nobody"),
        ({"external": {"name": ["Ann"], "age": ["1"]}}, InputError, "zip"),
        ({"external": {"age": ["1"], "zip": ["1"]}}, Unavailable, "identity"),
        ({"external": {"name": ["Zoe"], "age": ["1"], "zip": ["1"]}}, Unavailable, "nobody"),
        ({"control": {"age": ["1"]}}, InputError, "zip"),
        ({"how": "distance"}, Unavailable, "age"),
    ],
)
def test_refusals(
    more: dict[str, Any], kind: type[SfumatoError], name: str, release: Make, table: MakeTable, refusal: Any
) -> None:
    given = {key: table(value) if key in ("external", "control") else value for key, value in more.items()}
    published = {**PUBLISHED, "age": ["2*", "[20,29]", "[30,39]", "[30,39]", "[30,39]"]}
    made = release(published, PEOPLE, pairing="position")
    refusal(kind, lambda: linkage(made, ROLES, **given), name)


def test_what_is_missing_is_said(release: Make, table: MakeTable, refusal: Any) -> None:
    refusal(Unavailable, lambda: linkage(release(PUBLISHED), ROLES), "original")
    refusal(Unavailable, lambda: linkage(release(PUBLISHED, PEOPLE), ROLES), "--pair")
    refusal(Unavailable, lambda: linkage(release(PUBLISHED, PEOPLE, pairing="position"), Roles()), "quasi")
    empty = {name: pa.array([], pa.string()) for name in ("age", "zip", "s")}
    refusal(Unavailable, lambda: linkage(release(empty, empty, pairing="position"), ROLES), "rows")
    statistics = release(PUBLISHED, PEOPLE, pairing="position", statistics=True)
    refusal(Unavailable, lambda: linkage(statistics, ROLES), "statistics")
    alone = release(PUBLISHED, related=(table({"x": ["1"]}),))
    refusal(Unavailable, lambda: linkage(alone, ROLES), "person")
    anybody = Roles(quasi=("age", "zip"))
    refusal(
        InputError,
        lambda: linkage(release(PUBLISHED, PEOPLE, pairing="position"), anybody, reveal=True, identity="who"),
        "who",
    )
    people = release({"id": ["1", "1"], "q": ["a", "b"]}, related=(table({"id": ["1"], "r": ["x"]}),))
    refusal(Unavailable, lambda: linkage(people, Roles(quasi=("q", "r"), person="id")), "external")


def test_a_link_that_is_believed_and_false_is_told(release: Make) -> None:
    """Two people were swapped: each fits the other's row alone. A third is found rightly, and nobody else is mistaken."""
    before = {"age": ["20", "30", "40"], "ill": ["a", "b", "c"], "id": ["x", "y", "z"]}
    made = release({"age": ["30", "20", "40"], "ill": ["a", "b", "c"]}, before, pairing="position")
    attack = linkage(made, Roles(quasi=("age",), sensitive=("ill",), identifiers=("id",)), how="cover")
    assert (attack.details.correct, attack.details.wrong, attack.details.mistaken) == (1, 2, 2)
    assert attack.sentence.endswith(" 2 would be taken for somebody else, with nothing to warn of it.")
