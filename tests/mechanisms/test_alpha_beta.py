"""The alpha-beta algorithm: beliefs, rates, estimates without bias, versions; chances that are 30% off are found out."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from house import in_memory
from sfumato.core.errors import Infeasible, InputError, Unavailable
from sfumato.core.randomness import SEEDED, Chance
from sfumato.mechanisms import alpha_beta as home
from sfumato.mechanisms.alpha_beta import (
    AlphaBeta,
    chances,
    chances_after,
    estimate,
    inserted,
    usefulness,
    variance,
)
from sfumato.publishing import publish

ROLES = sf.Roles(quasi=("a", "b"), sensitive=("s",), identifiers=("name",), source="roles.toml")
DOMAINS = "a=0:199,b=0:49,s=x|y|z"
M = 200 * 50 * 3
PAIRS = [(0.01, 0.2), (0.001, 0.05), (0.2, 0.5), (0.3, 0.31), (1e-6, 0.9)]


def people(count: int = 1200, seed: int = 0) -> dict[str, list[Any]]:
    """Distinct rows, more of x and of small a."""
    rng = np.random.default_rng(seed)
    weight = np.exp(-np.arange(M) / M * 3)
    at = np.sort(rng.choice(M, count, replace=False, p=weight / weight.sum()))
    return {
        "a": (at // 150).tolist(),
        "b": (at // 3 % 50).tolist(),
        "s": ["xyz"[i] for i in at % 3],
        "name": [f"n{i}" for i in range(count)],
    }


def rows_in(table: sf.Table) -> set[tuple[str | None, ...]]:
    counts = table.count(("a", "b", "s"))
    assert counts.n.max(initial=1) == 1  # a set: no row twice
    return {tuple(c.texts[k[i]] for c, k in zip(counts.columns, counts.codes, strict=True)) for i in range(len(counts))}


def said(release: sf.Release) -> tuple[float, float]:
    """alpha and beta, from the notes."""
    found = re.search(r"alpha = (\S+) and beta = (\S+)\.$", release.notes[1])
    assert found
    return float(found[1]), float(found[2])


# --- beliefs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "gamma"), PAIRS)
def test_beliefs_stay_within_gamma_and_reach_it(d: float, gamma: float) -> None:
    """Bayes' rule over all priors up to d: at most gamma afterwards, at least d/gamma of what it was; both are reached."""
    alpha, beta = chances(d, gamma)
    assert 0 < alpha < 1
    assert 0 < beta < alpha + beta < 1
    q = np.linspace(0, d, 1001)[1:]
    there = q * (alpha + beta) / (q * (alpha + beta) + (1 - q) * beta)
    gone = q * (1 - alpha - beta) / (q * (1 - alpha - beta) + (1 - q) * (1 - beta))
    assert there.max() == pytest.approx(gamma)
    assert gone.max() <= gamma
    assert (gone / q).min() >= d / gamma - 1e-12
    assert (1 - alpha - beta) / (1 - beta) == pytest.approx(d / gamma)  # the limit for q towards 0


@pytest.mark.parametrize(("d", "gamma"), PAIRS)
def test_no_other_chances_estimate_better(d: float, gamma: float) -> None:
    """Over a grid of alpha and beta that keep the beliefs: none has a smaller variance, for a query over a large domain."""
    alpha, beta = chances(d, gamma)
    best = variance(100, 1e7, alpha, beta)
    for a in np.linspace(0.01, 0.99, 99):
        for b in beta * np.linspace(0.2, 3, 57):
            if a + b < 1 and d * (a + b) / (d * (a + b) + (1 - d) * b) <= gamma and (1 - a - b) / (1 - b) >= d / gamma:
                assert variance(100, 1e7, a, b) >= best * (1 - 1e-9)


