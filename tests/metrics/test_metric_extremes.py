"""Every extreme that a metric's docstring names, reached through rows, counting and kernel."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import sfumato as sf
from house import Make, exactly, rows
from sfumato.core.errors import Unavailable
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("q",), sensitive=("s",))


def one_class(values: str) -> dict[str, list[str]]:
    return {"q": ["*"] * len(values), "s": list(values)}


def singletons(values: str) -> dict[str, list[str]]:
    return {"q": [str(i) for i in range(len(values))], "s": list(values)}


# --- class sizes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "all_unique", "all_alike"),
    [
        ("k_anonymity", 1, 8),
        ("prosecutor_risk", 1, 1 / 8),
        ("marketer_risk", 1, 1 / 8),
        ("journalist_risk", 1, 1 / 8),
        ("average_class_size", 1, 8),
        ("discernibility", 8, 64),
    ],
)
def test_all_unique_and_all_alike(release: Make, text: str, all_unique: float, all_alike: float) -> None:
    metric = sf.metric(text)
    assert metric(release(singletons("abcdabcd")), ROLES).value == all_unique
    assert metric(release(one_class("abcdabcd")), ROLES).value == all_alike


def test_a_single_unique_row_sets_k_and_prosecutor_risk(release: Make) -> None:
    published = release(rows(a="xxxxx", b="x", c="xxxx"))
    score = sf.k_anonymity(published, ROLES)
    assert (score.value, score.details) == (1, {"worst_classes": 1, "worst_rows": 1})
    assert sf.prosecutor_risk(published, ROLES).value == 1


def test_the_worst_classes_are_counted_with_their_rows(release: Make) -> None:
    score = sf.k_anonymity(release(rows(a="xxx", b="xx", c="xy")), ROLES)
    assert (score.value, score.details) == (2, {"worst_classes": 2, "worst_rows": 4})


# --- sensitive values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 7, 10, 13, 26])
def test_m_equally_frequent_values_are_m_diverse(release: Make, m: int) -> None:
    values = "abcdefghijklmnopqrstuvwxyz"[:m]
    published = release(rows(one=values * 3, two=values))
    assert sf.distinct_l_diversity(published, ROLES).value == m
    assert sf.entropy_l_diversity(published, ROLES).value == exactly(m)
    for name in ("distinct_l_diversity", "entropy_l_diversity"):
        assert sf.require(f"{name} >= {m}").check(published, ROLES).met, "rounding must not fail what meets its limit"
        assert not sf.require(f"{name} >= {m + 0.001}").check(published, ROLES).met


def test_one_class_of_one_value_is_1_diverse(release: Make) -> None:
    published = release(rows(a="abcdefg", b="aaaaa"))
    assert sf.distinct_l_diversity(published, ROLES).value == 1
    assert sf.entropy_l_diversity(published, ROLES).value == 1


@pytest.mark.parametrize(
    "text",
    [
        "t_closeness[equal]",
        "t_closeness[ordered]",
        "distribution_leakage",
        "entropy_leakage",
        "one_symbol_i1",
        "one_symbol_i2",
        "mutual_information",
    ],
)
def test_classes_like_the_table_give_0(release: Make, text: str) -> None:
    metric = sf.metric(text)
    score = metric(release(rows(a="112333", b="112333112333", c="1" * 6 + "2" * 3 + "3" * 9)), ROLES)
    assert score.value == exactly(0)
    assert metric(release(one_class("1222333")), ROLES).value == exactly(0)


@pytest.mark.parametrize(("m", "values"), [(2, "ab"), (4, "abcd"), (8, "abcdefgh")])
def test_one_value_against_m_equally_frequent_ones(release: Make, m: int, values: str) -> None:
    published = release(singletons(values * 2))
    assert sf.entropy_leakage(published, ROLES).value == exactly(math.log2(m))
    assert sf.one_symbol_i1(published, ROLES).value == exactly(math.log2(m))
    assert sf.one_symbol_i2(published, ROLES).value == exactly(math.log2(m))
    assert sf.mutual_information(published, ROLES).value == exactly(math.log2(m))
    assert sf.t_closeness(ground="equal")(published, ROLES).value == exactly(1 - 1 / m)
    assert sf.distribution_leakage(published, ROLES).value == exactly(math.sqrt((1 - 1 / m) ** 2 + (m - 1) / m**2))


def test_surprise_of_a_class_of_one_rare_value_is_its_information(release: Make) -> None:
    score = sf.one_symbol_i1(release(rows(a="y", b="xxxxxxx")), ROLES)
    assert score.value == exactly(3)  # -log2(1/8)
    assert score.per_class == exactly([3, -math.log2(7 / 8)])


def test_specific_information_is_h_for_one_value_and_falls_below_0_for_equal_ones(release: Make) -> None:
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    score = sf.one_symbol_i2(release(rows(a="xy", b="xx")), ROLES)
    assert score.per_class == exactly([entropy - 1, entropy])
    assert score.value == exactly(entropy)


def test_mutual_information_is_h_where_every_class_has_one_value(release: Make) -> None:
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert sf.mutual_information(release(rows(a="x", b="yy", c="y")), ROLES).value == exactly(entropy)


def test_distribution_leakage_stays_below_its_bound_and_comes_near(release: Make) -> None:
    score = sf.distribution_leakage(release(rows(a="y", b="x" * 9999)), ROLES)
    assert math.sqrt(2) * 0.999 < score.value < math.sqrt(2)


@pytest.mark.parametrize("ground", ["ordered", "equal"])
def test_t_comes_near_1_with_a_class_at_one_end_and_the_table_at_the_other(release: Make, ground: str) -> None:
    score = sf.t_closeness(ground=ground)(release(rows(a="1", b="9" * 9999)), ROLES)
    assert 0.999 < score.value < 1


def test_ordered_distance_grows_with_the_step_and_equal_distance_does_not(release: Make) -> None:
    near, far = (rows(a=v, b="1234567" * 20) for v in ("4", "7"))
    ordered, equal = sf.t_closeness(ground="ordered"), sf.t_closeness(ground="equal")
    assert ordered(release(near), ROLES).value < ordered(release(far), ROLES).value
    assert equal(release(near), ROLES).value == exactly(equal(release(far), ROLES).value)


def test_entropy_leakage_does_not_see_a_permutation_and_distribution_leakage_does(release: Make) -> None:
    """The erratum to Thm. 3(2): the same frequencies on other values are no change of entropy."""
    published = release(rows(a="xxxy", b="xxxxxyyy"))  # overall 8 to 4
    swapped = release(rows(a="xxxxyy", b="xxyyyy"))  # 6 to 6; 4 to 2 and 2 to 4
    assert sf.entropy_leakage(swapped, ROLES).per_class[0] == exactly(sf.entropy_leakage(swapped, ROLES).per_class[1])
    assert sf.entropy_leakage(published, ROLES).value > 0.01
    permuted = release({"q": ["a"] * 3 + ["b"] * 3 + ["c"] * 3, "s": list("xxy" + "yyz" + "zzx")})
    three = sf.entropy_leakage(permuted, ROLES).per_class
    assert three == exactly([three[0]] * 3)
    assert sf.distribution_leakage(permuted, ROLES).value > 0.3


# --- a population ----------------------------------------------------------------------------------------------------


def test_journalist_risk_with_a_population(release: Make) -> None:
    people = {"q": ["1"] * 10 + ["2"] * 5 + ["3"] * 5}
    roles = Roles(quasi=("q",))
    alike = sf.journalist_risk(release({"q": ["*", "*"]}, population=people), roles)
    assert (alike.value, alike.exactness) == (1 / 20, "exact")
    mixed = sf.journalist_risk(release({"q": ["1", "[2,3]", "[2,3]"]}, population=people), roles)
    assert mixed.per_class == exactly([1 / 10, 1 / 10])
    single = sf.journalist_risk(release({"q": ["1", "4"]}, population={"q": ["1", "1", "4"]}), roles)
    assert single.value == 1


def test_journalist_risk_without_a_population_is_a_bound(release: Make) -> None:
    score = sf.journalist_risk(release({"q": ["a", "a", "b", "b", "b"]}), Roles(quasi=("q",)))
    assert (score.value, score.exactness) == (0.5, "bound")


def test_a_population_smaller_than_the_release_is_not_believed(release: Make) -> None:
    score = sf.journalist_risk(release({"q": ["a", "a", "a"]}, population={"q": ["a"]}), Roles(quasi=("q",)))
    assert score.value == exactly(1 / 3)
    assert score.details == {"classes_larger_than_population": 1}


# --- utility ---------------------------------------------------------------------------------------------------------

ORIGINAL = {"q": ["1", "2", "3", "4"], "s": ["a", "b", "a", "b"]}
STARS = {**ORIGINAL, "q": ["*"] * 4}


@pytest.mark.parametrize(
    ("text", "identity", "suppressed"),
    [("iloss", 0, 1 - 1 / 4), ("information_loss", 0, 1), ("minimal_distortion", 0, 1)],
)
def test_identity_and_everything_suppressed(release: Make, text: str, identity: float, suppressed: float) -> None:
    metric = sf.metric(text)
    assert metric(release(ORIGINAL, ORIGINAL, pairing="position"), ROLES).value == identity
    assert metric(release(STARS, ORIGINAL, pairing="position"), ROLES).value == exactly(suppressed)


def test_iloss_by_hand(release: Make) -> None:
    published = {**ORIGINAL, "q": ["[1,2]", "[1,2]", "3", "{3, 4}"]}
    score = sf.iloss(release(published, ORIGINAL), ROLES)
    assert score.value == exactly((1 / 4 + 1 / 4 + 0 + 1 / 4) / 4)
    assert score.details["total"] == exactly(3 / 4)


def test_iloss_weighs_columns(release: Make) -> None:
    original = {"p": ["x", "y"], "q": ["1", "2"], "s": ["a", "b"]}
    published = {**original, "p": ["*", "*"]}
    for weights, value in (({}, 1 / 4), ({"p": 3}, 3 / 8), ({"q": 0}, 1 / 2), ({"p": 0}, 0)):
        roles = Roles(quasi=("p", "q"), sensitive=("s",), weights=weights)
        assert sf.iloss(release(published, original), roles).value == exactly(value)


def test_rows_left_out_cost_as_much_as_rows_suppressed(release: Make) -> None:
    half = {name: values[:2] for name, values in ORIGINAL.items()}
    assert sf.discernibility(release(half, ORIGINAL), ROLES).value == 1 + 1 + 2 * 4
    assert sf.iloss(release(half, ORIGINAL), ROLES).value == exactly((1 - 1 / 4) / 2)


def test_minimal_distortion_counts_cells(release: Make) -> None:
    original = {"p": ["x", "y", None], "q": ["1", "2", "3"], "k": ["i", "j", "l"]}
    published = {"p": ["x", "*", ""], "q": ["[1,2]", "2", "3"], "k": ["i", "j", "l"]}
    roles = Roles(quasi=("p", "q"))
    by_position = release(published, original, pairing="position")
    assert sf.minimal_distortion(by_position, roles).value == exactly(2 / 6)
    turned = {name: values[::-1] for name, values in published.items()}
    by_key = release(turned, original, pairing="key:k")
    assert sf.minimal_distortion(by_key, roles).value == exactly(2 / 6)


def test_a_table_that_tells_nothing_has_nothing_to_lose(release: Make, refusal: Callable[..., str]) -> None:
    same = rows(a="xy", b="xy")
    refusal(Unavailable, lambda: sf.information_loss(release(same, same), ROLES), "information_loss")
