"""The k-anonymity channel as a whole: description, file, priors, methods, matrix; the paper's example in every way."""

from __future__ import annotations

import json
import math
import random
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from k_anonymity_oracle import (
    AGE,
    DISEASE,
    GENDER,
    NOTHING,
    error,
    matrix,
    nodes,
    paper,
    rows_prior,
    some_description,
    tables,
)

from sfumato.channel.k_anonymity import CHANNEL, Description, channel, parse, read, solve
from sfumato.channel.publishing_rule import RULES
from sfumato.channel.tables import Attribute
from sfumato.core.errors import InputError

FILE = """
rows = 5
k = 2
publish = "uniform"

[[attribute]]
name = "age"
role = "quasi"
levels = [["1", "2", "3", "4"], ["12", "12", "34", "34"], ["*", "*", "*", "*"]]

[[attribute]]
name = "gender"
role = "quasi"
levels = [["m", "f"], ["*", "*"]]

[[attribute]]
name = "disease"
role = "sensitive"
levels = [["cold", "heart attack", "diabetes"]]
"""


def changed(d: Description, **changes: Any) -> Description:
    fields = ("rows", "attributes", "k", "l", "t", "publish")
    return Description(**({name: getattr(d, name) for name in fields} | changes))


def some_rows(d: Description, rng: random.Random) -> dict[str, list[Fraction]]:
    found = {}
    for a in d.attributes:
        if rng.random() < 0.7:
            weights = [rng.randint(0, 4) + (i == 0) for i in range(len(a.levels[0]))]
            found[a.name] = [Fraction(w, sum(weights)) for w in weights]
    return found


# --- extremes --------------------------------------------------------------------------------------------------------


def test_nothing_generalized_and_nothing_demanded_tells_everything() -> None:
    bare = Attribute(name="a", role="quasi", levels=(("1", "2", "3"),))
    assert solve(Description(rows=3, attributes=(bare,))).exact == 0


def test_one_released_value_and_no_sensitive_column_tell_nothing() -> None:
    found = solve(Description(rows=3, k=3, publish="most general", attributes=(GENDER,)))
    assert found.exact == 1 - Fraction(1, 4)
    assert found.bounds == (0.75, 0.75)


def test_a_demand_that_no_table_meets_tells_nothing() -> None:
    found = solve(paper(k=6))
    assert found.exact == 1 - Fraction(1, 98_280)
    assert (found.outputs, found.reached, found.refused) == (0, 0, 98_280)


def test_a_point_mass_is_guessed() -> None:
    table = (("1", "m", "cold"),) * 5
    assert solve(paper(), prior={table: 1}).exact == 0


# --- the paper -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "count", "enumerate", "orbits"])
def test_the_papers_example_in_every_way(method: Any, tmp_path: Path) -> None:
    path = tmp_path / "paper.toml"
    path.write_text(FILE, encoding="utf-8")
    started = time.process_time()
    found = solve(read(path), method=method)
    assert time.process_time() - started < 20
    assert (found.inputs, found.outputs, found.exactness) == (98_280, 5_481, "exact")
    assert found.error == pytest.approx(0.9873829873829875, abs=1e-15)
    assert found.exact == Fraction(97_040, 98_280)
    assert found.bounds == pytest.approx((1 - 5_481 / 98_280, 1 - 1 / 98_280))


def test_deterministic_publishing_of_the_papers_example() -> None:
    for method in ("count", "enumerate", "orbits"):
        found = solve(paper(publish="deterministic"), method=method)  # type: ignore[arg-type]
        assert found.error == pytest.approx(0.9442307692307692, abs=1e-15)
        assert found.error == pytest.approx(found.bounds[0])  # it stands at the lower bound, 1 - m/n


def test_the_papers_channel_is_a_matrix() -> None:
    made = channel(paper())
    assert made.shape == (98_280, 5_481)
    largest = np.asarray(made.matrix.max(axis=0).todense()).ravel()
    assert 1 - largest.sum() / 98_280 == pytest.approx(0.9873829873829875, abs=1e-12)


# --- against plain Python --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(50))
def test_every_method_agrees_with_plain_python(seed: int) -> None:
    d = some_description(seed, most=400)
    pairs, made, refused = matrix(d)
    expected = error(d)
    for method in ("auto", "enumerate", "orbits"):
        found = solve(d, method=method)  # type: ignore[arg-type]
        assert found.exact == expected
        assert found.error == float(expected)
        assert (found.inputs, found.outputs) == (len(tables(d)), len(made))
        assert found.refused in (refused, None)
        assert found.reached == len({output for _, output in pairs} - {NOTHING})
        assert found.bounds[0] - 1e-12 <= found.error <= found.bounds[1] + 1e-12


