"""The decision and the words for it, by brute force over made-up scores: nothing it says may be false."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from sfumato.core.release import Release
from sfumato.metrics import metric
from sfumato.study.advice import advice, spell
from sfumato.study.inference import unprotected
from sfumato.study.robustness import kendall, robust
from sfumato.study.study import Candidate, Result, grid
from study_house import LOSS, RISK, memory, result, study

R, L, K, T = "prosecutor_risk", "iloss", "k_anonymity", "t_closeness[equal]"
values = st.integers(0, 4).map(lambda i: i / 4) | st.just(math.inf)
some = st.fixed_dictionaries({}, optional={R: values, L: values, K: st.integers(1, 4).map(float), T: values})
full = st.fixed_dictionaries({R: values, L: values, K: st.integers(1, 4).map(float), T: values})
clouds = st.lists(some | full, min_size=1, max_size=7)
limits = st.lists(st.sampled_from(["k_anonymity >= 2", "k_anonymity >= 4", "t_closeness[equal] <= 0.5", "iloss <= 0.75"]),
                  unique=True, max_size=3)  # fmt: skip
Cloud = list[dict[str, float]]


def holds(scores: Mapping[str, float], text: str) -> bool:
    name, sign, bound = text.split()
    if name not in scores:
        return False
    return scores[name] >= float(bound) if sign == ">=" else scores[name] <= float(bound)


def beats(a: Mapping[str, float], b: Mapping[str, float], x: str = R, y: str = L) -> bool:
    return a[x] <= b[x] and a[y] <= b[y] and (a[x] < b[x] or a[y] < b[y])


# --- what is taken ---------------------------------------------------------------------------------------------------


@given(points=clouds, asked=limits)
def test_what_is_taken_meets_everything_and_nothing_that_does_beats_it(points: Cloud, asked: list[str]) -> None:
    found = result(points, asked)
    chosen, why = found.recommended
    placed = [i for i, p in enumerate(points) if R in p and L in p]
    good = [i for i in placed if all(holds(points[i], text) for text in asked)]
    assert found.placed == placed
    if chosen is None:
        assert good == []
    else:
        assert chosen in good
        assert not any(beats(points[i], points[chosen]) for i in good)
        if asked:
            assert points[chosen][L] == min(points[i][L] for i in good)
    assert why.endswith(".")


@given(points=clouds, asked=limits)
def test_the_reason_is_true(points: Cloud, asked: list[str]) -> None:
    found = result(points, asked)
    chosen, why = found.recommended
    meet = [i for i, p in enumerate(points) if all(holds(p, text) for text in asked)]
    if chosen is None and asked and meet:
        assert "No candidate meets every requirement" not in why
        assert "misses 0" not in " ".join(advice(found).of("unreached"))
    if chosen is None:
        for text in asked:
            reached = [p[text.split()[0]] for p in points if text.split()[0] in p]
            if f"{text} is met by none" in why:
                assert not any(holds(p, text) for p in points)
                assert reached
            if f"{text} is met by some" in why:
                assert any(holds(p, text) for p in points)
            if f"{text} could be measured on none" in why:
                assert not reached
    elif asked:
        good = [i for i in meet if R in points[i] and L in points[i]]
        assert (f"Of the {len(good)} candidates" if len(good) > 1 else "only candidate on the map") in why


def test_of_ties_the_first_is_taken() -> None:
    points = [{R: 0.5, L: 0.5, K: 2}, {R: 0.25, L: 0.5, K: 4}, {R: 0.25, L: 0.5, K: 4}]
    assert result(points, ["k_anonymity >= 2"]).recommended[0] == 1


def test_what_cannot_be_asked_of_a_candidate_is_not_met() -> None:
    """Classes of perturbed rows say nothing, so k-anonymity is not shown, however useful the release."""
    table = memory()
    found = study(table, "additive_noise scale=0.1", "mondrian k=3", requirements=["k_anonymity >= 3"]).run(refine=0)
    noisy, plain = found.points
    assert noisy.failure is None
    assert "perturbed" in noisy.unknown["k_anonymity >= 3"]
    assert not noisy.met
    assert noisy.misses == ["k_anonymity >= 3"]
    assert plain.met
    assert found.recommended[0] == 1
    assert found.to_dict()["candidates"][0]["met"] is False
    assert not found.to_dict()["candidates"][0]["on_frontier"]


def test_nothing_but_perturbed_candidates() -> None:
    found = study(
        memory(), "additive_noise scale=0.1", "additive_noise scale=0.3", requirements=["k_anonymity >= 3"]
    ).run()
    chosen, why = found.recommended
    assert chosen is None
    assert "k_anonymity >= 3 could be measured on none" in why
    said = advice(found)
    assert said.of("unreached")[0] == why
    json.dumps(found.to_dict(), allow_nan=False)
    free = study(memory(), "additive_noise scale=0.1").run()
    assert free.recommended[0] is None
    assert "could be placed" in free.recommended[1]
    assert advice(free).of("unreached")


def test_candidates_that_meet_all_but_cannot_be_placed_are_not_said_to_miss_anything() -> None:
    """The limits are asked of t-closeness, the map has k: a release that only the map cannot take meets every limit."""
    found = result([{T: 0.2, L: 0.3}], ["t_closeness[equal] <= 0.5"], names=["noisy"])
    chosen, why = found.recommended
    words = " ".join([why, *advice(found).of("unreached")])
    assert chosen is None
    assert "No candidate meets every requirement" not in words
    assert "misses 0" not in words
    assert "prosecutor_risk" in words


# --- frontier and dominance ------------------------------------------------------------------------------------------


@given(points=st.lists(full, min_size=1, max_size=8))
def test_the_frontier_by_brute_force(points: Cloud) -> None:
    found = result(points)
    free = {i for i, p in enumerate(points) if not any(beats(q, p) for q in points)}
    assert set(found.frontier) <= free
    assert {(points[i][R], points[i][L]) for i in found.frontier} == {(points[i][R], points[i][L]) for i in free}


@given(points=clouds)
def test_dominance_by_brute_force(points: Cloud) -> None:
    found = result(points)
    placed = [i for i, p in enumerate(points) if R in p and L in p]
    beaten = {b for b in placed if any(beats(points[a], points[b]) for a in placed)}
    assert {each["candidate"] for each in found.dominance} == beaten
    for each in found.dominance:
        a, b = points[each["by"]], points[each["candidate"]]
        assert beats(a, b)
        assert each["by"] in found.frontier
        for name, axis in (("risk", R), ("utility", L)):
            assert each[name] == (b[axis] - a[axis] if b[axis] != a[axis] else 0)
            assert each[name] >= 0
        most = max((points[b_][L] for b_ in [each["candidate"]]), default=0)
        gains = [most - points[i][L] for i in found.frontier if beats(points[i], b) and points[i][L] != most]
        assert each["utility"] == max([0, *gains])


def test_dominance_on_axes_that_are_better_higher() -> None:
    found = result([{K: 5, L: 0.2}, {K: 3, L: 0.3}], risk=metric(K))
    (each,) = found.dominance
    assert (each["candidate"], each["by"], each["risk"]) == (1, 0, 2)
    assert each["utility"] == pytest.approx(0.1)


# --- ranks -----------------------------------------------------------------------------------------------------------


numbers = st.integers(0, 4).map(float) | st.just(math.inf)


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=12))
def test_kendall_is_scipys(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    ranks = [np.unique(side, return_inverse=True)[1] for side in (a, b)]
    assert kendall(a, b) == pytest.approx(kendalltau(*ranks).statistic)


def test_kendall_extremes() -> None:
    up = np.arange(5.0)
    assert kendall(up, up**3) == 1
    assert kendall(up, -up) == -1
    assert kendall(up, np.ones(5)) == 0
    assert kendall(np.array([1.0]), np.array([2.0])) == 0


@given(points=st.lists(full, min_size=2, max_size=7), asked=limits)
def test_rankings_by_brute_force(points: Cloud, asked: list[str]) -> None:
    found = result(points, asked)
    chosen = found.recommended[0]
    rankings = robust(found)
    if chosen is None:
        assert rankings == []
        return
    pool = [i for i, p in enumerate(points) if all(holds(p, text) for text in asked)]
    for each in rankings:
        name = str(each.metric)
        turn = -1 if name == K else 1
        mine = [turn * points[i][name] for i in pool]
        here = turn * points[chosen][name]
        assert name in (K, T)
        assert each.instead_of == R
        assert each.of == len(pool)
        assert each.rank == 1 + sum(v < here for v in mine)
        assert turn * points[each.first][name] == min(mine)
        swapped = [{R: turn * points[i][name], L: points[i][L]} for i in pool]
        at = {R: here, L: points[chosen][L]}
        assert each.on_frontier == (not any(beats(p, at) for p in swapped))
        assert f"number {each.rank} of" in each.sentence or each.rank == 1
    told = {str(each.metric) for each in rankings}
    for name in (K, T):
        assert (name in told) == (len({points[i][name] for i in pool}) > 1)


def test_two_spellings_of_a_measure_are_one_measure() -> None:
    """There is one sensitive column, so that its name adds nothing; of the risk axis' own measure there is no other spelling."""
    here, there = {R: 0.2, L: 0.3, T: 0.1}, {R: 0.3, L: 0.2, T: 0.4}
    points = [{**p, f"{T}(ill)": p[T], "entropy_l_diversity(ill)": 2 - p[T]} for p in (here, there)]
    assert [str(each.metric) for each in robust(result(points))] == ["entropy_l_diversity(ill)", T]
    assert [str(each.metric) for each in robust(result(points, risk=metric(T)))] == ["entropy_l_diversity(ill)", R]


