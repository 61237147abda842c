"""Releases in two tables that groups join: what every registered metric says of them, against tables written out in full."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import Refusal, in_memory
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.metric import Metric
from sfumato.core.release import Release
from sfumato.inspect.queries import given_queries
from sfumato.metrics import everything

TREE = Hierarchy.of("ill", [(f"v{i}", f"w{i // 3}", "*") for i in range(7)])
ORDERS = {"town": ("Bern", "Oslo", "Rome"), "ill": tuple(f"v{i}" for i in range(7))}
ROLES = sf.Roles(quasi=("age", "town"), sensitive=("ill",), hierarchies={"ill": TREE}, orders=ORDERS)
SIDE_BY_SIDE = {
    "multi_attribute_l_diversity", "n_t_closeness", "p_sensitive_k_anonymity", "personalized_breach",
    "entropy_utility", "igpl", "information_loss", "utility_degradation",
}  # fmt: skip
"""What no groups can answer."""
L = 3


def rows(count: int = 60) -> dict[str, list[Any]]:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 4, count)
    return {
        "age": [None if a == 3 and i % 5 == 0 else int(20 + 10 * a) for i, a in enumerate(age)],
        "town": [["Rome", "Oslo", "Bern"][i] for i in rng.integers(0, 3, count)],
        "ill": [None if i % 11 == 0 else f"v{(a + k) % 7}" for i, (a, k) in enumerate(zip(age, rng.integers(0, 3, count), strict=True))],
        "group": [f"g{i // L}" for i in range(count)],
    }  # fmt: skip


def joined(data: dict[str, list[Any]], **more: Any) -> Release:
    """Published in two tables, the second in an order of its own."""
    order = np.random.default_rng(8).permutation(len(data["ill"])).tolist()
    apart = {name: [data[name][i] for i in order] for name in ("ill", "group")}
    return Release(
        table=in_memory({name: data[name] for name in ("age", "group", "town")}),
        original=in_memory({name: data[name] for name in ("age", "town", "ill")}),
        companions={"sensitive": in_memory(apart)},
        joined_by="group",
        **more,
    )


def every_way(data: dict[str, list[Any]], names: tuple[str, ...]) -> dict[str, list[Any]]:
    """Each row once with each sensitive value of its group: all the ways to join, written out."""
    found: dict[str, list[Any]] = {name: [] for name in names}
    for i, group in enumerate(data["group"]):
        for j, other in enumerate(data["group"]):
            if group == other:
                for name in names:
                    found[name].append(data[name][j if name == "ill" else i])
    return found


def told(metric: Metric, release: Release, roles: sf.Roles) -> Any:
    try:
        return metric(release, roles)
    except Unavailable as reason:
        return str(reason)


def same(one: Any, two: Any) -> bool:
    if isinstance(one, str) or isinstance(two, str):
        return isinstance(one, str) and isinstance(two, str)
    if one.per_class is not None and sorted(one.per_class) != pytest.approx(sorted(two.per_class), rel=1e-9, abs=1e-9):
        return False
    return bool(one.value == pytest.approx(two.value, rel=1e-9, abs=1e-9))


@pytest.mark.parametrize("metric", everything(ROLES), ids=str)
def test_every_metric_answers_for_groups_or_refuses(metric: Metric) -> None:
    data = rows()
    population = in_memory({name: data[name] * 2 for name in ("age", "town")})
    release = joined(data, pairing="position", population=population)
    if metric.card.name == "query_error":  # the same queries, and the same least count, however often a row is repeated
        metric = metric.set(predicates="ranges", sanity=1 / 60)
    found = told(metric, release, ROLES)
    name, needs = metric.card.name, metric.card.needs
    if name in SIDE_BY_SIDE:
        assert isinstance(found, str)
        assert "side by side" in found
        assert "'group'" in found
        return
    if "sensitive" in needs:  # the groups are its classes: as if they were all that is known of anyone
        plain = Release(table=in_memory({"group": data["group"], "ill": data["ill"]}), original=in_memory(data))
        expected = told(metric, plain, replace(ROLES, quasi=("group",)))
    elif name in ("column_distance", "pair_distance", "query_error"):  # the sum over all ways to join, each as likely
        names = ("age", "town", "ill")
        full = every_way(data, names)
        expected = told(metric, Release(table=in_memory(full), original=in_memory({n: [v for v in data[n] for _ in range(L)] for n in names})), ROLES)  # fmt: skip
    else:  # the quasi-identifiers, which are as exact as they stand in the table
        table = in_memory({n: data[n] for n in ("age", "town")})
        expected = told(
            metric, Release(table=table, original=release.original, pairing="position", population=population), ROLES
        )
    assert same(found, expected), (found, expected)
    assert not isinstance(found, str) or name in ("xy_anonymity", "multir_anonymity", "individual_risk")
    if not isinstance(found, str):
        assert re.search(r"[.)]$", metric.sentence(found.value))


def test_what_is_side_by_side_is_told_by_the_card() -> None:
    assert {metric.card.name for metric in everything(ROLES) if not metric.card.apart} == SIDE_BY_SIDE


def test_extremes() -> None:
    """One group of everybody tells nothing; a group for everyone tells everything."""
    data = rows()
    alone = joined(data | {"group": [str(i) for i in range(60)]})
    assert sf.metric("alpha_anonymity")(alone, ROLES).value == 1
    assert sf.metric("distinct_l_diversity")(alone, ROLES).value == 1
    assert sf.metric("query_error")(alone, ROLES).value == pytest.approx(0, abs=1e-12)
    assert sf.metric("pair_distance")(alone, ROLES).value == pytest.approx(0, abs=1e-12)
    whole = joined(data | {"group": ["all"] * 60})
    assert sf.metric("t_closeness[equal]")(whole, ROLES).value == pytest.approx(0, abs=1e-12)
    assert sf.metric("mutual_information")(whole, ROLES).value == pytest.approx(0, abs=1e-9)
    asked = given_queries(whole, ROLES, [{"ill": ["v1"], "town": ["Rome"]}, {"ill": [None]}, {"town": ["Rome"]}])
    ill, rome = data["ill"].count("v1"), data["town"].count("Rome")
    assert asked.estimate == pytest.approx([ill * rome / 60, data["ill"].count(None), rome])
    for release in (alone, whole):
        assert sf.k_anonymity(release, ROLES).value == sf.k_anonymity(joined(data), ROLES).value


def test_groups_of_several_sizes_weigh_by_their_rows() -> None:
    """Groups of 1, 2 and 3 rows: the answer is the sum over the groups of rows there times share there."""
    data = {"age": [1, 2, 2, 1, 1, 2], "town": ["x"] * 6, "ill": list("aabaab"), "group": list("pqqrrr")}
    found = given_queries(joined(data), ROLES, [{"age": [1], "ill": ["a"]}, {"age": [2], "ill": ["b"]}])
    assert found.estimate == pytest.approx([1 * 1 + 0 + 2 * 2 / 3, 0 + 2 * 1 / 2 + 1 * 1 / 3])


def test_a_group_may_be_missing_or_a_number_on_one_side() -> None:
    data = rows()
    data["group"] = [None if i < L else str(i // L) for i in range(60)]
    texts = joined(data)
    numbers = replace(texts, companions={"s": in_memory({"group": pa.array([None if g is None else int(g) for g in data["group"]], pa.int64()), "ill": data["ill"]})})  # fmt: skip
    for metric in ("alpha_anonymity", "query_error", "t_closeness[equal]", "pair_distance"):
        assert sf.metric(metric)(texts, ROLES).value == sf.metric(metric)(numbers, ROLES).value


def test_permuted_columns_are_split_by_group_in_the_table_itself() -> None:
    data = rows()
    table, original = in_memory(data), in_memory({name: data[name] for name in ("age", "town", "ill")})
    permuted = Release(table=table, original=original, joined_by="group", perturbed=frozenset({"ill"}))
    for metric in ("alpha_anonymity", "t_closeness[equal]", "query_error", "pair_distance", "k_anonymity"):
        assert sf.metric(metric)(permuted, ROLES).value == sf.metric(metric)(joined(data), ROLES).value
    with pytest.raises(Unavailable, match="side by side"):
        sf.metric("information_loss")(permuted, ROLES)
    as_it_is = Release(
        table=table, original=original, joined_by="group"
    )  # a column that was not permuted is told with the row
    plain = Release(table=table, original=original)
    assert sf.metric("alpha_anonymity")(as_it_is, ROLES).value == sf.metric("alpha_anonymity")(plain, ROLES).value
    assert sf.metric("query_error")(as_it_is, ROLES).value == 0


def test_a_column_in_both_tables_is_told_with_the_row() -> None:
    """Who publishes the sensitive column beside the quasi-identifiers too has published it."""
    data = rows()
    both = replace(joined(data), table=in_memory(data))
    plain = Release(table=in_memory(data))
    assert sf.metric("alpha_anonymity")(both, ROLES).value == sf.metric("alpha_anonymity")(plain, ROLES).value


def test_several_sensitive_columns_in_tables_of_their_own() -> None:
    data = rows()
    data["pay"] = [i % 2 for i in range(60)]
    roles = sf.Roles(quasi=("age", "town"), sensitive=("ill", "pay"))
    two = Release(
        table=in_memory({name: data[name] for name in ("age", "group", "town")}),
        original=in_memory({name: data[name] for name in ("age", "town", "ill", "pay")}),
        companions={name: in_memory({"group": data["group"], name: data[name]}) for name in ("ill", "pay")},
        joined_by="group",
    )
    assert sf.metric("distinct_l_diversity(pay)")(two, roles).value == 2
    assert sf.metric("alpha_anonymity")(two, roles).value == max(
        sf.metric(f"alpha_anonymity({name})")(two, roles).value for name in ("ill", "pay")
    )
    found = given_queries(two, roles, [{"pay": [1], "ill": ["v1"], "age": [20]}])
    expected = 0.0
    for group in set(data["group"]):
        here = [i for i in range(60) if data["group"][i] == group]
        counts = [sum(data[n][i] == v for i in here) for n, v in (("pay", 1), ("ill", "v1"), ("age", 20))]
        expected += np.prod(counts) / len(here) ** 2
    assert found.estimate.tolist() == [pytest.approx(expected)]
    assert 0 <= sf.metric("pair_distance")(two, roles).value <= 1


def test_tables_that_do_not_belong_together_are_refused(refusal: Refusal) -> None:
    data = rows()
    good = joined(data)
    fewer = {name: data[name][:-1] for name in ("ill", "group")}
    moved = {"ill": data["ill"], "group": ["g1", *data["group"][1:]]}
    for apart in (fewer, moved):
        bad = replace(good, companions={"sensitive": in_memory(apart)})
        for metric in ("alpha_anonymity", "query_error", "pair_distance"):
            refusal(InputError, lambda bad=bad, metric=metric: sf.metric(metric)(bad, ROLES), "'group'", "other rows")
    elsewhere = replace(good, joined_by="class")
    refusal(InputError, lambda: sf.metric("alpha_anonymity")(elsewhere, ROLES), "no column 'class'", "--joined-by")
    without = replace(good, companions={})
    refusal(InputError, lambda: sf.metric("alpha_anonymity")(without, ROLES), "'ill'", "--companion")
    unjoined = replace(good, companions={"sensitive": in_memory({"ill": data["ill"]})})
    refusal(InputError, lambda: sf.metric("alpha_anonymity")(unjoined, ROLES), "'ill'", "--companion")
