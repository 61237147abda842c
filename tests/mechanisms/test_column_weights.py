"""Columns that count by what users lose without them: known numbers, extremes, and that it serves counting queries."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.roles import Roles
from sfumato.mechanisms.parameters.column_weights import missed, with_column_weights

USE = sf.metric("query_error[ranges]")


def _flags() -> tuple[sf.Table, Roles]:
    """Answers of which few are yes, one of which half are, and an age."""
    rng = np.random.default_rng(3)
    shares = (0.04, 0.06, 0.1, 0.5)
    columns = {f"q{i}": np.where(rng.random(400) < share, "yes", "no") for i, share in enumerate(shares)}
    table = sf.read(pa.table({**columns, "age": rng.integers(18, 60, 400), "ill": rng.choice(list("abc"), 400)}))
    return table, Roles(quasi=(*columns, "age"), sensitive=("ill",))


@pytest.mark.parametrize("ordered", [False, True])
def test_extremes(ordered: bool) -> None:
    assert missed(np.full(20, 7), ordered=ordered) == pytest.approx(0)
    assert missed(np.array([5]), ordered=ordered) == 0  # one value: nothing is lost with it


def test_known_numbers() -> None:
    # 97 no, 3 yes, and queries for one of the two: each would be counted at half of the rows
    no, yes = abs(0.5 - 0.97) / 0.97, abs(0.5 - 0.03) / 0.03
    assert missed(np.array([97, 3]), ordered=True) == pytest.approx((no + yes) / 2)
    assert missed(np.array([3, 97]), ordered=False) == pytest.approx((no + yes) / 2)
    # ten values, ranges of three: 90 rows have the first, which one range of eight holds; the others hold 3 or 4 rows
    rows = np.array([90, 2, 1, 1, 1, 1, 1, 1, 1, 1])
    shares = np.array([93, 4, 3, 3, 3, 3, 3, 3]) / 100
    assert missed(rows, ordered=True) == pytest.approx(float((np.abs(shares - 0.3) / shares).mean()))


def test_the_owners_weights_stay_unless_asked_and_count_where_asked() -> None:
    table, roles = _flags()
    counts = table.count(roles.quasi)
    assert with_column_weights(roles, counts, "owner") is roles
    by_use = with_column_weights(roles, counts, "use").weights
    assert by_use["q0"] == 1 > by_use["q1"] > by_use["q2"] > by_use["q3"] >= 0.02
    twice = Roles(quasi=roles.quasi, sensitive=roles.sensitive, weights={"q1": 2.0})
    assert with_column_weights(twice, counts, "use").weights["q1"] == pytest.approx(2 * by_use["q1"])


@pytest.mark.parametrize(
    "make",
    [
        lambda weigh: sf.KMember(k=10, weigh=weigh),
        lambda weigh: sf.Mondrian(k=10, improve=True, weigh=weigh),
    ],
    ids=["k_member", "mondrian"],
)
def test_queries_are_answered_better_where_few_say_yes(make) -> None:  # type: ignore[no-untyped-def]
    table, roles = _flags()
    by_owner, by_use = (USE(make(weigh)(table, roles), roles).value for weigh in ("owner", "use"))
    assert by_use < 0.9 * by_owner


def test_local_suppression_takes_them_as_importance() -> None:
    rng = np.random.default_rng(3)
    columns = {
        f"q{i}": np.where(rng.random(400) < share, "yes", "no") for i, share in enumerate((0.04, 0.06, 0.1, 0.5))
    }
    columns["town"] = rng.choice(list("stuvwxyz"), 400)
    table, roles = sf.read(pa.table(columns)), Roles(quasi=tuple(columns))
    weights = with_column_weights(roles, table.count(roles.quasi), "use").weights
    stated = ",".join(f"{name}={weight}" for name, weight in weights.items())
    by_use = sf.LocalSuppression(k=5, weigh="use")(table, roles).to_arrow()
    assert by_use == sf.LocalSuppression(k=5, importance=stated)(table, roles).to_arrow()
    assert by_use != sf.LocalSuppression(k=5)(table, roles).to_arrow()


def test_mondrian_cuts_first_where_the_weights_are() -> None:
    # one cut by either column is allowed, and after that by age a class has too few rows for one by the answer
    rows = [("yes", age) for age in range(10)] + [("no", age) for age in range(10) for _ in range(3)]
    table = sf.read(pa.table({"answer": [answer for answer, _ in rows], "age": [age for _, age in rows]}))
    answers = {}
    for weight in (1.0, 100.0):
        roles = Roles(quasi=("answer", "age"), weights={"age": weight})
        answers[weight] = set(sf.Mondrian(k=10)(table, roles).to_arrow()["answer"].to_pylist())
    assert answers == {1.0: {"no", "yes"}, 100.0: {"*"}}


def test_weights_by_use_choose_other_levels() -> None:
    table, roles = _flags()
    levels = {
        weigh: sf.GeneralizeFullDomain(k=10, minimise="iloss", weigh=weigh)(table, roles).notes
        for weigh in ("owner", "use")
    }
    assert levels["owner"] != levels["use"]


def test_no_weights_by_use_where_rows_stay_joined() -> None:
    table = sf.read(pa.table({"who": [1, 1, 2, 2], "age": [3, 4, 5, 6]}))
    roles = Roles(quasi=("age",), person="who", people={"rows": "linked"})
    with pytest.raises(sf.InputError, match="weigh does not work where the rows of a person stay joined"):
        sf.Mondrian(k=2, weigh="use")(table, roles)


def test_spelling_says_nothing() -> None:
    table, roles = _flags()
    other = table.to_arrow()
    for name in ("q0", "q1", "q2", "q3"):
        other = other.set_column(
            other.column_names.index(name), name, pa.array([{"yes": "a", "no": "b"}[v.as_py()] for v in other[name]])
        )
    weights = [with_column_weights(roles, t.count(roles.quasi), "use").weights for t in (table, sf.read(other))]
    assert weights[0] == weights[1]
