"""Homogeneity: the survey's tables, extremes, control and baseline, and an oracle that walks through the rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from house import PATIENTS
from sfumato.attacks.homogeneity import homogeneity
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.roles import Roles

MEN, WOMEN = ("Professional", "male", "[35-40)"), ("Artist", "female", "[35-40)")
TABLE_3 = [(MEN, "Hepatitis"), (MEN, "Hepatitis"), (MEN, "HIV"), (WOMEN, "Flu"), *[(WOMEN, "HIV")] * 3]
TABLE_8 = [(MEN, "Hepatitis"), (MEN, "Hepatitis"), (MEN, "HIV"), *[(WOMEN, "HIV")] * 3]
TABLE_9 = [(MEN, "Hepatitis"), (MEN, "Hepatitis"), (MEN, "Flu"), (WOMEN, "Flu"), (WOMEN, "HIV"), (WOMEN, "HIV")]
Q = Roles(quasi=("q",), sensitive=("s",))


def patients(rows: list[tuple[tuple[str, str, str], str]]) -> dict[str, list[str]]:
    return {
        "job": [who[0] for who, _ in rows],
        "sex": [who[1] for who, _ in rows],
        "age": [who[2] for who, _ in rows],
        "disease": [disease for _, disease in rows],
    }


def test_table_3_8_tells_the_women(release: Any) -> None:
    found = homogeneity(release(patients(TABLE_8)), PATIENTS, reveal=True)
    assert (found.attacked, found.fell) == (6, 3)
    assert found.success.value == 0.5
    assert found.baseline is not None
    assert found.baseline.value == 0
    assert found.exactness == "exact"
    assert found.details.exposed_classes == 1
    assert found.details.shown == [
        {"class": {"job": "Artist", "sex": "female", "age": "[35-40)"}, "value": "HIV", "rows": 3}
    ]


@pytest.mark.parametrize("rows", [TABLE_3, TABLE_9])
def test_tables_3_3_and_3_9_tell_nobody_by_a_class_alone(release: Any, rows: Any) -> None:
    found = homogeneity(release(patients(rows)), PATIENTS)
    assert found.fell == 0
    assert found.details.exposed_classes == 0
    assert "nobody" in found.sentence


def test_tables_3_4_and_3_7_have_the_classes_of_table_3_3(release: Any) -> None:
    """A person column and the join of two tables change nothing: 3 of 4 women have HIV."""
    joined = {**patients(TABLE_3), "pid": [str(i) for i in range(1, 8)]}
    found = homogeneity(release(joined), PATIENTS, share=0.75)
    assert found.fell == 3
    assert found.details.exposed_people == 4


def test_a_share_claims_the_most_frequent_value_and_is_wrong_for_the_others(release: Any) -> None:
    found = homogeneity(release(patients(TABLE_3)), PATIENTS, share=2 / 3)
    assert found.details.exposed_people == 7
    assert found.fell == 2 + 3
    assert found.baseline is not None
    assert found.baseline.value == 0  # HIV is 4 of 7, less than two thirds
    half = homogeneity(release(patients(TABLE_3)), PATIENTS, share=0.5)
    assert half.baseline is not None
    assert half.baseline.value == pytest.approx(4 / 7)


def test_a_release_that_carries_nothing_gives_the_baseline(release: Any) -> None:
    for values in (["a"] * 5, ["a", "a", "a", "b", "c"]):
        for share in (1.0, 0.6, 0.5):
            found = homogeneity(release({"q": ["*"] * 5, "s": values}), Q, share=share)
            assert found.success == found.baseline
            assert found.above == 0


def test_extremes(release: Any) -> None:
    everybody = homogeneity(release({"q": ["1", "2", "2"], "s": ["a", "b", "b"]}), Q)
    assert everybody.fell == everybody.attacked == 3
    one = homogeneity(release({"q": ["1"], "s": ["a"]}), Q)
    assert one.fell == 1


def test_missing_values_are_values(release: Any) -> None:
    found = homogeneity(release({"q": [None, None, "", "1", "1"], "s": ["", None, None, "a", None]}), Q)
    assert found.fell == 3


def test_values_that_may_be_told(release: Any) -> None:
    table = {"q": ["1", "1", "2", "2", "3", "3", "3"], "s": ["none", "none", "HIV", "HIV", "none", "none", "HIV"]}
    assert homogeneity(release(table), Q, dont_care={"none"}).fell == 2
    assert homogeneity(release(table), Q, dont_care={"none"}, share=1 / 3).fell == 3


def test_rows_that_were_left_out_are_not_attacked(release: Any) -> None:
    original = {"q": ["1", "1", "2"], "s": ["a", "a", "b"]}
    found = homogeneity(release({"q": ["1", "1"], "s": ["a", "a"]}, original), Q)
    assert found.attacked == 2


def test_against_rows_one_by_one(release: Any) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = rng.integers(0, 8, 30).astype(str).tolist()
        s = [None if x == 3 else f"v{x}" for x in rng.integers(0, 4, 30)]
        for share in (1.0, 0.7, 0.5, 0.2):
            classes = defaultdict(list)
            for a, b in zip(q, s, strict=True):
                classes[a].append(b)
            right = exposed = 0
            for values in classes.values():
                n = max(Counter(values).values())
                if n / len(values) >= share - 1e-12:
                    right += n
                    exposed += len(values)
            found = homogeneity(release({"q": q, "s": s}), Q, share=share)
            assert (found.fell, found.details.exposed_people) == (right, exposed)
            if share == 1:
                assert sf.homogeneity_exposed(release({"q": q, "s": s}), Q).value == pytest.approx(right / 30)


class TestControl:
    """People who are not in the release."""

    def test_what_holds_of_anybody_is_no_fault_of_the_release(self, release: Any, table: Any) -> None:
        published = release({"q": ["[0,10)"] * 3 + ["[10,20]"] * 3, "s": list("aaabbb")})
        same = table({"q": ["3", "5", "12", "19"], "s": ["a", "a", "b", "b"]})
        found = homogeneity(published, Q, control=same)
        assert found.control is not None
        assert (found.control.value, found.control.people) == (1.0, 4)
        assert found.worked is False
        other = table({"q": ["3", "5", "12", "19", "30"], "s": ["a", "b", "a", "c", "a"]})
        found = homogeneity(published, Q, control=other)
        assert found.control is not None
        assert found.control.value == pytest.approx(1 / 5)  # one right, 30 is covered by nothing
        assert found.details.control_covered == 4

    def test_overlapping_classes_are_looked_at_together(self, release: Any, table: Any) -> None:
        published = release({"q": ["[0,10]"] * 2 + ["[5,20]"] * 2, "s": list("aabb")})
        found = homogeneity(published, Q, control=table({"q": ["3", "7", "15"], "s": ["a", "a", "b"]}))
        assert found.control is not None
        assert found.control.value == pytest.approx(2 / 3)  # 7 may be in either class, so nothing is said

    def test_taxonomies_sets_and_missing_values(self, release: Any, table: Any) -> None:
        readable = [((job, sex, "[35,40)"), disease) for (job, sex, _), disease in TABLE_8]
        found = homogeneity(
            release(patients(readable)),
            PATIENTS,
            control=table(patients([(("Dancer", "female", "36"), "HIV"), (("Lawyer", "male", "38"), "HIV")])),
        )
        assert found.control is not None
        assert found.control.value == 0.5
        published = release({"q": ["{x, y}"] * 2 + [None] * 2, "s": ["a", "a", None, None]})
        control = table({"q": ["x", "z", None, ""], "s": ["a", "a", "", "a"]})
        found = homogeneity(published, Q, control=control)
        assert found.control is not None
        assert found.control.value == 0.5

    @pytest.mark.full
    def test_the_interval_covers_the_rate_it_estimates(self, release: Any, table: Any) -> None:
        """Of strangers 30% have what their class says: the interval must hold that in about 95 of 100 samples."""
        rng, hits = np.random.default_rng(8), 0
        published = release({"q": ["1"] * 3 + ["2"] * 3, "s": list("aaabbb")})
        for _ in range(300):
            q = rng.integers(1, 3, 60)
            own = np.where(q == 1, "a", "b")
            s = np.where(rng.random(60) < 0.3, own, "c")
            rate = homogeneity(published, Q, control=table({"q": q.astype(str).tolist(), "s": s.tolist()})).control
            assert rate is not None
            hits += rate.low <= 0.3 <= rate.high
        assert 0.91 <= hits / 300 <= 0.99


def test_details_are_ready_for_json_and_hold_no_value(release: Any, canary: str) -> None:
    published = release({"q": ["1", "1"], "s": [canary, canary]})
    found = homogeneity(published, Q)
    assert canary not in json.dumps(found.details.to_dict()) + found.sentence + found.knew + found.effort
    assert canary in json.dumps(homogeneity(published, Q, reveal=True).details.to_dict())


def test_groups_joined_by_a_number_are_the_classes(table: Any) -> None:
    people = {"q": ["1", "2", "3", "4"], "g": ["1", "1", "2", "2"]}
    sick = {"g": ["1", "1", "2", "2"], "s": ["a", "a", "a", "b"]}
    published = sf.Release(table=table(people), companions={"values": table(sick)}, joined_by="g")
    assert homogeneity(published, Q).fell == 2
    with pytest.raises(Unavailable):
        homogeneity(published, Q, control=table({"q": ["1"], "s": ["a"]}))


def test_refusals(release: Any, table: Any, refusal: Any) -> None:
    published = release({"q": ["1", "2"], "s": ["a", "b"]})
    for share in (0, 1.5, -1):
        refusal(InputError, lambda share=share: homogeneity(published, Q, share=share), "share")
    refusal(InputError, lambda: homogeneity(published, Roles(quasi=("q",))), "no sensitive column")
    refusal(Unavailable, lambda: homogeneity(release({"q": ["1"], "s": ["a"]}, statistics=True), Q), "statistics")
    noisy = release({"q": ["1"], "s": ["a"]}, perturbed=frozenset({"q"}))
    refusal(Unavailable, lambda: homogeneity(noisy, Q), "q")
    swapped = release({"q": ["1"], "s": ["a"]}, perturbed=frozenset({"s"}))
    refusal(Unavailable, lambda: homogeneity(swapped, Q), "s")
    refusal(InputError, lambda: homogeneity(published, Q, control=table({"q": ["1"]})), "s")
    refusal(InputError, lambda: homogeneity(published, Q, control=table({"q": ["7"], "s": ["a"]})), "covers")
    refusal(Unavailable, lambda: homogeneity(published, Roles(sensitive=("s",))), "quasi")
