"""Leakage for any combination and any prior, the choice of quasi-identifiers, and the distances: by brute force."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import distance

import sfumato as sf
from house import Make
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.inspect import priors
from sfumato.inspect.ipf import ipf
from sfumato.inspect.leakage import Joint, Margins, Overall, distances, leakage, qid_choices

ROLES = Roles(quasi=("zip", "age"), sensitive=("s",))


def near(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9)


def randoms(seed: int, rows: int = 120) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    zip_, age, sex = rng.integers(0, 4, rows), rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    s = np.where(rng.random(rows) < 0.5, (zip_ + age) % 5, rng.integers(0, 5, rows))
    return {
        "zip": [f"z{v}" if v else None for v in zip_],
        "age": [str(20 + 10 * v) for v in age],
        "sex": ["fm"[v] for v in sex],
        "s": [f"v{v}" if v else None for v in s],
    }


def brute(columns: dict[str, list[Any]], given: tuple[str, ...], about: str) -> dict[Any, Counter[Any]]:
    found: dict[Any, Counter[Any]] = {}
    for i, value in enumerate(columns[about]):
        found.setdefault(tuple(columns[name][i] for name in given), Counter())[value] += 1
    return found


def entropy(p: Any) -> float:
    return float(stats.entropy(np.asarray(list(p), dtype=float), base=2))


def keys(found: Any) -> list[tuple[str | None, ...]]:
    """The values of each class, in its order."""
    return [tuple(c.texts[k[i]] for c, k in zip(found.tuples.columns, found.tuples.codes, strict=True)) for i in range(len(found))]  # fmt: skip


def expect(found: Any, prior: Callable[[Any], dict[Any, float]], classes: dict[Any, Counter[Any]]) -> None:
    """L_D, L_E and what vanished, by the definitions, for each class."""
    assert len(found) == len(classes)
    for i, key in enumerate(keys(found)):
        a, n = prior(key), classes[key]
        x = {v: c / n.total() for v, c in n.items()}
        both = {*a, *x}
        l_d = math.sqrt(sum((a.get(v, 0) - x.get(v, 0)) ** 2 for v in both))
        assert found.rows[i] == n.total()
        assert found.distribution[i] == near(l_d)
        assert found.entropy[i] == near(abs(entropy(a.values()) - entropy(x.values())))
        assert found.vanished[i] == sum(1 for v in a if a[v] > 0 and v not in x)
        before, after = found.belief(i)
        assert sorted(before[before > 0]) == near(sorted(w for w in a.values() if w > 0))
        assert sorted(after[after > 0]) == near(sorted(x.values()))
        assert np.sqrt(((before - after) ** 2).sum()) == near(l_d)


def share(counter: Any) -> dict[Any, float]:
    whole = sum(counter.values())
    return {v: c / whole for v, c in counter.items()}


# --- the overall distribution ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given_", [("zip",), ("age", "zip"), ("sex", "s"), ("zip", "age", "sex")])
@pytest.mark.parametrize("seed", [0, 1])
def test_any_combination_by_the_definition(release: Make, given_: tuple[str, ...], seed: int) -> None:
    columns = randoms(seed)
    about = "s" if "s" not in given_ else "age"
    found = leakage(release(columns), ROLES, given=given_, about=about, prior=Overall())
    overall = share(Counter(columns[about]))
    classes = brute(columns, given_, about)
    expect(found, lambda key: overall, classes)
    where = Counter(v for n in classes.values() for v in n)
    alone = [sum(1 for v in classes[key] if where[v] == 1) for key in keys(found)]
    assert found.only_here.tolist() == alone
    assert found.values_in_one_class == sum(1 for v in where.values() if v == 1)
    assert found.vanished_pairs == len(classes) * len(overall) - sum(len(n) for n in classes.values())


def test_over_the_quasi_identifiers_it_is_the_metrics(release: Make) -> None:
    published = release(randoms(2))
    found = leakage(published, ROLES, given=ROLES.quasi, about="s")
    for values, metric in ((found.distribution, sf.distribution_leakage), (found.entropy, sf.entropy_leakage)):
        assert values == near(metric(published, ROLES).per_class)
    assert found.worst == (sf.distribution_leakage(published, ROLES).value, sf.entropy_leakage(published, ROLES).value)
    assert found.unseen == 0


def test_one_class_leaks_nothing(release: Make) -> None:
    found = leakage(release({"q": ["*"] * 4, "s": list("xxyz")}), ROLES, given=("q",), about="s")
    assert found.worst == (0.0, 0.0)
    assert (found.vanished_pairs, found.values_in_one_class) == (0, 0)


def test_example_5_names_what_exists_in_one_class_only(release: Make) -> None:
    """Afifi, Ex. 5: who has the third value is in the third class; it vanishes from the other two. L_D is sqrt 32 / 12."""
    columns = {"q": list("aaaabbbbcccc"), "s": list("xxxy" + "xxxy" + "xyzz")}
    found = leakage(release(columns), ROLES, given=("q",), about="s", show_values=True)
    assert found.distribution == near([math.sqrt(8) / 12, math.sqrt(8) / 12, math.sqrt(32) / 12])
    assert found.entropy == pytest.approx([0.5732, 0.5732, 0.1156], abs=5e-5)
    assert found.vanished.tolist() == [1, 1, 0]
    assert found.only_here.tolist() == [0, 0, 1]
    assert found.values(0) == {"vanished": ["z"], "only_here": []}
    assert found.values(2) == {"vanished": [], "only_here": ["z"]}


def test_values_are_not_shown_unless_asked_for(release: Make, refusal: Any, canary: str) -> None:
    columns = {"q": list("ab"), "s": [canary, "y"]}
    found = leakage(release(columns), ROLES, given=("q",), about="s")
    refusal(Unavailable, lambda: found.values(0), "show_values=True")
    assert canary not in json.dumps(found.table())
    assert [row["class"] for row in found.table(1)] == [1]
    assert found.table()[0]["vanished"] == 1


# --- a joint estimate ------------------------------------------------------------------------------------------------


def test_the_example_after_definition_4(release: Make) -> None:
    """P(Cancer and 5*) is thought to be 4 of 25 in a hundred and is published as 7: from 16/100 to 28/100."""
    columns = {"age": ["5*"] * 25 + ["4*"] * 75, "s": ["Cancer"] * 7 + ["Flu"] * 18 + ["Cancer"] * 3 + ["Flu"] * 72}
    estimate = {("5*", "Cancer"): 0.04, ("5*", "Flu"): 0.21, ("4*", "Cancer"): 0.06, ("4*", "Flu"): 0.69}
    found = leakage(release(columns), ROLES, given=("age",), about="s", prior=Joint(estimate))
    at = keys(found).index(("5*",))
    before, after = found.belief(at)
    assert before.tolist() == near([0.16, 0.84])
    assert after.tolist() == near([0.28, 0.72])
    assert found.distribution[at] == near(0.12 * math.sqrt(2))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_external_table_by_the_definition(release: Make, table: Any, seed: int) -> None:
    columns, outside = randoms(seed), randoms(seed + 100, rows=900)
    outside["s"] = ["elsewhere" if i % 7 == 0 else v for i, v in enumerate(outside["s"])]  # a value the release lacks
    found = leakage(release(columns), ROLES, given=("zip", "age"), about="s", prior=Joint(table(outside)))
    theirs = brute(outside, ("zip", "age"), "s")
    expect(found, lambda key: share(theirs[key]), brute(columns, ("zip", "age"), "s"))


def test_the_release_itself_as_prior_leaks_nothing(release: Make) -> None:
    published = release(randoms(3))
    found = leakage(published, ROLES, given=("zip", "age"), about="s", prior=Joint(published.table))
    assert found.distribution == near([0.0] * len(found))
    assert found.entropy == near([0.0] * len(found))
    assert found.vanished_pairs == 0


AGES = {"[20,30]": (20, 30), ">30": (40,), "*": (20, 30, 40), "20-30": (20, 30), "{30, 40}": (30, 40), "40": (40,)}


@pytest.mark.parametrize("labels", [("[20,30]", ">30"), ("[20,30]", ">30", "*"), ("20-30", "{30, 40}"), ("*",), ("40", "20-30")])  # fmt: skip
@pytest.mark.parametrize("block", [1, 5_000_000])
def test_generalized_classes_stand_for_what_they_cover(
    release: Make, table: Any, labels: tuple[str, ...], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Disjoint labels take one way and overlapping ones another; both are the sum over the covered rows."""
    monkeypatch.setattr(priors, "_BLOCK", block)
    rng = np.random.default_rng(4)
    columns = {
        "zip": [f"z{v}" for v in rng.integers(1, 3, 60)],
        "age": [labels[v % len(labels)] for v in range(60)],
        "s": [f"v{v}" for v in rng.integers(0, 4, 60)],
    }
    outside = randoms(5, rows=600)
    outside["zip"] = ["z1" if z in (None, "z3") else z for z in outside["zip"]]
    found = leakage(release(columns), ROLES, given=("zip", "age"), about="s", prior=Joint(table(outside)))

    def prior(key: Any) -> dict[Any, float]:
        rows = zip(outside["zip"], outside["age"], outside["s"], strict=True)
        return share(Counter(s for z, a, s in rows if z == key[0] and int(a) in AGES[key[1]]))

    expect(found, prior, brute(columns, ("zip", "age"), "s"))