@pytest.mark.parametrize("versions", [2, 3])
def test_beliefs_stay_within_gamma_over_all_versions(versions: int) -> None:
    """Every history of a row (added at version i, or never) against every sequence of releases, by Bayes' rule."""
    d, gamma = 0.02, 0.3
    alpha, beta = chances(d, gamma)

    def likely(seen: tuple[int, ...], added: int | None) -> float:
        p = 1.0
        for i, now in enumerate(seen):
            if i and seen[i - 1]:
                p *= now  # what was published stays
                continue
            chance = alpha + beta if added == i else beta
            p *= chance if now else 1 - chance
        return p

    for seen in itertools.product((0, 1), repeat=versions):
        never = likely(seen, None)
        for added in range(versions):
            here = likely(seen, added)
            if never == 0:
                assert here == 0
                continue
            posterior = d * here / (d * here + (1 - d) * never)
            assert posterior <= gamma + 1e-12
            assert posterior >= d * d / gamma * (1 - 1e-9)
    for added in range(versions):
        kept = sum(likely(seen, added) for seen in itertools.product((0, 1), repeat=versions) if seen[-1])
        now, noise = chances_after(alpha, beta, versions)
        assert kept == pytest.approx(now + noise)
        assert sum(likely(s, None) for s in itertools.product((0, 1), repeat=versions) if s[-1]) == pytest.approx(noise)


# --- rates -----------------------------------------------------------------------------------------------------------


def believable(hits: int, of: int, p: float) -> bool:
    """Whether so many hits are believable: a test that is wrong once in a million."""
    return bool(stats.binomtest(hits, of, p).pvalue > 1e-6)


def kept_and_added(release: sf.Release, columns: dict[str, Any]) -> tuple[int, int]:
    before = set(zip(map(str, columns["a"]), map(str, columns["b"]), columns["s"], strict=True))
    after = rows_in(release.table)
    return len(after & before), len(after - before)


def test_rows_are_kept_and_added_at_the_stated_rates() -> None:
    columns = people()
    mechanism = AlphaBeta(gamma=0.5, k=2, domains=DOMAINS)
    release = mechanism(in_memory(columns), ROLES, np.random.default_rng(0))
    alpha, beta = said(release)
    assert (alpha, beta) == pytest.approx(chances(2 * 1200 / M, 0.5), rel=1e-12)
    kept, added = kept_and_added(release, columns)
    assert believable(kept, 1200, alpha + beta)
    assert believable(added, M - 1200, beta)
    for off in (0.7, 1.3):  # the same test says no to rates that are 30% off
        assert not believable(kept, 1200, min(off * (alpha + beta), 1))
        assert not believable(added, M - 1200, off * beta)


