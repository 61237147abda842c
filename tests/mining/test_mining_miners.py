"""The reference sets, and miners by name and as objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mining_house import Says, SaysNumbers
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sfumato.core.errors import InputError
from sfumato.mining.features import Features
from sfumato.mining.folds import Job, deal, run
from sfumato.mining.miners import FUSION, PAPER, QUICK, chosen, miners


def test_the_reference_sets_are_as_many_and_of_as_many_kinds_as_the_papers() -> None:
    classes, numbers = miners("classes"), miners("numbers")
    assert len(classes) >= 32
    assert len(numbers) >= 10
    kinds = {miner.kind for miner in classes.values()}
    assert kinds == {"bayes", "linear", "kernel", "lazy", "tree", "boosting", "rules", "baseline", "fusion"}
    assert list(classes)[-1] == list(numbers)[-1] == FUSION
    for task in ("classes", "numbers"):
        assert {*QUICK[task], *PAPER[task]} <= set(miners(task))  # type: ignore[arg-type, index]


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_every_miner_but_the_blind_one_learns_what_is_plain(task: Any) -> None:
    """Two columns tell nearly everything; a miner that is no better than counting has a fault."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 240), rng.integers(0, 2, 240)
    dense = np.column_stack([a, 1 - a, b, rng.normal(0, 1, 240)]).astype(np.float32)
    plain = np.column_stack([a, b, dense[:, 3]]).astype(float)
    features = Features(dense, plain, (False, False, True))
    fold = deal(240, 2, 0)
    target: Any = a if task == "classes" else 10.0 * a + b
    for name, miner in miners(task).items():
        if name == FUSION:
            continue
        said = run(Job("x", features, target, fold, features, fold, miner)).values
        if task == "classes":
            right = (said == target).mean()
            # so few rows are not enough for fifteen rounds of a network
            assert right > 0.9 or name in ("zero_rule", "neural_network"), (name, right)
        else:
            left = ((said - target) ** 2).mean() / target.var()
            assert left < 0.3 or name == "zero_rule", (name, left)


@pytest.mark.parametrize("rows", [4, 6, 12, 40])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_every_miner_takes_few_rows(task: Any, rows: int) -> None:
    """A table of a handful of people is mined like any other: no miner refuses it."""
    rng = np.random.default_rng(rows)
    a = np.arange(rows) % 2
    dense = np.column_stack([a, 1 - a, rng.normal(0, 1, rows)]).astype(np.float32)
    features = Features(dense, dense[:, 1:].astype(float), (False, True))
    fold = deal(rows, 2, 0)
    target: Any = np.append(a[:-1], 2) if task == "classes" else rng.normal(0, 1, rows)  # one class has one row
    for name, miner in miners(task).items():
        if name != FUSION:
            assert len(run(Job("x", features, target, fold, features, fold, miner)).values) == rows


def test_by_name_and_as_objects() -> None:
    assert [m.name for m in chosen("tree", "classes")] == ["tree"]
    assert [m.name for m in chosen(["tree", "stump"], "numbers")] == ["tree", "stump"]
    assert [m.name for m in chosen(["ExtraTreeClassifier"], "classes")] == ["ExtraTreeClassifier"]
    assert [m.name for m in chosen([LogisticRegression(), Says()], "classes")] == ["LogisticRegression", "Says"]
    assert [m.name for m in chosen("quick", "numbers")] == list(QUICK["numbers"])
    assert [m.name for m in chosen(["reference"], "numbers")] == list(miners("numbers"))


def test_one_kind_under_several_parameters() -> None:
    one, two = chosen([DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=3)], "classes")
    assert one.name == "DecisionTreeClassifier"
    assert "max_depth=3" in two.name


def test_a_seed_is_given_to_who_takes_one() -> None:
    (miner,) = chosen([DecisionTreeClassifier()], "classes")
    assert miner.make(5, ()).steps[-1][1].random_state == 5
    (fixed,) = chosen([DecisionTreeClassifier(random_state=9)], "classes")
    assert fixed.make(5, ()).steps[-1][1].random_state == 9


def test_lightgbm_by_its_class_name() -> None:
    pytest.importorskip("lightgbm")
    (miner,) = chosen(["LGBMClassifier"], "classes")
    x = np.random.default_rng(0).normal(0, 1, (80, 2))
    said = miner.make(0, ()).fit(x, x[:, 0] > 0).predict(x)
    assert (said == (x[:, 0] > 0)).mean() > 0.8


@pytest.mark.parametrize(
    ("wanted", "task", "words"),
    [
        ("no_such", "classes", ("no_such", "naive_bayes")),
        ("naive_bayes", "numbers", ("naive_bayes", "numbers")),
        (["tree", "tree"], "classes", ("twice",)),
        ([DecisionTreeClassifier(), DecisionTreeClassifier()], "classes", ("twice",)),
        ([], "classes", ("No miner",)),
        ([object()], "classes", ("object", "fit")),
        ([5], "classes", ("int",)),
        ([SaysNumbers()], "classes", ("SaysNumbers", "classifier")),
        ([Says()], "numbers", ("Says", "regressor")),
        (["VotingClassifier"], "classes", ("VotingClassifier", "object")),
    ],
)
def test_refused(refusal: Callable[..., str], wanted: Any, task: Any, words: tuple[str, ...]) -> None:
    refusal(InputError, lambda: chosen(wanted, task), *words)
