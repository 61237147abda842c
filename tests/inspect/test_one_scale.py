"""One scale: releases and randomized response measured for the same adversary; extremes, then a second derivation by channels."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.channel import adversary, channel, leakage, mechanisms
from sfumato.core.classes import Classes
from sfumato.inspect.one_scale import Told, most_certain, one_scale, randomized_response, told_by

ROLES = sf.Roles(quasi=("q",), sensitive=("s",))


def release(classes: list[str], values: list[str]) -> sf.Release:
    import pyarrow as pa

    return sf.Release(table=sf.read(pa.table({"q": classes, "s": values})))


def scale(classes: str, values: str) -> sf.inspect.one_scale.EpsilonScale:
    return one_scale({"made": release([*classes], [*values])}, ROLES)


def test_one_class_tells_nothing() -> None:
    line = scale("aaaaaa", "xxxyyz").lines[0]
    assert line.told.bits == pytest.approx(0, abs=1e-12)
    assert line.told.guessed == 1 / 2
    assert line.epsilon == Told(0.0, 0.0, 0.0)


def test_a_class_a_value_tells_everything_and_no_epsilon_does() -> None:
    made = scale("aabbcc", "xxyyzz")
    line = made.lines[0]
    assert line.told == Told(pytest.approx(math.log2(3)), 1.0, 1.0)
    assert line.epsilon == Told(math.inf, math.inf, math.inf)
    assert "which no epsilon does" in made.sentences[0]
    assert "at no epsilon" in made.sentences[0]


def test_a_column_of_one_value_has_nothing_to_tell() -> None:
    assert scale("aabb", "xxxx").lines[0].epsilon == Told(0.0, 0.0, 0.0)


def test_by_hand() -> None:
    """Two even values, classes of 3 and 1 against 1 and 3: three of four are guessed, as randomized answers that are true with 3/4 = e^eps/(1 + e^eps)."""
    line = scale("aaaabbbb", "xxxyxyyy").lines[0]
    assert line.told.guessed == line.told.certainty == 3 / 4
    assert line.told.bits == pytest.approx(1 - (2 - 0.75 * math.log2(3)))
    for epsilon in (line.epsilon.bits, line.epsilon.guessed, line.epsilon.certainty):
        assert epsilon == pytest.approx(math.log(3), abs=1e-9)


PRIORS = st.lists(st.integers(1, 50), min_size=2, max_size=6).map(lambda n: np.array(n) / sum(n))


@given(PRIORS, st.floats(0, 12))
def test_randomized_response_is_the_channel_of_pram(prior: np.ndarray, epsilon: float) -> None:
    """The closed form against the channel room: PRAM that keeps a value with e^eps/(e^eps + m - 1)."""
    m = len(prior)
    made = mechanisms.pram(m, math.exp(epsilon) / (math.exp(epsilon) + m - 1))
    told = randomized_response(prior, epsilon)
    assert told.bits == pytest.approx(leakage.mutual_information(made, prior), abs=1e-9)
    assert told.guessed == pytest.approx(1 - adversary.error(made, prior), abs=1e-9)
    assert told.certainty == pytest.approx(max(adversary.posterior(made, y, prior).max() for y in range(m)), abs=1e-9)
    assert told.certainty <= most_certain(prior, epsilon) + 1e-12


@given(PRIORS, st.floats(0, 8), st.floats(0, 2))
def test_each_measure_grows_with_epsilon(prior: np.ndarray, epsilon: float, more: float) -> None:
    less, than = randomized_response(prior, epsilon), randomized_response(prior, epsilon + more)
    assert less.bits <= than.bits + 1e-9
    assert less.guessed <= than.guessed + 1e-12
    assert less.certainty <= than.certainty + 1e-12


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=30))
def test_what_classes_tell_is_what_their_channel_tells(rows: list[tuple[str, str]]) -> None:
    """p(c|w) as a channel, and its Bayes error, information and posteriors."""
    classes, values = zip(*rows, strict=True)
    made = release([*classes], [*values])
    told = told_by(made.evidence(ROLES).classes("s"))
    names, groups = sorted(set(values)), sorted(set(classes))
    joint = np.array([[rows.count((c, w)) for c in groups] for w in names]) / len(rows)
    prior = joint.sum(axis=1)
    as_channel = channel.Channel(matrix=joint / prior[:, None])
    assert told.bits == pytest.approx(leakage.mutual_information(as_channel, prior), abs=1e-9)
    assert told.guessed == pytest.approx(1 - adversary.error(as_channel, prior), abs=1e-9)
    assert told.certainty == pytest.approx((joint / joint.sum(axis=0)).max())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=30))
def test_the_epsilon_tells_as_much_and_no_smaller_one_does(rows: list[tuple[str, str]]) -> None:
    classes, values = zip(*rows, strict=True)
    line = scale("".join(classes), "".join(values)).lines[0]
    prior = np.array([values.count(w) for w in sorted(set(values))]) / len(values)
    for which in ("bits", "guessed", "certainty"):
        epsilon, told = getattr(line.epsilon, which), getattr(line.told, which)
        if 0 < epsilon < math.inf:
            assert getattr(randomized_response(prior, epsilon), which) >= told - 1e-9
            assert getattr(randomized_response(prior, epsilon * (1 - 1e-6)), which) < told + 1e-12


def test_it_is_json_and_prints_no_value_of_the_data() -> None:
    made = scale("aabb", "xyxz")
    assert json.dumps(made.to_dict()).count("guessed") > 1
    assert "'x'" not in repr(made)
    assert isinstance(made.lines[0].told, Told)
    assert isinstance(release([*"ab"], [*"xy"]).evidence(ROLES).classes("s"), Classes)