@pytest.mark.parametrize("off", [0.7, 1.3])
@pytest.mark.parametrize("which", ["alpha", "beta"])
def test_a_mechanism_that_is_off_is_found_out(which: str, off: float, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people()
    right = chances(2 * 1200 / M, 0.5)
    wrong = (right[0] * min(off, 1.1), right[1]) if which == "alpha" else (right[0], right[1] * off)
    monkeypatch.setattr(home, "chances", lambda d, gamma: wrong)
    release = AlphaBeta(gamma=0.5, k=2, domains=DOMAINS)(in_memory(columns), ROLES, np.random.default_rng(0))
    kept, added = kept_and_added(release, columns)
    assert not (believable(kept, 1200, sum(right)) and believable(added, M - 1200, right[1]))


def test_inserted_places_are_coins_each() -> None:
    """Their number is binomial, and every place is as likely; of a domain that no one could enumerate, too."""
    chance = Chance(np.random.default_rng(5))
    times = np.zeros(200)
    counts = []
    for _ in range(2000):
        places = inserted(200, 0.03, chance)
        assert (np.diff(places) > 0).all()
        times[places] += 1
        counts.append(len(places))
    assert stats.chisquare(times, np.full(200, times.sum() / 200)).pvalue > 1e-6
    law = stats.binom(200, 0.03)
    seen = np.bincount(counts, minlength=16)[:16]
    assert stats.chisquare(seen, law.pmf(np.arange(16)) * seen.sum() / law.pmf(np.arange(16)).sum()).pvalue > 1e-6
    huge = inserted(2**52, 1e-11, chance)
    assert believable(len(huge), 2**52, 1e-11)
    assert stats.kstest(huge / 2**52, "uniform").pvalue > 1e-6
    assert not len(inserted(10, 0.0, chance))
    assert inserted(5, 1 - 1e-12, chance).tolist() == [0, 1, 2, 3, 4]


# --- estimates -------------------------------------------------------------------------------------------------------

QUERIES: list[dict[str, Any]] = [
    {"s": ["x"]},
    {"a": (0, 49), "s": ["y", "z"]},
    {"b": [3, 4, 5]},
    {"a": (150, 199), "b": (0, 9)},
]


def actual(columns: dict[str, Any], query: dict[str, Any]) -> int:
    def asked(name: str, i: int) -> bool:
        wanted, value = query[name], columns[name][i]
        return wanted[0] <= value <= wanted[1] if isinstance(wanted, tuple) else value in wanted

    return sum(all(asked(name, i) for name in query) for i in range(len(columns["a"])))


@pytest.mark.full
def test_counting_queries_are_estimated_without_bias() -> None:
    """Over 150 releases: the mean is the truth, the variance the stated one; with alpha or beta 30% off it is not."""
    columns = people(600)
    table, mechanism = in_memory(columns), AlphaBeta(gamma=0.4, k=1, domains=DOMAINS)
    releases = [mechanism(table, ROLES, np.random.default_rng(seed)) for seed in range(150)]
    alpha, beta = said(releases[0])
    for query in QUERIES:
        truth = actual(columns, query)
        scores = [mechanism.answer(r.table, ROLES, query, alpha=alpha, beta=beta) for r in releases]
        values = np.array([score.value for score in scores])
        possible = scores[0].details["possible"]
        spread = math.sqrt(variance(truth, possible, alpha, beta))
        assert abs(values.mean() - truth) < 5 * spread / math.sqrt(len(values))
        assert 0.75 < values.std() / spread < 1.3
        held = np.mean([score.ci[0] <= truth <= score.ci[1] for score in scores if score.ci])
        assert held > 0.87
        assert {score.exactness for score in scores} == {"estimate"}
        for off in (0.7, 1.3):
            observed = np.array([score.details["observed"] for score in scores])
            wrong = np.array([estimate(n, possible, alpha, off * beta) for n in observed])
            assert abs(wrong.mean() - truth) > 5 * spread / math.sqrt(len(values))
            if truth > 100:
                wrong = np.array([estimate(n, possible, off * alpha, beta) for n in observed])
                assert abs(wrong.mean() - truth) > 5 * spread / math.sqrt(len(values))


@pytest.mark.full
def test_usefulness_holds() -> None:
    """(rho, epsilon): the whole count is off by rho sqrt(n) in at most a share epsilon of releases, and rho is not idle."""
    columns = people(600)
    table, mechanism = in_memory(columns), AlphaBeta(gamma=0.4, k=1, domains=DOMAINS)
    off = []
    for seed in range(200):
        release = mechanism(table, ROLES, np.random.default_rng(seed))
        alpha, beta = said(release)
        off.append(abs(estimate(release.table.rows, M, alpha, beta) - 600))
    for epsilon in (0.05, 0.2):
        rho = usefulness(600, M, alpha, beta, epsilon)
        assert np.mean(np.array(off) >= rho * math.sqrt(600)) <= epsilon
    assert np.mean(np.array(off) >= 0.4 * usefulness(600, M, alpha, beta, 0.2) * math.sqrt(600)) > 0.2
    assert usefulness(600, M, alpha, beta, 0.05) > usefulness(600, M, alpha, beta, 0.2)
    said_so = re.search(r"rho = (\S+), epsilon = 0.05", release.notes[2])
    assert said_so
    assert float(said_so[1]) == pytest.approx(usefulness(600, M, alpha, beta, 0.05), rel=0.01)


# --- versions --------------------------------------------------------------------------------------------------------


def test_versions_keep_what_was_published_and_give_new_rows_their_chance(tmp_path: Path) -> None:
    whole = people(1500, seed=3)
    columns = {name: values[:500] for name, values in whole.items()}
    settings: dict[str, Any] = {"gamma": 0.5, "d": 0.02, "domains": DOMAINS}
    alpha, beta = chances(0.02, 0.5)
    made = AlphaBeta(**settings)(in_memory(columns), ROLES, np.random.default_rng(0))
    publish(made, ROLES, (), tmp_path / "release1.csv")
    for version in (2, 3):
        before = tmp_path / f"table{version}.csv"
        with before.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([[*columns], *zip(*columns.values(), strict=True)])
        earlier = rows_in(sf.read(tmp_path / f"release{version - 1}.csv"))
        had = set(zip(map(str, columns["a"]), map(str, columns["b"]), columns["s"], strict=True))
        columns = {name: values[: 500 * version] for name, values in whole.items()}
        new = set(zip(map(str, columns["a"]), map(str, columns["b"]), columns["s"], strict=True)) - had
        mechanism = AlphaBeta(
            **settings, previous=str(tmp_path / f"release{version - 1}.csv"), before=str(before), version=version
        )
        release = mechanism(in_memory(columns), ROLES, np.random.default_rng(version))
        publish(release, ROLES, (), tmp_path / f"release{version}.csv")
        after = rows_in(sf.read(tmp_path / f"release{version}.csv"))
        assert earlier <= after
        fresh = new - earlier
        assert believable(len(fresh & after), len(fresh), alpha + beta)
        others = (after - earlier) - new
        assert believable(len(others), M - len(earlier | new), beta)
        assert believable(len(others & had), len(had - earlier), beta)  # an old row had its chance
        now, noise = said(release)
        assert (now, noise) == pytest.approx(chances_after(alpha, beta, version))
        count = estimate(len(after), M, now, noise)
        assert abs(count - 500 * version) < 5 * math.sqrt(variance(500 * version, M, now, noise))


def test_versions_are_refused_where_rows_are_gone(tmp_path: Path, refusal: Callable[..., str]) -> None:
    columns = people(50)
    for name, upto in (("before", 50), ("release", 10)):
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([[*"abs"], *zip(*(columns[c][:upto] for c in "abs"), strict=True)])
    again: dict[str, Any] = {
        "previous": str(tmp_path / "release.csv"),
        "before": str(tmp_path / "before.csv"),
        "version": 2,
    }
    mechanism = AlphaBeta(gamma=0.5, d=0.01, domains=DOMAINS, **again)
    fewer = in_memory({name: values[:-1] for name, values in columns.items()})
    refusal(InputError, lambda: mechanism(fewer, ROLES), "gone")
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1, domains=DOMAINS, **again), "set d")
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, d=0.1, version=2), "previous")
    absent = AlphaBeta(gamma=0.5, d=0.01, domains=DOMAINS, previous="none.csv", before="none.csv", version=2)
    refusal(InputError, lambda: absent(fewer, ROLES), "not there")