@pytest.mark.parametrize(
    ("others", "found"),
    [
        ({T: (0.1, 0.2)}, "It holds. By itself, that measure ranks the choice first."),
        ({T: (0.2, 0.1)}, "It does not hold. By itself, that measure does not rank the choice first."),
        ({T: (0.1, 0.2), K: (5, 2)}, "It holds under all of them. By themselves, all of them rank the choice first."),
        ({T: (0.1, 0.2), K: (2, 5)}, "It holds under 1 of them. By themselves, 1 of them ranks the choice first."),
        (
            {T: (0.2, 0.1), K: (2, 5)},
            "It holds under none of them. By themselves, none of them ranks the choice first.",
        ),
    ],
)
def test_whether_the_choice_holds_is_said_in_plain_words(others: dict[str, tuple[float, float]], found: str) -> None:
    """The other candidate has the same loss, so that the other measure decides."""
    points = [{R: 0.1 + 0.1 * i, L: 0.2, **{name: values[i] for name, values in others.items()}} for i in (0, 1)]
    (said,) = advice(result(points, ["prosecutor_risk <= 1"])).of("robust")
    assert said.startswith(f"The choice was tested with {len(others)} other measure")
    assert said.endswith(found)


# --- sentences -------------------------------------------------------------------------------------------------------