def test_a_generalized_attribute_is_asked_in_its_released_values(release: Make, table: Any) -> None:
    columns = {"sex": ["f", "f", "m", "m"], "age": ["[20,30]", ">30", ">30", ">30"]}
    outside = {"sex": ["f"] * 4 + ["m"] * 4, "age": [20, 25, 30, 44, 20, 50, 51, 52]}
    found = leakage(release(columns), ROLES, given=("sex",), about="age", prior=Joint(table(outside)))
    expect(
        found,
        lambda key: {"[20,30]": 0.75, ">30": 0.25} if key == ("f",) else {"[20,30]": 0.25, ">30": 0.75},
        brute(columns, ("sex",), "age"),
    )


def test_an_attribute_whose_released_values_overlap_is_refused(release: Make, table: Any, refusal: Any) -> None:
    published = release({"sex": ["f", "m"], "age": ["[20,30]", "[30,40]"]})
    outside = table({"sex": ["f", "m"], "age": [30, 30]})
    refusal(Unavailable, lambda: leakage(published, ROLES, given=("sex",), about="age", prior=Joint(outside)), "'age'")


def test_classes_that_the_prior_does_not_know(release: Make, table: Any, refusal: Any) -> None:
    published = release({"q": list("aabbc"), "s": list("xyxxy")})
    outside = table({"q": list("aab"), "s": list("xxy")})
    ask = lambda **more: leakage(published, ROLES, given=("q",), about="s", prior=Joint(outside, **more))  # noqa: E731
    refusal(Unavailable, ask, "1 of the 3", "unseen='overall'")
    found = ask(unseen="overall")
    assert found.unseen == 1
    assert found.distribution == near([math.sqrt(0.5), math.sqrt(2), math.sqrt(2) * 0.6])
    assert found.vanished.tolist() == [0, 1, 1]
    assert found.belief(2)[0].tolist() == near([0.6, 0.4])
    nowhere = Joint(table({"q": ["z"], "s": ["x"]}), unseen="overall")
    refusal(Unavailable, lambda: leakage(published, ROLES, given=("q",), about="s", prior=nowhere), "3 of the 3")


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        ({("a",): 1.0}, "a value for each of q, s"),
        ({("a", "x"): -1.0, ("a", "y"): 2.0}, "at least 0"),
        ({("a", "x"): math.nan}, "at least 0"),
        ({("a", "x"): 0.0}, "not all of them 0"),
        ({}, "not all of them 0"),
    ],
)
def test_an_estimate_that_is_none_is_refused(release: Make, refusal: Any, estimate: Any, words: str) -> None:
    published = release({"q": list("ab"), "s": list("xy")})
    refusal(InputError, lambda: leakage(published, ROLES, given=("q",), about="s", prior=Joint(estimate)), words)