# --- what is released ------------------------------------------------------------------------------------------------


def test_the_file(tmp_path: Path) -> None:
    columns = people(300)
    table = in_memory(columns)
    before = table.count(table.columns).codes
    mechanism = AlphaBeta(gamma=0.5, k=2, domains=DOMAINS)
    files = []
    for i in range(2):
        release = mechanism(table, ROLES, np.random.default_rng(9))
        publish(release, ROLES, mechanism.promises, tmp_path / f"{i}.csv")
        files.append((tmp_path / f"{i}.csv").read_bytes())
    assert files[0] == files[1]
    assert release.table.columns == ("a", "b", "s")
    assert release.notes[-1] == SEEDED
    assert all(np.array_equal(a, b) for a, b in zip(before, table.count(table.columns).codes, strict=True))
    free = [mechanism(table, ROLES) for _ in range(2)]
    assert SEEDED not in free[0].notes
    assert rows_in(free[0].table) != rows_in(free[1].table)
    with pytest.raises(Unavailable):  # rows that are alike are not people
        sf.k_anonymity(release, ROLES)


def test_rows_that_are_alike_count_once() -> None:
    columns = people(300)
    twice = {name: [*values, *values[:40]] for name, values in columns.items()}
    mechanism = AlphaBeta(gamma=0.5, k=2, domains=DOMAINS)
    once, more = (mechanism(in_memory(c), ROLES, np.random.default_rng(1)) for c in (columns, twice))
    assert rows_in(once.table) == rows_in(more.table)
    assert any("340 rows are 300" in note for note in more.notes)
    assert not any("alike" in note for note in once.notes)


