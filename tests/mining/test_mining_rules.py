"""The rule miners and naive Bayes against plain loops over rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from sfumato.mining.rules import DecisionTable, DecisionTableNumbers, Filled, NaiveBayes, OneRule


def data(seed: int, rows: int = 150) -> tuple[Any, Any]:
    """Three columns of codes; the second tells most of y, together with the third more."""
    rng = np.random.default_rng(seed)
    x = np.stack([rng.integers(0, 3, rows), rng.integers(0, 5, rows), rng.integers(0, 4, rows)], axis=1).astype(float)
    y = (x[:, 1] + (x[:, 2] > 2) + (rng.random(rows) < 0.2)) % 3
    return x, y.astype(np.int64)


def top(values: Any) -> int:
    """The most frequent, the least of equally frequent ones."""
    counts = Counter(int(v) for v in values)
    return min(counts, key=lambda v: (-counts[v], v))


@pytest.mark.parametrize("seed", range(4))
def test_one_rule(seed: int) -> None:
    x, y = data(seed)
    wrong, rules = {}, {}
    for i in range(3):
        by = defaultdict(list)
        for value, label in zip(x[:, i], y, strict=True):
            by[value].append(label)
        rules[i] = {value: top(labels) for value, labels in by.items()}
        wrong[i] = sum(rules[i][value] != label for value, label in zip(x[:, i], y, strict=True))
    best = min(wrong, key=lambda i: (wrong[i], i))
    miner = OneRule(numeric=(False,) * 3).fit(x, y)
    assert miner.column_ == best == 1
    assert miner.predict(x).tolist() == [rules[best][value] for value in x[:, best]]


def test_one_rule_for_an_unseen_label_is_the_most_frequent_class() -> None:
    x, y = np.array([[0.0], [0], [2], [2], [2]]), np.array([7, 7, 9, 9, 9])
    miner = OneRule(numeric=(False,)).fit(x, y)
    assert miner.predict(np.array([[0.0], [2], [1], [5]])).tolist() == [7, 9, 9, 9]


def test_one_rule_cuts_numbers_and_keeps_gaps_apart() -> None:
    x = np.concatenate([np.linspace(0, 1, 50), np.full(10, np.nan)])[:, None]
    y = np.concatenate([np.zeros(25), np.ones(25), np.full(10, 2)]).astype(int)
    miner = OneRule(numeric=(True,)).fit(x, y)
    assert miner.predict(np.array([[0.1], [0.9], [np.nan], [99], [-99]])).tolist() == [0, 1, 2, 1, 0]


@pytest.mark.parametrize("seed", range(4))
def test_decision_table(seed: int) -> None:
    x, y = data(seed, 300)
    held = [i for i in range(300) if i % 3 == 2]
    rest = [i for i in range(300) if i % 3 != 2]

    def table(columns: list[int], at: list[int]) -> dict[Any, int]:
        by = defaultdict(list)
        for i in at:
            by[tuple(x[i, columns])].append(y[i])
        return {key: top(labels) for key, labels in by.items()}

    default = top(y)
    chosen: list[int] = []
    best = sum(y[i] != default for i in held)
    while len(chosen) < 3:
        tried = {}
        for c in set(range(3)) - set(chosen):
            rules = table([*chosen, c], rest)
            tried[c] = sum(rules.get(tuple(x[i, [*chosen, c]]), default) != y[i] for i in held)
        c = min(tried, key=lambda c: (tried[c], c))
        if tried[c] >= best:
            break
        best = tried[c]
        chosen.append(c)
    rules = table(chosen, list(range(300)))
    miner = DecisionTable(numeric=(False,) * 3).fit(x, y)
    assert miner.chosen_ == chosen
    assert 1 in chosen
    asked = np.vstack([x[:40], [[9, 9, 9], [0, 4, 9]]])
    assert miner.predict(asked).tolist() == [rules.get(tuple(row[chosen]), default) for row in asked]


def test_decision_table_of_nothing_says_the_most_frequent_class() -> None:
    x = np.zeros((9, 2))
    miner = DecisionTable(numeric=(False, False)).fit(x, np.array([1, 1, 1, 1, 1, 0, 0, 0, 0]))
    assert miner.chosen_ == []
    assert miner.predict(np.array([[3.0, 4]])).tolist() == [1]


def test_decision_table_for_numbers() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, (200, 2)).astype(float)
    y = 10 * x[:, 0] + 100 * x[:, 1]
    miner = DecisionTableNumbers(numeric=(False, False)).fit(x, y)
    assert sorted(miner.chosen_) == [0, 1]
    assert miner.predict(np.array([[1.0, 2], [3, 0]])) == pytest.approx([210, 30])
    assert miner.predict(np.array([[9.0, 9]])) == pytest.approx([y.mean()])


def test_decision_table_has_keys_that_mean_the_same_for_any_rows() -> None:
    """Columns of so many labels that a key of all of them would not fit 64 bits."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (300, 6)).astype(float) * (2**21)
    y = (x[:, 0] > 0).astype(int) * 4 + (x[:, 1] > 0) * 2 + (x[:, 2] > 0)
    miner = DecisionTable(numeric=(False,) * 6).fit(x, y)
    assert math.prod(miner.sizes_[i] for i in miner.chosen_) < 2**62
    said = miner.predict(x)
    assert miner.predict(x[:1]).tolist() == said[:1].tolist()  # alone or among others
    assert (said == y).mean() > 0.4


@pytest.mark.parametrize("seed", range(4))
def test_naive_bayes(seed: int) -> None:
    x, y = data(seed, 60)
    x[x[:, 1] == 2, 1] = 6  # 2 is below the largest label, and not seen
    asked = np.vstack([x, [[2, 2, 0], [9, 9, 9], [0, 6, 9]]])
    rows = Counter(y.tolist())
    expected = []
    for row in asked:
        score = {}
        for label in sorted(rows):
            total = math.log(rows[label] / len(y))
            for i in range(3):
                seen = set(x[:, i])
                if row[i] in seen:  # an unseen label says nothing
                    count = sum((x[:, i] == row[i]) & (y == label))
                    total += math.log((count + 1) / (rows[label] + len(seen)))
            score[label] = total
        expected.append(max(sorted(score), key=lambda v: score[v]))
    assert NaiveBayes(numeric=(False,) * 3).fit(x, y).predict(asked).tolist() == expected


def test_naive_bayes_of_unseen_labels_says_the_most_frequent_class() -> None:
    x, y = np.array([[0.0], [0], [1]]), np.array([4, 4, 8])
    assert NaiveBayes(numeric=(False,)).fit(x, y).predict(np.array([[7.0], [np.nan]])).tolist() == [4, 4]


def test_gaps_are_filled_with_the_median_of_the_training_rows() -> None:
    x = np.array([[1.0, np.nan], [2, np.nan], [9, np.nan], [np.nan, np.nan]], dtype=np.float32)
    filled = Filled().fit(x).transform(np.array([[np.nan, np.nan], [5, 3]], dtype=np.float32))
    assert filled.tolist() == [[2, 0], [5, 3]]