def titled(name: str) -> str:
    return re.escape(metric(name).card.title)


NUMBER = r"(no bound|[\d.,]*\d(?:e[-+]\d+)?)"


def numbers_in(text: str, name: str) -> tuple[str, str]:
    match = re.search(rf"{titled(name)} {NUMBER} instead of {NUMBER}", text)
    assert match, text
    return match[1], match[2]


@given(points=clouds, asked=limits)
def test_every_sentence_is_true_for_its_numbers(points: Cloud, asked: list[str]) -> None:
    found = result(points, asked)
    chosen, said = found.recommended[0], advice(found)
    for sentence in said.said:
        assert sentence.text
        assert sentence.text.endswith((".", "!"))
        assert "anonymous" not in sentence.text.lower()
    if chosen is None:
        assert not said.of("take", "why", "cost", "up", "down")
        return
    here = points[chosen]
    placed = [p for p in points if R in p and L in p]
    assert said.of("take") == [f"Take P{chosen}."]

    (cost,) = said.of("cost")
    if "No candidate on the map" in cost:
        assert not any(p[L] < here[L] for p in placed)
    else:
        mine, theirs = numbers_in(cost, L)
        (other,) = re.findall(r"with (P\d)", cost)
        there = points[int(other[1:])]
        assert (mine, theirs) == (spell(here[L], apart=there[L]), spell(there[L], apart=here[L]))
        assert there[L] < here[L], "it costs nothing"
        assert there[L] == min(p[L] for p in placed)
        if "which has more risk" in cost:
            assert there[R] > here[R]
        else:
            for text in asked:
                assert (text in cost) == (not holds(there, text))

    (up,) = said.of("up")
    if "No candidate on the frontier has less risk" in up:
        assert not any(p[R] < here[R] for p in placed)
    elif "that meets every requirement has less risk" in up:
        assert any(p[R] < here[R] for p in placed)
    else:
        (other,) = re.findall(r"stricter candidate is (P\d)", up)
        there = points[int(other[1:])]
        assert all(holds(there, text) for text in asked) or not all(holds(here, text) for text in asked)
        assert there[R] < here[R]
        assert numbers_in(up, R) == (spell(there[R], apart=here[R]), spell(here[R], apart=there[R]))
        assert numbers_in(up, L) == (spell(there[L], apart=here[L]), spell(here[L], apart=there[L]))
        assert not any(there[R] < p[R] < here[R] and not any(beats(q, p) for q in placed) for p in placed)
        for text in asked:
            assert (text in up) == (not holds(there, text)), "a step that misses a limit must say so"

    down = said.of("down")
    if down:
        (other,) = re.findall(r"more useful candidate is (P\d)", down[0])
        there = points[int(other[1:])]
        assert there[L] < here[L]
        assert there[R] > here[R]
        for text in asked:
            assert (text in down[0]) == (not holds(there, text))
    else:
        assert not any(p[L] < here[L] and p[R] > here[R] and not any(beats(q, p) for q in placed) for p in placed)

    gone = len([p for p in points if not (R in p and L in p)])
    unplaced = said.of("unplaced")
    assert bool(unplaced) == bool(gone)
    if gone:
        assert unplaced[0].startswith(f"{gone} candidate{'s' if gone > 1 else ''} (")


