"""What is measured of people with several unlinked rows: by number, by pairs, by the released values, and the bound that is left."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, Unavailable

ROLES = sf.Roles(quasi=("age",), sensitive=("ill",), person="who", people={"rows": "unlinked"})
WHO, AGE = list("aaabbc"), ["20", "20", "30", "20", "30", "30"]
ILL = ["flu", "flu", "flu", "hiv", "hiv", "cold"]
RAW = sf.read(pa.table({"who": WHO, "age": AGE, "ill": ILL}))
MADE = sf.read(pa.table({"age": AGE, "ill": ILL}))


def test_by_hand() -> None:
    """Class 20 holds a (2 of 3 rows) and b (1 of 2), class 30 a (1/3), b (1/2) and c: k is 2, and flu weighs 4/7 in class 20."""
    release = sf.Release(table=RAW)
    assert sf.k_anonymity(release, ROLES).value == 2
    assert sf.prosecutor_risk(release, ROLES).value == 0.5
    share = sf.positive_disclosure(release, ROLES).per_class
    assert share is not None
    assert share.tolist() == pytest.approx([(2 / 3) / (2 / 3 + 1 / 2), 1 / (1 / 3 + 1 / 2 + 1)])


@pytest.mark.parametrize("pairing", ["position", "none"])
def test_whose_a_row_is_comes_from_the_pairs_or_from_the_released_values(pairing: str) -> None:
    release = sf.Release(table=MADE, original=RAW, pairing=pairing)
    raw = sf.Release(table=RAW)
    for metric in (sf.k_anonymity, sf.entropy_l_diversity, sf.mutual_information, sf.t_closeness(ground="equal")):
        score, expected = metric(release, ROLES), metric(raw, ROLES)
        assert score.value == pytest.approx(expected.value)
        assert score.exactness == "exact"


def test_a_row_left_out_leaves_a_bound() -> None:
    fewer = sf.read(pa.table({"age": AGE[1:], "ill": ILL[1:]}))
    release = sf.Release(table=fewer, original=RAW)
    score = sf.k_anonymity(release, ROLES)
    assert (score.value, score.exactness) == (1, "bound")  # two rows may be of a, who has three
    with pytest.raises(Unavailable, match="whose each released row is"):
        sf.entropy_l_diversity(release, ROLES)


def test_other_rows_than_the_originals_are_refused() -> None:
    other = sf.read(pa.table({"age": AGE, "ill": ["flu", "flu", "flu", "hiv", "flu", "cold"]}))
    with pytest.raises(InputError, match="not those of the table"):
        sf.entropy_l_diversity(sf.Release(table=other, original=RAW), ROLES)


def test_without_the_original_nothing_is_said_of_people() -> None:
    with pytest.raises(Unavailable, match="--original"):
        sf.k_anonymity(sf.Release(table=MADE), ROLES)


def test_what_counts_rows_is_not_measured_and_worth_is() -> None:
    release = sf.Release(table=MADE, original=RAW, pairing="position")
    with pytest.raises(Unavailable, match="counts rows"):
        sf.rarest_combination(release, ROLES)
    assert sf.average_class_size(release, ROLES).value == 3