def test_bins_missing_values_taxonomies_and_odd_names(tmp_path: Path, refusal: Callable[..., str]) -> None:
    rng = np.random.default_rng(2)
    name = 'age, "odd"'
    columns: dict[str, Any] = {
        name: [None if i % 9 == 0 else int(x) for i, x in enumerate(rng.integers(17, 90, 60))],
        "town": rng.choice(["Rome", "Oslo", "Bern"], 60).tolist(),
        "size": rng.choice(["s", "m", "l"], 60).tolist(),
    }
    roles = sf.Roles(
        quasi=(name, "town", "size"),
        hierarchies={"town": sf.Hierarchy.of("town", [("Rome", "*"), ("Oslo", "*"), ("Bern", "*"), ("Paris", "*")])},
        orders={"size": ("s", "m", "l", "xl")},
    )
    domains = '"age, ""odd"""=0:100:10'
    refusal(InputError, lambda: AlphaBeta(gamma=0.9, d=0.3, domains=domains)(in_memory(columns), roles), "missing=true", "7 rows")  # fmt: skip
    mechanism = AlphaBeta(gamma=0.9, d=0.3, domains=domains, missing=True)
    release = mechanism(in_memory(columns), roles, np.random.default_rng(0))
    publish(release, roles, (), tmp_path / "release.csv")
    with (tmp_path / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ages = {row[name] for row in rows}
    assert ages <= {"", *(f"[{i},{i + 10})" for i in range(0, 90, 10)), "[90,100]"}
    assert {row["town"] for row in rows} <= {"", "Rome", "Oslo", "Bern", "Paris"}
    alpha, beta = said(release)
    written = sf.read(tmp_path / "release.csv")
    score = mechanism.answer(written, roles, {name: ["[20,30)", None], "size": ["xl"]}, alpha=alpha, beta=beta)
    assert score.details["possible"] == 2 * 5
    assert score.details["observed"] == sum(r[name] in ("[20,30)", "") and r["size"] == "xl" for r in rows)


def test_one_row_and_a_domain_that_no_one_could_enumerate() -> None:
    roles = sf.Roles(quasi=tuple("pqrst"))
    table = in_memory({c: [5] for c in "pqrst"})
    release = AlphaBeta(gamma=0.2, k=1000, domains=",".join(f"{c}=1:1000" for c in "pqrst"))(
        table, roles, np.random.default_rng(0)
    )
    _, beta = said(release)
    assert beta == pytest.approx(1000 / 1e15 * 0.8 / 0.2, rel=0.01)
    assert believable(release.table.rows, 10**15, beta)


def test_what_is_refused(refusal: Callable[..., str], canary: str) -> None:
    table = in_memory(people(100))
    for settings in ({"gamma": 0.0}, {"gamma": 1.0}, {"d": 0.0}, {"d": 1.5}, {"k": 0}, {"k": math.inf}, {"version": 0}):
        refusal(InputError, lambda settings=settings: AlphaBeta(**settings), next(iter(settings)))
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1, d=0.1), "one of them")
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1, domains="nonsense"), "domains")
    refusal(InputError, lambda: AlphaBeta(k=1, domains=DOMAINS)(table, ROLES), "gamma")
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, domains=DOMAINS)(table, ROLES), "k")
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1)(table, ROLES), "'a'", "never taken from the data")
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1, domains=DOMAINS + ",w=1:2")(table, ROLES), "'w'")
    refusal(Infeasible, lambda: AlphaBeta(gamma=0.01, k=4, domains=DOMAINS)(table, ROLES), "below gamma")
    odd = in_memory({**people(100), "s": [canary] * 100})
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1, domains=DOMAINS)(odd, ROLES), "'s'", "100 rows")
    many = ",".join(f"{c}=1:100000" for c in "pqrs")
    wide, roles = in_memory({c: [5] for c in "pqrs"}), sf.Roles(quasi=tuple("pqrs"))
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1, domains=many)(wide, roles), "coarser")
    some = ",".join(f"{c}=1:1000" for c in "pqrs")
    refusal(Infeasible, lambda: AlphaBeta(gamma=0.5, d=0.1, domains=some)(wide, roles), "nobody's")
    twice = sf.Roles(quasi=("a", "b"), sensitive=("s",), person="name")
    same = in_memory({**people(100), "name": ["n"] * 100})
    refusal(InputError, lambda: AlphaBeta(gamma=0.5, k=1, domains=DOMAINS)(same, twice), "'name'")
    mechanism = AlphaBeta(gamma=0.5, k=1, domains=DOMAINS)
    for query, word in (({"w": [1]}, "'w'"), ({"s": (1, 2)}, "range"), ({"s": "x"}, "list"), ({"s": ["w"]}, "domain")):
        refusal(InputError, lambda query=query: mechanism.answer(table, ROLES, query, alpha=0.5, beta=0.1), word)


def test_from_texts() -> None:
    made = AlphaBeta.of({"gamma": "0.2", "k": "1.5", "domains": DOMAINS, "missing": "true"})
    assert made == AlphaBeta(gamma=0.2, k=1.5, domains=DOMAINS, missing=True)
    assert made.promises == ()