@given(points=clouds, asked=limits.filter(bool))
def test_the_nearest_is_nearest_and_what_it_reaches_is_so(points: Cloud, asked: list[str]) -> None:
    found = result(points, asked)
    assume(found.recommended[0] is None)
    for text in advice(found).of("unreached")[1:]:
        match = re.match(r"The closest is (P\d), which misses (\d+) requirements?: (.*)\.$", text)
        if match is None:
            continue
        scores = points[int(match[1][1:])]
        missed = [one for one in asked if not holds(scores, one)]
        assert int(match[2]) == len(missed) > 0
        assert len(match[3].split("; ")) == len(missed)
        for one in missed:
            name = one.split()[0]
            if name in scores:
                assert f"{name} reaches {spell(scores[name])}" in match[3]
            else:
                assert f"{one} cannot be measured on it" in match[3]


def test_the_rest_of_the_sentences() -> None:
    found = result([{R: 0.2, L: 0.3, K: 5, "distinct_l_diversity": 1}], ["k_anonymity >= 5"], looked=17)
    said = advice(found)
    assert said.of("looked")[0].startswith("17 more candidates")
    (beware,) = said.of("beware")
    assert "alpha_anonymity" in beware
    assert "close" not in beware  # a limit bounds what a class tells, and two different values do not even do that
    quiet = result([{R: 0.2, L: 0.3, K: 5, "distinct_l_diversity": 1}], ["t_closeness[equal] <= 1"])
    assert advice(quiet).of("beware") == []
    fine = result([{R: 0.2, L: 0.3, K: 5, "distinct_l_diversity": 2}], ["k_anonymity >= 5"])
    assert advice(fine).of("beware") == []


@pytest.mark.parametrize(
    ("x", "text"),
    [(0, "0"), (5.0, "5"), (1234567.0, "1,234,567"), (0.123456, "0.1235"), (math.inf, "no bound"), (1e-9, "1e-09")],
)
def test_numbers_as_a_reader_wants_them(x: float, text: str) -> None:
    assert spell(x) == text


