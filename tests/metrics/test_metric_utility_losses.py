"""Granularity, ARX's Loss, non-uniform entropy, the classification metric and IGPL: extremes, then formulas by hand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from house import Make, exactly
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import encode
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.roles import Roles
from sfumato.metrics.utility.arx_loss import arx_loss
from sfumato.metrics.utility.classification_metric import classification_metric
from sfumato.metrics.utility.granularity import granularity
from sfumato.metrics.utility.igpl import igpl, step, trade
from sfumato.metrics.utility.non_uniform_entropy import non_uniform_entropy

JOBS = Hierarchy.of(
    "job",
    [
        ("painter", "artist", "*"),
        ("dancer", "artist", "*"),
        ("writer", "artist", "*"),
        ("lawyer", "professional", "*"),
        ("engineer", "professional", "*"),
    ],
)
ROLES = Roles(quasi=("job", "age"), sensitive=("s",), hierarchies={"job": JOBS})
ORIGINAL = {
    "job": ["painter", "dancer", "lawyer", "lawyer"],
    "age": ["20", "21", "30", "39"],
    "s": ["a", "a", "b", "c"],
}
EVERYTHING = {"job": ["*"] * 4, "age": ["*"] * 4, "s": ORIGINAL["s"]}
PARTLY = {**ORIGINAL, "job": ["artist", "artist", "lawyer", "lawyer"], "age": ["20-29", "20-29", "*", "*"]}
LOSSES = [granularity, arx_loss(aggregate="arithmetic"), arx_loss(aggregate="geometric"), non_uniform_entropy]


@pytest.mark.parametrize("metric", LOSSES, ids=str)
def test_nothing_lost_and_everything_lost(release: Make, metric: Any) -> None:
    assert metric(release(ORIGINAL, ORIGINAL, pairing="position"), ROLES).value == 0
    assert metric(release(EVERYTHING, ORIGINAL, pairing="position"), ROLES).value == exactly(1)


@pytest.mark.parametrize("metric", LOSSES[:3], ids=str)
def test_a_column_of_one_value_has_nothing_to_lose(release: Make, metric: Any) -> None:
    roles = Roles(quasi=("q",))
    assert metric(release({"q": ["*", "*"]}, {"q": ["x", "x"]}), roles).value == 0


def test_granularity_by_hand(release: Make) -> None:
    score = granularity(release(PARTLY, ORIGINAL), ROLES)
    job, age = (2 / 4 + 2 / 4 + 0 + 0) / 4, (1 / 3 + 1 / 3 + 1 + 1) / 4
    assert score.details["columns"] == {"job": exactly(job), "age": exactly(age)}
    assert score.value == exactly((job + age) / 2)


def test_arx_loss_by_its_own_formula(release: Make) -> None:
    """As PEERS.md writes it, with dom 5 for the jobs (the file's leaves) and 4 for the ages, and a row that is gone."""
    published = {name: values[:3] for name, values in PARTLY.items()}
    n = 4
    shares = {"job": [3 / 5, 3 / 5, 1 / 5, 1], "age": [2 / 4, 2 / 4, 1, 1]}
    loss = [(sum(shares[c]) - n / dom) / (n - n / dom) for c, dom in (("job", 5), ("age", 4))]
    found = {a: arx_loss(aggregate=a)(release(published, ORIGINAL), ROLES).value for a in ("arithmetic", "geometric")}
    assert found["arithmetic"] == exactly(sum(loss) / 2)
    assert found["geometric"] == exactly(math.sqrt((1 + loss[0]) * (1 + loss[1])) - 1)
    assert found["geometric"] < found["arithmetic"]  # the means' inequality; the two columns differ


def test_a_removed_row_counts_as_lost(release: Make) -> None:
    half = {name: values[:2] for name, values in ORIGINAL.items()}
    assert granularity(release(half, ORIGINAL), ROLES).value == exactly(0.5)
    assert arx_loss(aggregate="geometric")(release(half, ORIGINAL), ROLES).value == exactly(0.5)


def test_weights_choose_the_columns_but_not_for_arx(release: Make) -> None:
    only_age = Roles(quasi=("job", "age"), sensitive=("s",), hierarchies={"job": JOBS}, weights={"job": 0})
    published = release(PARTLY, ORIGINAL)
    assert granularity(published, only_age).value == exactly(2 / 3)
    assert (
        arx_loss(aggregate="arithmetic")(published, only_age).value
        == arx_loss(aggregate="arithmetic")(published, ROLES).value
    )


def test_what_cannot_be_read_is_refused(release: Make, refusal: Any, canary: str) -> None:
    published = release({**ORIGINAL, "job": [canary] * 4}, ORIGINAL)
    for metric in LOSSES[:3]:
        refusal(Unavailable, lambda m=metric: m(published, ROLES), "job", metric.card.name)
    nothing = Roles(quasi=("job", "age"), weights={"job": 0, "age": 0}, hierarchies={"job": JOBS})
    refusal(Unavailable, lambda: granularity(release(PARTLY, ORIGINAL), nothing), "weight")


# --- non-uniform entropy ---------------------------------------------------------------------------------------------


def test_non_uniform_entropy_by_gionis_and_tassa(release: Make) -> None:
    """Full-domain recoding: -log2 of the frequency of the value among those that its label covers."""
    frequency = Counter(ORIGINAL["job"])
    group = {"painter": "artist", "dancer": "artist", "lawyer": "professional"}
    covered = Counter(group[j] for j in ORIGINAL["job"])
    job = sum(-math.log2(frequency[j] / covered[group[j]]) for j in ORIGINAL["job"])
    published = {**ORIGINAL, "job": [group[j] for j in ORIGINAL["job"]]}
    score = non_uniform_entropy(release(published, ORIGINAL, pairing="position"), ROLES)
    assert score.details["columns"] == {"job": exactly(job), "age": 0}
    assert score.details["bits_if_suppressed"] == exactly(4 * 1.5 + 4 * 2)
    assert score.value == exactly(job / 14)


def test_non_uniform_entropy_is_the_conditional_entropy(release: Make) -> None:
    rng = np.random.default_rng(4)
    x, r = rng.integers(0, 6, 300), rng.integers(0, 3, 300)
    released = release({"q": [f"{{{a}, {a}}}" for a in r]}, {"q": x.astype(str).tolist()}, pairing="position")
    both, one = Counter(zip(r, x, strict=True)), Counter(r)
    bits = -sum(n * math.log2(n / one[a]) for (a, _), n in both.items())
    assert non_uniform_entropy(released, Roles(quasi=("q",))).details["bits"] == pytest.approx(bits)


def test_non_uniform_entropy_of_removed_rows(release: Make) -> None:
    """Rows that are gone are like rows that are `*`: the same bits."""
    before = {"id": ["1", "2", "3", "4"], "q": ["a", "b", "a", "c"]}
    gone = {"id": ["1", "2"], "q": ["a", "*"]}
    starred = {"id": ["1", "2", "3", "4"], "q": ["a", "*", "*", "*"]}
    one, two = (non_uniform_entropy(release(t, before, pairing="key:id"), Roles(quasi=("q",))) for t in (gone, starred))
    assert one.value == two.value == exactly(3 * math.log2(3) / 6)


def test_non_uniform_entropy_needs_pairs(release: Make, refusal: Any) -> None:
    refusal(Unavailable, lambda: non_uniform_entropy(release(PARTLY, ORIGINAL), ROLES), "--pair")
    refusal(
        InputError,
        lambda: non_uniform_entropy(
            release({n: v[:2] for n, v in PARTLY.items()}, ORIGINAL, pairing="position"), ROLES
        ),
    )


# --- classification metric -------------------------------------------------------------------------------------------

ONE = Roles(quasi=("q",), sensitive=("s",))


def test_classification_extremes(release: Make) -> None:
    labels = list("abcdabcd")
    assert classification_metric(release({"q": [str(i) for i in range(8)], "s": labels}), ONE).value == 0
    assert classification_metric(release({"q": ["*"] * 8, "s": labels}), ONE).value == 0.75
    assert classification_metric(release({"q": ["*"] * 8, "s": ["a"] * 8}), ONE).value == 0


def test_a_tie_is_not_free(release: Make) -> None:
    """pyCANON's answer for two labels of two rows each is 0."""
    score = classification_metric(release({"q": ["x"] * 4 + ["y"] * 3, "s": list("aabbccd")}), ONE)
    assert score.value == 3 / 7
    assert score.details["minority_rows"] == 3


def test_removed_rows_are_wrong(release: Make) -> None:
    published = release({"q": ["x", "x"], "s": ["a", "a"]}, {"q": list("xxyz"), "s": list("aabb")})
    assert classification_metric(published, ONE).value == 0.5


def test_classification_by_counting(release: Make) -> None:
    rng = np.random.default_rng(1)
    q, s = rng.integers(0, 9, 400).astype(str), rng.integers(0, 5, 400)
    label = [None if v == 4 else f"s{v}" for v in s]  # missing is a label
    wrong = sum(
        len(here) - Counter(here).most_common(1)[0][1]
        for here in ([w for c, w in zip(q, label, strict=True) if c == k] for k in set(q))
    )
    assert classification_metric(release({"q": q.tolist(), "s": label}), ONE).value == wrong / 400


def test_the_label_is_the_column_named(release: Make) -> None:
    published = release({"q": list("xxyy"), "s": list("abab"), "t": list("ccdd")})
    assert classification_metric(published, ONE).value == 0.5
    assert classification_metric.on("t")(published, ONE).value == 0


# --- IGPL ------------------------------------------------------------------------------------------------------------


def classes(text: dict[str, str]) -> Classes:
    values = [v for vs in text.values() for v in vs]
    column, value = encode("s", pa.array(values))
    member = np.repeat(np.arange(len(text)), [len(vs) for vs in text.values()])
    total = np.bincount(value, minlength=len(column))
    return Classes.of(
        member, np.ones(len(values), int), count=len(text), value=value, sensitive=Sensitive(column, total)
    )


def test_igpl_extremes(release: Make) -> None:
    assert igpl(release({"q": ["*"] * 4, "s": list("aabb")}), ONE).value == 0
    assert igpl(release({"q": list("wxyz"), "s": list("aabb")}), ONE).value == exactly(1 / 4)
    assert igpl(release({"q": list("xxyy"), "s": list("aabb")}), ONE).value == exactly(1 / 3)
    assert igpl(release({"q": list("wxyz"), "s": list("aaaa")}), ONE).value == 0


def test_a_step_by_hand() -> None:
    """Fung's H(parent) - weighted H(children), over the table; the smallest class falls from 4 to 1."""
    before, after = classes({"x": "aabb", "y": "ccccc"}), classes({"x1": "aab", "x2": "b", "y": "ccccc"})
    gain = (4 * 1 - 3 * (math.log2(3) - 2 / 3)) / 9
    assert step(before, after) == exactly(gain / (3 + 1))
    assert step(before, before) == 0
    assert trade(0.5, 1) == 0.25  # PL - 1 would divide by zero


def test_a_step_that_costs_nothing_scores_its_gain() -> None:
    before, after = classes({"x": "aabb", "y": "cc"}), classes({"x1": "aa", "x2": "bb", "y": "cc"})
    assert step(before, after) == exactly(4 / 6)