def test_columns_that_are_not_there_or_twice(release: Make, table: Any, refusal: Any) -> None:
    published = release({"q": list("ab"), "s": list("xy")})
    ask = lambda **more: lambda: leakage(published, ROLES, **{"given": ("q",), "about": "s", **more})  # noqa: E731
    refusal(InputError, ask(given=("nowhere",)), "'nowhere'")
    refusal(InputError, ask(about="q"), "'q'", "twice")
    refusal(InputError, ask(given=()), "at least one")
    refusal(InputError, ask(prior=Joint(table({"q": ["a"]}))), "'s'")


# --- margins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 4), (2, 2, 2, 3)])
def test_ipf_of_one_way_margins_is_independence(shape: tuple[int, ...]) -> None:
    counts = np.random.default_rng(len(shape)).integers(1, 9, shape).astype(float)
    ones = [((i,), counts.sum(tuple(a for a in range(len(shape)) if a != i))) for i in range(len(shape))]
    table, rounds = ipf(ones, shape)
    wanted = counts.sum()
    for i, sums in enumerate(margin / counts.sum() for _, margin in ones):
        wanted = wanted * sums.reshape([-1 if a == i else 1 for a in range(len(shape))])
    assert table == near(wanted)
    assert rounds <= 2


def test_ipf_reaches_its_margins_and_no_third_order_interaction() -> None:
    """All pairs of three attributes: the fit has the margins, and every odds ratio is the same at either level."""
    counts = np.random.default_rng(0).integers(1, 30, (2, 2, 2)).astype(float)
    pairs = [(kept, counts.sum(3 - sum(kept))) for kept in itertools.combinations(range(3), 2)]
    table, _ = ipf([(kept[::-1], sums.T) for kept, sums in pairs], (2, 2, 2), tolerance=1e-13)  # axes in any order
    for kept, sums in pairs:
        assert table.sum(3 - sum(kept)) == pytest.approx(sums, abs=1e-9)
    odds = table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0])
    assert odds[0] == pytest.approx(odds[1], rel=1e-6)
    assert entropy(table.ravel()) >= entropy(counts.ravel()) - 1e-12