@pytest.mark.parametrize("seed", range(25))
def test_any_rule_under_any_prior_agrees_with_plain_python(seed: int) -> None:
    rng = random.Random(seed)
    d = some_description(seed, most=200)
    weights = [rng.choice([0, 1, 2, 0.5]) for _ in nodes(d)]
    for publish in (d.publish, weights, lambda free: free[len(free) // 2]):
        d = changed(d, publish=publish)
        assert solve(d).exact == error(d)
        given = some_rows(d, rng)
        rows = rows_prior(d, given)
        assert solve(d, prior=given).exact == error(d, rows)
        every = tables(d)
        assert solve(d, prior={x: rows[x] for x in every}).exact == error(d, rows)
        few = rng.sample(every, min(5, len(every)))
        odds = [rng.randint(1, 5) for _ in few]
        listed = {x: Fraction(w, sum(odds)) for x, w in zip(few, odds, strict=True)}
        found = solve(d, prior=listed)
        assert found.exact == error(d, listed)
        assert found.exactness == "exact"


@pytest.mark.parametrize("seed", range(15))
def test_the_matrix_agrees_with_plain_python(seed: int) -> None:
    d = some_description(seed, most=150)
    made, expected = channel(d), matrix(d)[0]
    rows = {tuple(sorted(x)): i for i, x in enumerate(made.input_names)}  # type: ignore[call-overload]
    columns = {NOTHING if y == "nothing" else (y[0], tuple(sorted(y[1]))): j for j, y in enumerate(made.output_names)}  # type: ignore[index]
    dense = np.zeros(made.shape)
    for (x, y), p in expected.items():
        dense[rows[x], columns[y]] = float(p)
    assert np.abs(made.dense() - dense).max() < 1e-15
    assert len(columns) == made.shape[1]


# --- priors ----------------------------------------------------------------------------------------------------------


def test_uniform_attributes_are_no_uniform_prior() -> None:
    assert solve(paper(), prior={}).error == pytest.approx(0.9894474484792952, abs=1e-12)
    assert solve(paper(), prior="uniform").error == solve(paper()).error


def test_a_list_of_probabilities_is_in_the_order_of_the_inputs() -> None:
    d = Description(rows=2, k=2, attributes=(GENDER, DISEASE))
    inputs = channel(d).input_names
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 9, size=len(inputs))
    p = [Fraction(int(w), int(weights.sum())) for w in weights]
    assert solve(d, prior=p).exact == error(d, {tuple(sorted(x)): q for x, q in zip(inputs, p, strict=True)})  # type: ignore[call-overload]


def test_a_few_tables_of_a_domain_that_cannot_be_numbered() -> None:
    """Two tables of 40 rows over 10,000 values: one generalizes to the other's release, and they are told apart by chance."""
    wide = Attribute(name="a", role="quasi", levels=(tuple(str(i) for i in range(10_000)), ("*",) * 10_000))
    d = Description(rows=40, k=2, publish="deterministic", attributes=(wide,))
    spread, pairs = tuple((str(i),) for i in range(40)), tuple((str(i // 2),) for i in range(40))
    other = tuple((str(i + 1),) for i in range(40))
    assert solve(d, prior={spread: 0.5, pairs: 0.5}).exact == 0
    assert solve(d, prior={spread: 0.5, other: 0.5}).exact == Fraction(1, 2)


def test_a_few_tables_of_a_domain_that_cannot_be_listed() -> None:
    """Four attributes of 300 values: 8·10^9 cells. Two tables that agree at the most general node alone, published there."""
    wide = [Attribute(name=n, role="quasi", levels=(tuple(str(i) for i in range(300)), ("*",) * 300)) for n in "abcd"]
    d = Description(rows=2, k=2, attributes=(*wide, DISEASE))
    one = (("0", "0", "0", "0", "cold"), ("299", "299", "299", "299", "cold"))
    two = (("5", "6", "7", "8", "cold"), ("6", "7", "8", "9", "cold"))
    three = (("5", "6", "7", "8", "cold"), ("5", "6", "7", "8", "cold"))
    assert solve(d, prior={one: 0.5, two: 0.5}).exact == Fraction(1, 2)
    # the third may be released at all 16 nodes, so the most general one, 1 time in 16, is read as the other table's
    assert solve(d, prior={one: 0.5, three: 0.5}).exact == Fraction(1, 32)
    with pytest.raises(InputError, match="possible rows"):
        solve(d, prior={})
    with pytest.raises(InputError, match="combinations of quasi-identifiers"):
        solve(changed(d, publish=lambda free: free[0]))


def test_probabilities_in_the_description_are_the_prior() -> None:
    p = (Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10))
    aged = Attribute(name="age", role="quasi", levels=AGE.levels, probabilities=p)
    d = Description(rows=3, k=2, attributes=(aged, GENDER, DISEASE))
    plain = Description(rows=3, k=2, attributes=(AGE, GENDER, DISEASE))
    assert solve(d).exact == solve(plain, prior={"age": list(p)}).exact
    assert solve(d, prior="uniform").exact == solve(plain).exact


@pytest.mark.parametrize(
    ("prior", "says"),
    [
        ("flat", "The prior must be"),
        ({"age": [0.5, 0.5]}, "must be 4 numbers"),
        ({"age": [0.5, 0.5, 0.5, 0.5]}, "sum to 1"),
        ({"age": [1.5, -0.5, 0, 0]}, "at least 0"),
        ({"age": ["a", 0, 0, 0]}, "must be numbers"),
        ({"shoe size": [1.0]}, "an attribute that the table does not have"),
        ({(("1", "m", "cold"),): 1}, "does not have 2 rows"),
        ({(("1", "m", "flu"),) * 2: 1}, "not of the attributes' values"),
        ([0.5, 0.5], "must be 300 numbers"),
    ],
)
def test_priors_that_cannot_be_used_are_refused(prior: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve(paper(rows=2), prior=prior)


# --- theorems --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(15))
def test_asking_for_more_leaves_fewer_releases(seed: int) -> None:
    d = some_description(seed, k=1, t=None)
    found = [solve(changed(d, k=k)).outputs for k in (1, 2, 3, 4)]
    assert found == sorted(found, reverse=True)  # type: ignore[type-var]


@pytest.mark.parametrize("publish", RULES)
def test_looking_never_adds_error(publish: str) -> None:
    d = paper(rows=3, publish=publish)
    blind = 1 - max(rows_prior(d, {"disease": [Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)]}).values())
    found = solve(d, prior={"disease": [0.8, 0.1, 0.1]})
    assert found.error <= blind
    assert found.bounds[1] == pytest.approx(float(blind), abs=1e-12)
    assert found.bounds[0] - 1e-12 <= found.error


def test_a_table_without_a_release_says_so() -> None:
    """l = 2: five rows with one disease, 3 diseases for C(12, 5) choices of age and gender, are released nowhere, and share an output."""
    found = solve(paper(l=2))
    assert found.refused == 3 * math.comb(8 + 5 - 1, 5)
    assert solve(paper()).refused == 0
    assert found.exact == solve(paper(l=2), method="enumerate").exact
    made = channel(paper(l=2))
    assert made.output_names[-1] == "nothing"
    assert made.matrix[:, [made.shape[1] - 1]].sum() == found.refused
    assert made.shape[1] == found.outputs + 1  # type: ignore[operator]


def test_an_error_too_near_to_1_for_a_float_is_still_known() -> None:
    wide = Attribute(name="a", role="quasi", levels=(tuple(str(i) for i in range(1_000)), ("*",) * 1_000))
    found = solve(Description(rows=100, k=5, attributes=(wide, DISEASE)))
    assert found.error == 1.0
    assert found.exact is not None
    assert found.exact < 1
    assert -1_200 < found.log2_right < -100
    assert found.as_json()["log2_right"] == found.log2_right


# --- the file --------------------------------------------------------------------------------------------------------


def test_a_file_says_what_the_description_says(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    path.write_text(FILE, encoding="utf-8")
    assert read(path) == paper()
    path.write_text(FILE.replace("k = 2", "k = 2\nl = 2\nt = 0.3"), encoding="utf-8")
    found = read(path)
    assert (found.l, found.demand.t) == (2, Fraction(3, 10))
    path.write_text(FILE.replace('"uniform"', '"weights"\nweights = [1, 2, 3, 4, 5, 6]'), encoding="utf-8")
    assert read(path).publish == [1, 2, 3, 4, 5, 6]
    path.write_text(FILE.replace('name = "gender"', 'name = "gender"\nprobabilities = [0.25, 0.75]'), encoding="utf-8")
    assert read(path).prior == {"gender": (0.25, 0.75)}


def test_what_is_printed_as_json() -> None:
    found = json.loads(json.dumps(solve(paper()).as_json()))
    assert (found["inputs"], found["outputs"], found["exactness"], found["exact"]) == (
        98_280,
        5_481,
        "exact",
        "2426/2457",
    )
    assert found["error"] == pytest.approx(0.9873829873829875, abs=1e-15)
    assert {"bounds", "method", "seconds", "reached", "refused"} <= set(found)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("rows = 5", "", "rows is missing"),
        ("k = 2", "", "such as k = 2"),
        ("k = 2", "k = 0", "k must be a whole number"),
        ("k = 2", "k = true", "k must be a whole number"),
        ("k = 2", "k = 2\nl = 1.5", "l must be a whole number"),
        ("k = 2", "t = 2", "t must be a number from 0 to 1"),
        ("k = 2", 't = "a"', "t must be a number from 0 to 1"),
        ("k = 2", "k = 2\nm = 3", "unknown key 'm'"),
        ("rows = 5", 'rows = "5"', "rows must be a whole number"),
        ('"uniform"', '"best"', "publish must be one of"),
        ('"uniform"', "3", "publish must be a text"),
        ('"uniform"', '"weights"', "go together"),
        ('"uniform"', '"weights"\nweights = [1]', "1 weights for 6 nodes"),
        ('"uniform"', '"weights"\nweights = ["a"]', "list of numbers"),
        ('role = "sensitive"', 'role = "secret"', "role must be"),
        ('role = "sensitive"', "", "attribute 3: role is missing"),
        ('name = "age"', "", "attribute 1: name is missing"),
        ('name = "age"', "name = 4", "attribute 1: name must be a text"),
        ('name = "age"', 'name = "gender"', "same name"),
        ('[["m", "f"], ["*", "*"]]', '["m", "f"]', "attribute 2: levels must be a list of lists"),
        ('[["m", "f"], ["*", "*"]]', '[["m", "f"], ["*"]]', "level 1 has 1 entries for 2 values"),
        ('[["m", "f"], ["*", "*"]]', '[["m", [1]], ["*", "*"]]', "texts or numbers"),
        ('name = "gender"', 'name = "gender"\nprobabilities = "a"', "list of numbers"),
        ('name = "gender"', 'name = "gender"\nprobabilities = [1]', "one number for each of its 2 values"),
        ("[[attribute]]", "[[column]]", "unknown key 'column'"),
        ("rows = 5", "rows = ", "not a TOML file"),
    ],
)
def test_files_that_cannot_be_used_are_refused(old: str, new: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    path.write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=says) as refusal:
        read(path)
    text = str(refusal.value)
    assert text.startswith(str(path))
    assert text.endswith(".")
    assert "heart" not in text


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "none.toml")
    with pytest.raises(InputError, match="a folder"):
        read(tmp_path)
    with pytest.raises(InputError, match="attribute"):
        parse({"rows": 3, "k": 2})


# --- what cannot be done ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"method": "guess"}, "method must be one of"),
        ({"method": "count", "prior": {}}, "Counting alone"),
        ({"method": "orbits", "prior": {(("1", "m", "cold"),) * 5: 1}}, "not for tables that a prior lists"),
        ({"method": "sample", "prior": {(("1", "m", "cold"),) * 5: 1}}, "are enumerated"),
        ({"method": "sample", "samples": 1}, "at least two samples"),
        ({"method": "sample", "confidence": 1.0}, "confidence between 0 and 1"),
    ],
)
def test_methods_that_do_not_fit_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve(paper(), **given)