def test_numbers_that_differ_read_differently() -> None:
    assert (spell(0.05000001, apart=0.05), spell(0.05, apart=0.05000001)) == ("0.05000001", "0.05")
    assert (spell(123456.7, apart=123457.0), spell(0.2, apart=0.2)) == ("123,456.7", "0.2")
    assert spell(3.0, apart=math.inf) == "3"


@settings(max_examples=20)
@given(points=clouds, asked=limits)
def test_everything_is_json(points: Cloud, asked: list[str]) -> None:
    from sfumato.cli.terminal import finite

    found = result(points, asked)
    object.__setattr__(found.study, "table", memory())
    shown = finite(found.to_dict())
    json.dumps(shown, allow_nan=False)
    assert [c["made"] for c in shown["candidates"]] == [True] * len(points)


# --- real studies ----------------------------------------------------------------------------------------------------


def test_advice_on_a_real_study_names_what_is_there() -> None:
    found = study(memory(), "mondrian k=2", "mondrian k=5", "mondrian k=10", requirements=["k_anonymity >= 4"]).run(
        refine=0
    )
    said = advice(found)
    (free,) = unprotected(found)
    assert said.of("take") == [f"Take mondrian k=5: {free.sentence}."]
    assert "mondrian k=2" in said.of("cost")[0]
    assert "k_anonymity >= 4" in said.of("cost")[0]
    assert "mondrian k=10" in said.of("up")[0]
    assert "mondrian k=2" in said.of("down")[0]
    means = said.of("means")
    assert means[0] == RISK.sentence(found.points[1].value(RISK))
    assert means[1] == LOSS.sentence(found.points[1].value(LOSS))


def test_what_everybody_has_no_limit_closes() -> None:
    alike = memory(ill=["HIV"] * 80)
    found = study(alike, "mondrian k=5", requirements=("k_anonymity >= 5",), measures=("distinct_l_diversity",)).run(
        refine=0
    )
    (said,) = advice(found).of("beware")
    assert "no release that keeps the column prevents this" in said
    assert "alpha_anonymity" not in said


def test_the_requirement_that_is_recommended_bounds_what_a_class_tells(tmp_path: Path) -> None:
    """Taken from the sentence, asked for and counted anew in the release that is then recommended."""
    most = memory(ill=["flu" if i % 8 else "HIV" for i in range(80)])
    how = {"requirements": ("k_anonymity >= 2",), "measures": ("distinct_l_diversity",)}
    (said,) = advice(study(most, "mondrian k=2", **how).run(refine=0)).of("beware")
    match = re.search(
        r"such as (alpha_anonymity\(ill\) <= (\S+)) would .* than (\S+)% of a class .* makes up (\S+)% of the table",
        said,
    )
    assert match is not None
    assert float(match[2]) == pytest.approx(float(match[3]) / 100)
    assert float(match[4]) == 87.5
    asked = match[1]
    again = study(most, f"mondrian require='{asked}'", requirements=(asked,), measures=("distinct_l_diversity",)).run(
        refine=0
    )
    chosen = again.recommended[0]
    assert chosen is not None
    again.release(chosen).table.write(tmp_path / "release.csv")
    with (tmp_path / "release.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    classes: dict[tuple[object, ...], list[object]] = {}
    for row in rows:
        classes.setdefault(tuple(v for n, v in row.items() if n in ("age", "zip")), []).append(row["ill"])
    assert max(max(map(ills.count, ills)) / len(ills) for ills in classes.values()) <= float(match[2])
    assert not any("shares one value" in text for text in advice(again).of("beware"))


def test_releases_made_elsewhere_are_decided_like_others() -> None:
    table = memory()
    theirs = Candidate("ARX", release=Release(table=table, original=table), label="ARX")
    found = study(table, candidates=(theirs, *grid(["mondrian k=4"])), requirements=["k_anonymity >= 4"]).run(refine=0)
    assert found.recommended[0] == 1
    assert isinstance(found, Result)
    assert "ARX" not in " ".join(advice(found).of("cost", "down"))  # the table itself is no step to consider