def test_ipf_of_the_whole_table_is_the_table_and_keeps_empty_cells() -> None:
    counts = np.array([[3.0, 0.0, 1.0], [0.0, 0.0, 5.0]])
    assert ipf([((0, 1), counts)], (2, 3))[0].tolist() == counts.tolist()
    assert ipf([], (2, 3))[0] == near(np.full((2, 3), 1 / 6))


def test_ipf_refuses_what_does_not_fit(refusal: Any) -> None:
    apart = [((0,), np.array([3.0, 1.0])), ((0,), np.array([1.0, 3.0]))]
    refusal(Unavailable, lambda: ipf(apart, (2, 2)), "do not fit together")
    refusal(Unavailable, lambda: ipf([((0,), np.array([0.0, 0.0]))], (2, 2)), "not all of them 0")
    with pytest.raises(ValueError, match="shape"):
        ipf([((0,), np.ones(3))], (2, 2))


def test_margins_of_order_one_are_the_overall_distribution(release: Make) -> None:
    published = release(randoms(6))
    ask = {"given": ("zip", "age"), "about": "s"}
    found, overall = leakage(published, ROLES, **ask, prior=Margins(1)), leakage(published, ROLES, **ask)
    assert found.distribution == near(overall.distribution)
    assert found.entropy == near(overall.entropy)
    assert found.vanished.tolist() == overall.vanished.tolist()


def test_margins_of_full_order_leave_nothing_to_leak(release: Make) -> None:
    found = leakage(release(randoms(6)), ROLES, given=("zip", "age"), about="s", prior=Margins(3))
    assert found.distribution == near([0.0] * len(found))