def test_too_large_for_a_matrix_or_a_number() -> None:
    with pytest.raises(InputError, match=f"{CHANNEL:,}"):
        channel(paper(rows=8))
    wide = Attribute(name="a", role="quasi", levels=(tuple(str(i) for i in range(10_000)), ("*",) * 10_000))
    with pytest.raises(InputError, match="64 bits"):
        solve(Description(rows=40, k=2, attributes=(wide,)), method="enumerate")
    with pytest.raises(InputError, match="at most 150 rows"):
        solve(paper(rows=151), prior={})


def test_l_and_t_need_a_sensitive_attribute() -> None:
    for given in ({"l": 2}, {"t": 0.1}):
        with pytest.raises(InputError, match="about sensitive values"):
            Description(rows=3, attributes=(AGE,), **given)


def test_no_bound_is_below_nothing() -> None:
    """With more releases than tables, each of several chosen at random, 1 - m/n is negative; an error is not."""
    levels = ((("a", "b"), ("*", "*")),) * 3
    parts = [Attribute(name=f"q{i}", levels=each, role="quasi") for i, each in enumerate(levels)]
    described = Description(attributes=tuple(parts), rows=1, k=1, publish="uniform")
    for method in ("count", "enumerate", "orbits"):
        found = solve(described, method=method)  # type: ignore[arg-type]
        assert found.outputs > found.inputs
        assert 0 <= found.bounds[0] <= found.error <= found.bounds[1]
