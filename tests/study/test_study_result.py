"""A study: what it recommends, that one failure does not spoil the rest, and what it hands to machines."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, RequirementError, SfumatoError
from sfumato.core.release import Release
from sfumato.core.table import Table
from sfumato.inspect.exposure import ExposedClass, exposure
from sfumato.metrics import metric, require
from sfumato.study.study import Candidate, Point, Result, Study, grid, number
from study_house import NOBODY

ROLES = sf.Roles(quasi=("age", "zip"), sensitive=("ill",), insensitive=("note",), source="roles.toml")


def columns(rows: int = 120) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 90, rows)
    return {
        "age": age,
        "zip": rng.choice(["00501", "00544", "10001", "94110"], rows),
        "ill": np.where(age > 60, rng.choice(list("aab"), rows), rng.choice(list("bcd"), rows)),
        "note": rng.choice(["u", "v"], rows),
    }


@pytest.fixture(scope="module")
def table() -> Table:
    return sf.read(pa.table(columns()))


def study(table: Table, *texts: str, requirements: tuple[str, ...] = (), **more: Any) -> Study:
    wanted = tuple(require(text) for text in requirements)
    more = {"utility": metric("iloss"), **more}
    return Study(table=table, roles=ROLES, candidates=grid(texts), require=wanted, **more)


KS = ("mondrian k=2", "mondrian k=4", "mondrian k=8", "mondrian k=16", "mondrian k=40")


# --- the recommendation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "requirements",
    [
        ("k_anonymity >= 4",),
        ("k_anonymity >= 3", "distinct_l_diversity >= 3"),
        ("t_closeness[equal] <= 0.55",),
        ("prosecutor_risk <= 0.1", "iloss <= 0.9"),
        ("marketer_risk <= 0.05",),
    ],
)
def test_it_meets_every_requirement_and_no_other_that_does_loses_less(
    table: Table, requirements: tuple[str, ...]
) -> None:
    result = study(table, *KS, requirements=requirements).run(refine=0)
    chosen, why = result.recommended
    assert chosen is not None
    wanted = [require(text) for text in requirements]
    loss = metric("iloss")
    good = {}
    for i, point in enumerate(result.points):
        assert point.release is not None
        meets = all(r.holds(r.metric(point.release, ROLES).value) for r in wanted)
        assert point.met == meets
        if meets:
            good[i] = loss(point.release, ROLES).value
    assert chosen in good
    assert good[chosen] == min(good.values())
    assert (f"Of the {len(good)} candidates" if len(good) > 1 else "only candidate") in why


def test_of_equal_losses_the_lower_risk_is_taken(table: Table) -> None:
    """A worse release with the same loss: the second of two rows of one value joins another class."""
    original = sf.read(pa.table({"q": ["a", "a", "b", "b"]}))
    roles = sf.Roles(quasi=("q",))
    risky = Release(table=sf.read(pa.table({"q": ["a", "*", "b", "*"]})), original=original)
    calm = Release(table=sf.read(pa.table({"q": ["*", "*", "b", "b"]})), original=original)
    candidates = (Candidate("risky", release=risky), Candidate("calm", release=calm))
    result = Study(
        table=original,
        roles=roles,
        candidates=candidates,
        require=(require("k_anonymity >= 1"),),
        utility=metric("iloss"),
    ).run(refine=0)
    losses = [point.value(metric("iloss")) for point in result.points]
    assert losses[0] == losses[1]
    assert result.recommended[0] == 1


def test_none_meets_all_and_the_nearest_is_named(table: Table) -> None:
    result = study(table, "mondrian k=2", "mondrian k=8", requirements=("k_anonymity >= 30", "iloss <= 0.9")).run(
        refine=0
    )
    chosen, why = result.recommended
    best = max(point.value(metric("k_anonymity")) for point in result.points)
    assert chosen is None
    assert f"k_anonymity >= 30 is met by none; the best reaches {best:.0f}." in why
    assert "iloss <= 0.9 is met by some" in why
    assert result.to_dict()["recommended"] is None
    assert result.commands() == []


def test_each_met_by_some_but_never_together(table: Table) -> None:
    result = study(table, *KS, requirements=("k_anonymity >= 40", "iloss <= 0.3")).run(refine=0)
    chosen, why = result.recommended
    assert chosen is None
    assert why.count("is met by some") == 2


def test_without_requirements_it_is_the_knee_and_says_so(table: Table) -> None:
    result = study(table, *KS).run(refine=0)
    chosen, why = result.recommended
    assert result.knee is not None
    assert chosen == result.knee
    assert "knee" in why
    assert "requirement" in why


def test_without_requirements_and_knee_it_is_on_the_frontier(table: Table) -> None:
    result = study(table, "mondrian k=2", "mondrian k=8").run(refine=0)
    chosen, why = result.recommended
    assert result.knee is None
    assert chosen in result.frontier
    assert "no knee" in why


@settings(max_examples=25)
@given(
    scores=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), min_size=1, max_size=8),
    asked=st.booleans(),
)
def test_recommendation_by_brute_force(scores: list[tuple[int, int, bool]], asked: bool) -> None:
    """Points with made-up scores: what is taken follows from them alone."""
    from sfumato.core.metric import Score, Verdict

    risk, loss, need = metric("prosecutor_risk"), metric("iloss"), require("distinct_l_diversity >= 1")
    points = []
    for r, l, met in scores:
        made = {str(risk): (risk, Score(r / 5, "p")), str(loss): (loss, Score(l / 5, "s"))}
        verdicts = (Verdict(need, Score(1.0 if met else 0.0, "values")),) if asked else ()
        points.append(Point(Candidate("x"), made, verdicts=verdicts))
    held = Study(
        table=NOBODY,
        roles=ROLES,
        candidates=tuple(point.candidate for point in points),
        require=(need,) if asked else (),
        utility=loss,
    )
    result = Result(held, tuple(points))
    chosen = result.recommended[0]
    good = [i for i, (_, _, met) in enumerate(scores) if met]
    if asked:
        if not good:
            assert chosen is None
        else:
            assert chosen in good
            assert scores[chosen][1::-1] == min(scores[i][1::-1] for i in good)  # (loss, risk)
    else:
        assert chosen in result.frontier
        assert not any(
            s[0] <= scores[chosen][0] and s[1] <= scores[chosen][1] and s[:2] != scores[chosen][:2] for s in scores
        )


def test_a_metric_that_is_better_higher_turns_its_axis(table: Table) -> None:
    plain = study(table, *KS).run(refine=0)
    turned = study(table, *KS, risk=metric("k_anonymity")).run(refine=0)
    assert plain.frontier == turned.frontier  # prosecutor_risk is 1/k: the same order
    assert set(turned.frontier) == set(range(len(KS)))


# --- failures -------------------------------------------------------------------------------------------------------


def test_a_candidate_that_cannot_be_made_stays_with_its_reason(table: Table) -> None:
    result = study(table, "mondrian k=5000", "mondrian k=3", "mondrian k=121").run(refine=0)
    assert [point.failure is None for point in result.points] == [False, True, False]
    assert "k_anonymity >= 5000" in str(result.points[0].failure)
    assert not result.points[0].met
    assert result.made == [1]
    assert result.frontier == [1]
    assert result.recommended[0] == 1


def test_a_candidate_whose_requirement_cannot_be_asked_does_not_stop_the_rest(table: Table) -> None:
    """`ill` has no order, so the second candidate cannot be made; the first can."""
    result = study(table, "mondrian k=3", "mondrian k=3 require='t_closeness[ordered] <= 0.2'").run(refine=0)
    assert [point.failure is None for point in result.points] == [True, False]
    assert "order" in str(result.points[1].failure)


def test_no_candidate_at_all_is_infeasible(table: Table) -> None:
    with pytest.raises(Infeasible, match=r"No candidate could be made\. .*k_anonymity >= 5000"):
        study(table, "mondrian k=5000", "mondrian k=6000").run(refine=0)


def test_an_external_release_that_cannot_be_measured_stays_with_its_reason(table: Table) -> None:
    bad = Candidate("bad.csv", release=Release(table=sf.read(pa.table({"age": [1, 2]})), original=table))
    held = Study(table=table, roles=ROLES, candidates=(bad, *grid(["mondrian k=3"])))
    result = held.run(refine=0)
    assert "'zip'" in str(result.points[0].failure)
    assert result.made == [1]


def test_roles_that_do_not_fit_are_an_error_and_not_a_failed_candidate(table: Table) -> None:
    roles = sf.Roles(quasi=("nowhere",), source="roles.toml")
    with pytest.raises(InputError, match="'nowhere'"):
        Study(table=table, roles=roles, candidates=grid(["mondrian k=2"])).run(refine=0)


def test_axes_must_be_one_of_each(table: Table) -> None:
    with pytest.raises(InputError, match="privacy metric for risk"):
        study(table, "mondrian k=2", risk=metric("iloss"))
    with pytest.raises(InputError, match="utility metric for utility"):
        study(table, "mondrian k=2", utility=metric("k_anonymity"))


def test_an_axis_whose_parameter_is_not_set_is_refused_in_a_sentence(table: Table) -> None:
    """t_closeness is two metrics until its ground is chosen."""
    numbers = sf.read(
        pa.table({"age": [1, 2, 3, 4], "zip": ["a", "a", "b", "b"], "ill": [1, 2, 1, 2], "note": ["u"] * 4})
    )
    with pytest.raises(SfumatoError, match=r"t_closeness\[ordered\] or t_closeness\[equal\]"):
        study(numbers, "mondrian k=2", risk=metric("t_closeness")).run(refine=0).to_dict()


# --- external releases ----------------------------------------------------------------------------------------------


def test_a_release_made_elsewhere_competes(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    release = sf.Mondrian(k=6)(table, ROLES)
    release.table.write(path)
    theirs = Candidate(str(path), release=Release(table=sf.read(path), original=table))
    result = Study(table=table, roles=ROLES, candidates=(theirs, *grid(["mondrian k=6"]))).run(refine=0)
    a, b = result.points
    assert a.candidate.name == str(path)
    for name in ("prosecutor_risk", "iloss", "t_closeness[equal]"):
        assert a.scores[name][1].value == pytest.approx(b.scores[name][1].value)
    assert "minimal_distortion" in a.skipped  # rows are not paired, and it says so
    assert "pair" in a.skipped["minimal_distortion"]
    assert result.to_dict()["candidates"][0]["candidate"] == str(path)


def test_the_grid_is_used_when_no_candidate_is_given(table: Table) -> None:
    names = [candidate.name for candidate in Study(table=table, roles=ROLES).candidates]
    assert "mondrian k=5" in names
    assert any("t_closeness" in name for name in names)
    bare = Study(table=table, roles=sf.Roles(quasi=("age",)))
    assert not any("t_closeness" in c.name or "diversity" in c.name for c in bare.candidates)


# --- candidates from texts ------------------------------------------------------------------------------------------


def test_a_candidate_reads_its_text() -> None:
    found = Candidate.of(
        "mondrian k=5 mode=relaxed require='t_closeness[equal](ill) <= 0.3' require='k_anonymity >= 4'"
    )
    wanted = (require("t_closeness[equal](ill) <= 0.3"), require("k_anonymity >= 4"))
    assert found.mechanism == sf.Mondrian(k=5, mode="relaxed", require=wanted)
    assert found.name == "mondrian k=5 mode=relaxed, t_closeness[equal](ill) <= 0.3, k_anonymity >= 4"


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("mondrian k", InputError, "'k' is not key=value"),
        ("mondrian 'k=5", InputError, "quotes do not match"),
        ("mondrain k=5", InputError, "did you mean 'mondrian'"),
        ("mondrian k=x", InputError, "k must be a whole number"),
        ("mondrian k=0", InputError, "k must be at least 1"),
        ("mondrian l=2", InputError, "no parameter 'l'"),
        ("mondrian k=5 require='iloss <= 0.2'", InputError, "cannot steer by iloss <= 0.2"),
        ("mondrian k=5 require='k_anonimity >= 2'", RequirementError, "did you mean 'k_anonymity'"),
        ("mondrian k=5 require='k_anonymity <= 2'", RequirementError, "better higher"),
        ("mondrian k=5 require=", RequirementError, "Cannot read"),
    ],
)
def test_a_text_that_is_no_candidate_is_refused(text: str, kind: type[SfumatoError], words: str) -> None:
    with pytest.raises(kind, match=words):
        Candidate.of(text)


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_text_is_refused_for_what_it_is(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Candidate.of(text)
    assert "quotes" not in str(caught.value)  # there are none


def test_equal_texts_are_one_candidate() -> None:
    assert len(grid(["mondrian k=2", "mondrian k=3", "mondrian k=2"])) == 2


# --- for machines ---------------------------------------------------------------------------------------------------


def test_to_dict_is_json_the_same_twice_and_complete(table: Table) -> None:
    held = study(table, *KS, "mondrian k=500", "mondrian k=3 mode=relaxed", requirements=("k_anonymity >= 4",))
    first, second = held.run(seed=7, refine=0).to_dict(), held.run(seed=7, refine=0).to_dict()
    text = json.dumps(first, allow_nan=False)
    assert text == json.dumps(second, allow_nan=False)
    content = json.loads(text)
    assert content["rows"] == 120
    assert content["risk"] == "prosecutor_risk"
    assert content["utility"] == "iloss"
    assert content["requirements"] == ["k_anonymity >= 4"]
    assert [c["candidate"] for c in content["candidates"]] == [*KS, "mondrian k=500", "mondrian k=3 mode=relaxed"]
    made = [c for c in content["candidates"] if c["made"]]
    assert len(made) == 6
    for candidate in made:
        k = candidate["scores"]["k_anonymity"]["value"]
        assert candidate["requirements"]["k_anonymity >= 4"] == {"met": k >= 4, "value": k}
        assert candidate["met"] == (k >= 4)
        for score in candidate["scores"].values():
            assert {"value", "unit", "exactness", "sentence", "better", "details"} <= score.keys()
    failed = content["candidates"][5]
    assert not failed["made"]
    assert not failed["met"]
    assert failed["scores"] == {}
    assert failed["failure"]
    assert set(content["frontier"]) == {c["name"] for c in content["candidates"] if c["on_frontier"]}
    assert content["recommended"] in {c["name"] for c in made if c["met"]}
    assert content["why"]


def test_another_order_of_rows_gives_the_same_numbers(table: Table) -> None:
    order = np.random.default_rng(0).permutation(120)
    shuffled = sf.read(pa.table({name: np.asarray(values)[order] for name, values in columns().items()}))
    a, b = (study(t, *KS, "mondrian k=3 mode=relaxed").run(seed=1, refine=0).to_dict() for t in (table, shuffled))
    assert json.dumps(a) == json.dumps(b)


def test_progress_counts_the_candidates(table: Table) -> None:
    seen: list[tuple[int, str]] = []
    study(table, "mondrian k=2", "mondrian k=3").run(refine=0, progress=lambda done, name: seen.append((done, name)))
    first, second = "mondrian k=2", "mondrian k=3"
    assert seen == [(0, first), (1, first), (1, second), (2, second), (2, "")]


@pytest.mark.parametrize(("x", "spelled"), [(5.0, "5"), (0.5, "0.5"), (-2.0, "-2"), (1e300, "1e+300")])
def test_whole_numbers_are_printed_whole(x: float, spelled: str) -> None:
    assert json.dumps(number(x)) == spelled


# --- the commands that make it again --------------------------------------------------------------------------------


def test_the_commands_name_everything_that_made_the_release(table: Table) -> None:
    text = "mondrian k=5 mode=relaxed require='distinct_l_diversity >= 2'"
    result = study(table, text, requirements=("k_anonymity >= 4",)).run(refine=0)
    make, check = (shlex.split(command) for command in result.commands("out file.csv"))
    assert make[:2] == ["sfumato", "sanitize"]
    assert make[make.index("--mechanism") + 1] == "mondrian"
    assert {"k=5", "mode=relaxed"} <= set(make)
    assert check[:2] == ["sfumato", "verify"]
    for words in (make, check):
        asked = [words[i + 1] for i, word in enumerate(words) if word == "--require"]
        assert asked == ["k_anonymity >= 5", "distinct_l_diversity >= 2"]  # five are four, too
        assert words[words.index("--roles") + 1] == "roles.toml"
        assert "out file.csv" in words  # one word to a shell


# --- exposure class by class ----------------------------------------------------------------------------------------


def test_exposure_counts_every_row_and_class_once_and_names_no_value(table: Table) -> None:
    release = sf.Mondrian(k=4)(table, ROLES)
    (found,) = exposure(release, ROLES)
    classes = release.evidence(ROLES).classes("ill")
    assert found.column == "ill"
    for measure in ("distribution_leakage", "entropy_leakage"):
        bins = [row for row in found.bins if row.measure == measure]
        assert sum(row.rows for row in bins) == 120
        assert sum(row.classes for row in bins) == len(classes)
        assert bins[0].low == 0
        assert bins[-1].high == pytest.approx(metric(measure)(release, ROLES).value)
    leaks = [row.distribution_leakage for row in found.worst]
    assert leaks == sorted(leaks, reverse=True)
    assert leaks[0] == pytest.approx(metric("distribution_leakage")(release, ROLES).value)
    assert len(found.worst) == min(10, len(classes))
    for row in found.worst:
        assert row.rows == classes.size[row.number - 1]


def test_exposure_of_a_release_that_leaks_nothing() -> None:
    original = sf.read(pa.table({"q": [1, 2, 3, 4], "s": list("abab")}))
    roles = sf.Roles(quasi=("q",), sensitive=("s",))
    (found,) = exposure(sf.Mondrian(k=4)(original, roles), roles)
    assert found.worst == (ExposedClass(number=1, rows=4, values=2, distribution_leakage=0.0, entropy_leakage=0.0),)
    assert sum(row.rows for row in found.bins) == 8  # four rows in each of two measures