@pytest.mark.parametrize("seed", range(4))
def test_a_chain_of_margins_has_a_closed_form(release: Make, seed: int) -> None:
    """(zip, age), (age, s): s depends on zip through age alone, so the prior is p(s|age)."""
    columns = randoms(seed, rows=300)
    chain = Margins([("zip", "age"), ("age", "s")])
    found = leakage(release(columns), ROLES, given=("zip", "age"), about="s", prior=chain)
    by_age = brute(columns, ("age",), "s")
    expect(found, lambda key: share(by_age[(key[1],)]), brute(columns, ("zip", "age"), "s"))


def test_margins_of_another_table_are_rolled_up_to_the_released_values(release: Make, table: Any) -> None:
    columns = {
        "zip": ["z1", "z2", "z1", "z2"],
        "age": ["[20,30]", ">30", ">30", "[20,30]"],
        "s": ["v1", "v2", "v3", "v4"],
    }
    outside = randoms(7, rows=500)
    chain = Margins([("zip", "age"), ("age", "s")], table=table(outside))
    found = leakage(release(columns), ROLES, given=("zip", "age"), about="s", prior=chain)
    inside = [
        ("[20,30]" if a != "40" else ">30", s)
        for z, a, s in zip(outside["zip"], outside["age"], outside["s"], strict=True)
        if z in ("z1", "z2")
    ]
    prior = {label: share(Counter(s for a, s in inside if a == label)) for label in ("[20,30]", ">30")}
    expect(found, lambda key: prior[key[1]], brute(columns, ("zip", "age"), "s"))


def test_more_margins_say_more(release: Make) -> None:
    """The distance of the release from its pairs is at most that from independence, in the Kullback-Leibler sense."""
    published = release(randoms(8, rows=400))
    far = []
    for order in (1, 2, 3):
        found = leakage(published, ROLES, given=("zip", "age"), about="s", prior=Margins(order))
        kl = [stats.entropy(x[a > 0], a[a > 0], base=2) for a, x in map(found.belief, range(len(found)))]
        far.append(float(np.average(kl, weights=found.rows)))
    assert far[0] >= far[1] >= far[2]
    assert far[0] > far[1] + 0.01
    assert far[2] == near(0)


