"""The miners: every classifier and regressor of scikit-learn by name or as an object, and two reference sets.

A miner is an estimator with its preparation (scaling, filling in, cutting), so that all of it is fitted inside the fold. The
reference sets stand for what an adversary or a user would have at hand, as Weka's did in the paper: Bayes, linear, kernel,
lazy, tree, boosting, rule and fusing miners, with a miner that only counts. Miners whose cost grows faster than the rows are
trained on a sample of so many rows, and their results say so.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass

Task = Literal["classes", "numbers"]
Takes = Literal["dense", "plain"]
FUSION = "fusion"


@dataclass(frozen=True)
class Miner:
    """A name, what makes a fresh estimator (from the seed and the kinds of the plain columns), and what it takes."""

    name: str
    task: Task
    make: Callable[[int, tuple[bool, ...]], Any]
    kind: str
    takes: Takes = "dense"
    most: int | None = None
    """Rows it is trained on at most."""
    key: str = ""
    """What tells its results from another's in the cache."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process looks a miner of the reference set up by its name: what makes it is no plain data."""
        return _of_reference, (self.task, self.name)


def _of_reference(task: Task, name: str) -> Miner:
    return miners(task)[name]


def need() -> None:
    """Refuse where scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise Unavailable("Mining needs scikit-learn; install it with: pip install 'sfumato[mining]'.") from None


@cache
def miners(task: Task) -> Mapping[str, Miner]:
    """The reference set for classes or for numbers, by name; the fusion of the others stands last."""
    need()
    known = _classifiers() if task == "classes" else _regressors()
    return {miner.name: miner for miner in known}


def chosen(wanted: str | Sequence[Any], task: Task) -> list[Miner]:
    """Miners from what the owner asked for: "reference", "quick", names, or estimators.

    A name is one of the reference set, or of a class of scikit-learn or LightGBM (`ExtraTreesClassifier`).
    """
    need()
    known = miners(task)
    if isinstance(wanted, list | tuple) and len(wanted) == 1 and isinstance(wanted[0], str):
        wanted = wanted[0]  # a list of one: the name of a set, too
    if wanted == "reference":
        return list(known.values())
    if wanted == "quick":
        return [known[name] for name in QUICK[task]]
    if wanted == "paper":
        return [known[name] for name in PAPER[task]]
    if isinstance(wanted, str):
        wanted = [wanted]
    selected: list[Miner] = []
    for one in wanted:
        miner = known.get(one) if isinstance(one, str) else None
        if miner is None:
            miner = _foreign(one, task)
        if any(miner.name == other.name and miner.key != other.key for other in selected):
            miner = replace(miner, name=repr(one))  # one kind under several parameters
        if any(miner.name == other.name for other in selected):
            raise InputError(f"The miner {miner.name!r} is named twice.")
        selected.append(miner)
    if not selected:
        raise InputError("No miner is named; write reference, quick, or names.")
    return selected


QUICK: Mapping[Task, tuple[str, ...]] = {
    "classes": ("zero_rule", "naive_bayes", "tree", "random_forest", "logistic"),
    "numbers": ("zero_rule", "linear", "tree", "nearest_neighbours", "boosting"),
}
"""A few of different kinds, for a first look and for axes of the risk-utility map."""

PAPER: Mapping[Task, tuple[str, ...]] = {
    "classes": ("naive_bayes", "tree", "random_forest"),
    "numbers": ("linear", "tree", "random_forest"),
}
"""The three of Sramka et al., 4.3: naive Bayes, C4.5 (here CART with pruning by leaf size) and a random forest."""


def _foreign(one: Any, task: Task) -> Miner:
    """A miner that is not in the reference set: an estimator, or the name of its class."""
    from sklearn.base import clone, is_classifier, is_regressor
    from sklearn.pipeline import make_pipeline

    if isinstance(one, str):
        estimator = _by_class_name(one, task)
        name = one
    else:
        estimator = one
        name = type(one).__name__
        if not hasattr(one, "fit") or not hasattr(one, "predict"):
            raise InputError(f"{name} is no miner: it has no fit and predict.")
    right = is_classifier(estimator) if task == "classes" else is_regressor(estimator)
    if not right and (is_classifier(estimator) or is_regressor(estimator)):
        wanted = "classes, so name a classifier" if task == "classes" else "numbers, so name a regressor"
        raise InputError(f"{name} cannot be used here: the field has {wanted}.")

    def make(seed: int, numeric: tuple[bool, ...]) -> Any:
        fresh = clone(estimator)
        if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
            fresh.set_params(random_state=seed)
        return make_pipeline(_filled(), fresh)

    return Miner(name, task, make, "named", key=f"{estimator!r} {_written(type(estimator))}")


def _written(kind: type) -> str:
    """What tells a class from one of the same name: a version, or a hash of the file that it stands in."""
    module = kind.__module__.split(".")[0]
    if module in ("sklearn", "lightgbm"):
        return f"{module} {sys.modules[module].__version__}"
    try:
        with open(inspect.getfile(kind), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except (OSError, TypeError):
        return uuid.uuid4().hex  # nobody knows: its results serve this run alone


def _by_class_name(name: str, task: Task) -> Any:
    from sklearn.utils import all_estimators

    kind = "classifier" if task == "classes" else "regressor"
    for known, estimator in all_estimators(type_filter=kind):
        if known == name:
            try:
                return estimator()
            except TypeError:
                raise InputError(f"{name} needs other estimators; give it as an object in Python.") from None
    if name.startswith("LGBM"):
        try:
            import lightgbm
        except ImportError:
            raise Unavailable(f"{name} needs LightGBM; install it with: pip install 'sfumato[lightgbm]'.") from None
        if hasattr(lightgbm, name):
            return getattr(lightgbm, name)(verbose=-1, n_jobs=1, deterministic=True, force_row_wise=True)
    raise InputError(
        f"No miner {name!r} for {task}; known are {', '.join(miners(task))}, every scikit-learn {kind} by its class name, "
        "reference and quick."
    )


Maker = Callable[[int, tuple[bool, ...]], Any]
Step = Callable[[int], Any]
"""What makes one estimator of a pipeline, from the seed."""


def _filled() -> Any:
    from .rules import Filled

    return Filled()


def _raw(*steps: Step) -> Maker:
    """These estimators one after the other, behind the filling in of what is missing."""
    from sklearn.pipeline import make_pipeline

    return lambda seed, numeric: make_pipeline(_filled(), *(step(seed) for step in steps))


def _scaled(*steps: Step) -> Maker:
    from sklearn.preprocessing import StandardScaler

    return _raw(lambda seed: StandardScaler(), *steps)


def _ranged(*steps: Step) -> Maker:
    from sklearn.preprocessing import MinMaxScaler

    return _raw(lambda seed: MinMaxScaler(clip=True), *steps)


def _classifiers() -> list[Miner]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingClassifier,
        ExtraTreesClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
    from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import Binarizer, KBinsDiscretizer
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    from .rules import DecisionTable, NaiveBayes, OneRule

    def cut(seed: int) -> Any:
        return KBinsDiscretizer(n_bins=8, encode="ordinal", strategy="uniform", subsample=None)

    def c(name: str, kind: str, make: Maker, most: int | None = None, takes: Takes = "dense") -> Miner:
        return Miner(name, "classes", make, kind, takes, most, key=name)

    return [
        c("naive_bayes", "bayes", lambda s, numeric: NaiveBayes(numeric=numeric), takes="plain"),
        c("binned_bayes", "bayes", _ranged(cut, lambda s: CategoricalNB(min_categories=8))),
        c("gaussian_bayes", "bayes", _raw(lambda s: GaussianNB(var_smoothing=1e-3))),
        c("bernoulli_bayes", "bayes", _scaled(lambda s: Binarizer(), lambda s: BernoulliNB())),
        c("multinomial_bayes", "bayes", _ranged(lambda s: MultinomialNB())),
        c("complement_bayes", "bayes", _ranged(lambda s: ComplementNB())),
        c("logistic", "linear", _scaled(lambda s: LogisticRegression(max_iter=60, tol=1e-3)), 5_000),
        c("ridge", "linear", _scaled(lambda s: RidgeClassifier())),
        c("discriminant", "linear", _scaled(lambda s: LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.01))),
        c("perceptron", "linear", _scaled(lambda s: Perceptron(max_iter=10, random_state=s)), 20_000),
        c("gradient_log", "linear", _scaled(lambda s: SGDClassifier(loss="log_loss", max_iter=10, random_state=s)), 20_000),
        c("linear_svm", "linear", _scaled(lambda s: LinearSVC(C=0.1, max_iter=200, random_state=s)), 3_000),
        c("gradient_svm", "linear", _scaled(lambda s: SGDClassifier(max_iter=10, random_state=s)), 20_000),
        c("kernel_svm", "kernel", _scaled(lambda s: Nystroem(n_components=200, gamma=0.02, random_state=s), lambda s: RidgeClassifier())),
        c("radial_network", "kernel", _scaled(lambda s: RBFSampler(n_components=200, gamma=0.02, random_state=s), lambda s: RidgeClassifier())),
        c("neural_network", "kernel", _scaled(lambda s: MLPClassifier((32,), max_iter=15, early_stopping=True, random_state=s)), 10_000),
        c("nearest_neighbour", "lazy", _scaled(lambda s: KNeighborsClassifier(1, algorithm="brute")), 10_000),
        c("nearest_neighbours", "lazy", _scaled(lambda s: KNeighborsClassifier(10, algorithm="brute")), 10_000),
        c("weighted_neighbours", "lazy", _scaled(lambda s: KNeighborsClassifier(30, weights="distance", algorithm="brute")), 10_000),
        c("nearest_centre", "lazy", _scaled(lambda s: NearestCentroid())),
        c("stump", "tree", _raw(lambda s: DecisionTreeClassifier(max_depth=1, random_state=s))),
        c("tree", "tree", _raw(lambda s: DecisionTreeClassifier(criterion="entropy", min_samples_leaf=10, ccp_alpha=5e-4, random_state=s))),
        c("full_tree", "tree", _raw(lambda s: DecisionTreeClassifier(random_state=s))),
        c("small_tree", "tree", _raw(lambda s: DecisionTreeClassifier(max_depth=6, random_state=s))),
        c("random_tree", "tree", _raw(lambda s: ExtraTreeClassifier(random_state=s))),
        c("random_forest", "tree", _raw(lambda s: RandomForestClassifier(60, min_samples_leaf=2, random_state=s))),
        c("extra_trees", "tree", _raw(lambda s: ExtraTreesClassifier(60, min_samples_leaf=2, random_state=s))),
        c("bagged_trees", "tree", _raw(lambda s: BaggingClassifier(n_estimators=10, random_state=s))),
        c("boosting", "boosting", _raw(lambda s: HistGradientBoostingClassifier(max_iter=10, learning_rate=0.3, max_leaf_nodes=8, early_stopping=False, random_state=s)), 4_000),
        c("adaptive_boosting", "boosting", _raw(lambda s: AdaBoostClassifier(n_estimators=15, random_state=s)), 10_000),
        c("one_rule", "rules", lambda s, numeric: OneRule(numeric=numeric), takes="plain"),
        c("decision_table", "rules", lambda s, numeric: DecisionTable(numeric=numeric), takes="plain"),
        c("zero_rule", "baseline", _raw(lambda s: DummyClassifier(strategy="most_frequent"))),
        c(FUSION, "fusion", lambda s, numeric: None),
    ]  # fmt: skip


def _regressors() -> list[Miner]:
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import HuberRegressor, Ridge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    from .rules import DecisionTableNumbers

    def r(name: str, kind: str, make: Maker, most: int | None = None, takes: Takes = "dense") -> Miner:
        return Miner(name, "numbers", make, kind, takes, most, key=name)

    return [
        r("linear", "linear", _scaled(lambda s: Ridge(alpha=1.0))),
        r("robust_linear", "linear", _scaled(lambda s: HuberRegressor(max_iter=50, tol=1e-3)), 10_000),
        r("radial_network", "kernel", _scaled(lambda s: Nystroem(n_components=200, gamma=0.02, random_state=s), lambda s: Ridge(alpha=1.0))),
        r("nearest_neighbours", "lazy", _scaled(lambda s: KNeighborsRegressor(30, algorithm="brute")), 10_000),
        r("stump", "tree", _raw(lambda s: DecisionTreeRegressor(max_depth=1, random_state=s))),
        r("tree", "tree", _raw(lambda s: DecisionTreeRegressor(min_samples_leaf=50, random_state=s))),
        r("random_forest", "tree", _raw(lambda s: RandomForestRegressor(30, min_samples_leaf=20, max_features=0.5, random_state=s)), 20_000),
        r("boosting", "boosting", _raw(lambda s: HistGradientBoostingRegressor(max_iter=60, early_stopping=False, random_state=s))),
        r("decision_table", "rules", lambda s, numeric: DecisionTableNumbers(numeric=numeric), takes="plain"),
        r("zero_rule", "baseline", _raw(lambda s: DummyRegressor())),
        r(FUSION, "fusion", lambda s, numeric: None),
    ]  # fmt: skip