def test_margins_that_cannot_be(release: Make, table: Any, refusal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    published = release({"q": ["[1,2]", "[2,3]"], "s": list("xy")})
    ask = lambda *prior, **more: lambda: leakage(published, ROLES, given=("q",), about="s", prior=Margins(*prior, **more))  # fmt: skip  # noqa: E731
    refusal(InputError, ask(3), "from 1 to 2")
    refusal(InputError, ask([("q", "nowhere")]), "'nowhere'")
    refusal(InputError, ask([("q",)]), "'s'")
    refusal(InputError, ask([("s", "s")]), "once")
    refusal(Unavailable, ask(2, table=table({"q": [1, 2, 3], "s": list("xyx")})), "'q'", "overlap")
    refusal(Unavailable, ask(2, table=table({"q": [8, 9], "s": list("xy")})), "cover no row")
    monkeypatch.setattr(priors, "_CELLS", 3)
    refusal(Unavailable, ask(2), "fewer columns")


def test_local_recoding_with_margins_of_the_release(release: Make) -> None:
    """Released values that overlap are values of their own where the margins are the release's."""
    columns = {"q": ["*", "*", "a", "a"], "s": list("xyxx")}
    found = leakage(release(columns), ROLES, given=("q",), about="s", prior=Margins(2))
    assert found.distribution == near([0, 0])


# --- which quasi-identifiers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["release", "table"])
def test_every_set_of_columns_as_if_counted_alone(release: Make, kind: str) -> None:
    published = release(randoms(9))
    data = published if kind == "release" else published.table
    names = ("zip", "age", "sex")
    found = qid_choices(data, ROLES, names)
    sets = [s for size in (1, 2, 3) for s in itertools.combinations(names, size)]
    assert [choice.columns for choice in found] == sets
    for choice in found:
        roles = Roles(quasi=choice.columns, sensitive=("s",))
        assert choice.classes == len(published.evidence(roles).tuples)
        for name in ("distribution_leakage", "entropy_leakage", "mutual_information"):
            assert getattr(choice, name) == near(sf.metric(name)(published, roles).value)


def test_more_columns_never_tell_less(release: Make) -> None:
    found = {choice.columns: choice for choice in qid_choices(release(randoms(10)), ROLES, ("zip", "age", "sex"))}
    for small, large in itertools.permutations(found, 2):
        if set(small) < set(large):
            assert found[small].distribution_leakage <= found[large].distribution_leakage + 1e-12
            assert found[small].mutual_information <= found[large].mutual_information + 1e-12
            assert found[small].classes <= found[large].classes


def test_only_the_sizes_asked_for_and_the_roles_defaults(release: Make, refusal: Any) -> None:
    published = release(randoms(11))
    assert [c.columns for c in qid_choices(published, ROLES)] == [("zip",), ("age",), ("zip", "age")]
    pairs = qid_choices(published, ROLES, ("zip", "age", "sex"), sizes=(2,))
    assert [c.columns for c in pairs] == [("zip", "age"), ("zip", "sex"), ("age", "sex")]
    assert qid_choices(published, ROLES, ("zip",), about="sex")[0].columns == ("zip",)
    for call, words in (
        (lambda: qid_choices(published, ROLES, ("zip",), sizes=(2,)), "from 1 to 1"),
        (lambda: qid_choices(published, ROLES, ("zip", "zip")), "twice"),
        (lambda: qid_choices(published, ROLES, ("zip", "s")), "twice"),
        (lambda: qid_choices(published, ROLES, ("nowhere",)), "'nowhere'"),
        (lambda: qid_choices(published, Roles(quasi=("zip",))), "no sensitive column"),
        (lambda: qid_choices(published, Roles(sensitive=("s",))), "no quasi-identifier"),
    ):
        refusal(InputError, call, words)


def test_one_scan_for_all_sets(table: Any) -> None:
    data = table(randoms(12))
    asked: list[Any] = []
    scan = data.scan
    object.__setattr__(data, "scan", lambda by: asked.append(tuple(by)) or scan(by))
    qid_choices(data, ROLES, ("zip", "age", "sex"))
    assert asked == [("zip", "age", "sex", "s")]


def test_choices_on_adult(adult: Table) -> None:
    """Fig. 4 is about pairs of (age, workclass, education, country); seven candidates are 127 sets of one scan."""
    columns = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
    found = {c.columns: c for c in qid_choices(adult, Roles(sensitive=("occupation",)), columns)}
    assert len(found) == 127
    full = found[columns]
    assert full.classes == 11089  # PEERS.md, seven QIs
    assert full.mutual_information == pytest.approx(1.9075, abs=5e-5)


# --- Afifi's experiment ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_age_and_work(adult: Table) -> Release:
    """Age in 25-year ranges, work class as government or not: eight classes (sec. 6.2, n = 2)."""
    counts = adult.count(("age", "workclass", "occupation"))
    age, work, occupation = (
        np.array(column.texts)[codes] for column, codes in zip(counts.columns, counts.codes, strict=True)
    )
    return Release(
        table=sf.read(
            pa.table(
                {
                    "age": np.repeat([f"[{int(a) // 25 * 25},{int(a) // 25 * 25 + 25})" for a in age], counts.n),
                    "half": np.repeat(["<50" if int(a) < 50 else ">=50" for a in age], counts.n),
                    "work": np.repeat(["Gov" if "gov" in w else "other" for w in work], counts.n),
                    "s": np.repeat(occupation, counts.n),
                }
            )
        )
    )


def test_eight_values_vanish_from_the_seventh_class(by_age_and_work: Release) -> None:
    """Sec. 6.2: for [75,100] and Gov, 8 of 14 values can be eliminated, and its entropy leakage is the largest."""
    found = leakage(by_age_and_work, ROLES, given=("age", "work"), about="s")
    assert len(found) == 8
    assert keys(found)[6] == ("[75,100)", "Gov")
    assert found.vanished[6] == found.vanished.max() == 8
    assert found.entropy.argmax() == 6
    roles = Roles(quasi=("age", "work"), sensitive=("s",))
    assert sf.vanishing_values(by_age_and_work, roles).value == 8


def test_nobody_of_fifty_is_in_the_armed_forces(by_age_and_work: Release) -> None:
    found = leakage(by_age_and_work, ROLES, given=("half",), about="s", show_values=True)
    assert found.values(0) == {"vanished": [], "only_here": ["Armed-Forces"]}
    assert found.values(1) == {"vanished": ["Armed-Forces"], "only_here": []}


# --- distances -------------------------------------------------------------------------------------------------------


@st.composite
def split(draw: st.DrawFn) -> np.ndarray:
    values = draw(st.integers(1, 6))
    cell = st.sampled_from([0, 0, 1, 1, 2, 3, 7, 50])
    found = draw(st.lists(st.lists(cell, min_size=values, max_size=values), min_size=1, max_size=6))
    counts = np.array([row for row in found if sum(row)], dtype=np.int64).reshape(-1, values)
    counts = counts[:, counts.sum(0) > 0]
    assume(len(counts))
    return counts


@given(split())
def test_distances_are_scipy_s(weighted: Any, counts: np.ndarray) -> None:
    member, value = np.nonzero(counts)
    table = weighted({"q": [f"c{m}" for m in member], "s": [f"v{v}" for v in value]}, counts[member, value])
    roles = Roles(quasi=("q",), sensitive=("s",))
    found = distances(Release(table=table), roles)
    a = counts.sum(0) / counts.sum()
    for c, row in enumerate(counts):
        x = row / row.sum()
        assert found["l1"][c] == near(distance.cityblock(a, x))
        assert found["euclidean"][c] == near(distance.euclidean(a, x))
        assert found["kl"][c] == near(stats.entropy(x, a, base=2))
        middle = (a + x) / 2
        assert found["js"][c] == near((stats.entropy(a, middle, base=2) + stats.entropy(x, middle, base=2)) / 2)
        assert found["emd"][c] == near(distance.cityblock(a, x) / 2)
        assert found["hellinger"][c] == pytest.approx(
            distance.euclidean(np.sqrt(a), np.sqrt(x)) / math.sqrt(2), abs=1e-7
        )
        assert found["entropy"][c] == near(abs(entropy(a) - entropy(x)))


def test_distances_at_their_extremes(release: Make) -> None:
    roles = Roles(quasi=("q",), sensitive=("s",))
    alike = distances(release({"q": list("aabb"), "s": list("xyxy")}), roles)
    assert set(alike) == {"l1", "euclidean", "kl", "js", "emd", "hellinger", "entropy"}
    assert all(values.tolist() == [0.0, 0.0] for values in alike.values())
    turned = distances(release({"q": list("aaab") + ["b"] * 2, "s": list("xxyyyx")}), roles)
    for name, values in turned.items():  # the same frequencies on other values: entropy alone cannot see it
        assert values[0] == near(values[1])
        assert values[0] > 0.01, name


def test_example_10_reports_l1_as_emd(release: Make) -> None:
    roles = Roles(quasi=("q",), sensitive=("s",))
    found = distances(release({"q": list("aaaabbbbcccc"), "s": list("xxxy" + "xxxy" + "xyzz")}), roles)
    assert found["l1"] == near([1 / 3, 1 / 3, 2 / 3])
    assert found["emd"] == near([1 / 6, 1 / 6, 1 / 3])


def test_distances_of_another_attribute_and_combination(release: Make, refusal: Any) -> None:
    columns = randoms(13)
    found = distances(release(columns), ROLES, about="sex", given=("zip",))
    assert len(found["kl"]) == 4
    refusal(InputError, lambda: distances(release(columns), Roles(quasi=("zip",))), "no sensitive column")
