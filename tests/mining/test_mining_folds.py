"""Fold hygiene, and what is kept between runs: nobody is predicted by a miner that learned from them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mining_house import ROLES, Spy, SpyClasses, Tires, paired, people, table

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.mining import folds as folds_module
from sfumato.mining.features import Features
from sfumato.mining.folds import Cache, Job, Predicted, deal, fuse, predict, run
from sfumato.mining.miners import FUSION, Miner, Task, chosen, miners

X_ROLES = sf.Roles(quasi=("number", "age", "work", "town"), sensitive=("pay",))


def numbered(count: int) -> dict[str, list[Any]]:
    return people(count)


# --- who learns from whom --------------------------------------------------------------------------------------------


def test_folds_are_of_one_size_and_drawn_by_the_seed() -> None:
    fold = deal(103, 10, 1)
    assert sorted(np.bincount(fold).tolist()) == [10] * 7 + [11] * 3
    assert fold.tolist() == deal(103, 10, 1).tolist()
    assert fold.tolist() != deal(103, 10, 2).tolist()


def test_nobody_is_predicted_by_a_miner_that_learned_from_them() -> None:
    columns = numbered(120)
    Spy.seen.clear()
    scenario = sf.Scenario(
        good=sf.Good(field="pay", miners=[SpyClasses()]), bad=sf.Bad(field="age", miners=[Spy()]), folds=4, seed=2
    )
    sf.mine(paired(columns, columns), X_ROLES, scenario)
    everybody = set(columns["number"])
    # four ways of the good utility (the original, the release and across; equal jobs are done once), one of the bad
    assert len(Spy.seen) in (2 * 4, 5 * 4)
    for learned, asked in Spy.seen:
        assert not set(learned) & set(asked)
        assert set(learned) | set(asked) == everybody
        assert len(learned) == len(set(learned))
    for start in range(0, len(Spy.seen), 4):
        assert sorted(n for _, asked in Spy.seen[start : start + 4] for n in asked) == sorted(everybody)


def test_a_person_has_one_fold_in_the_original_and_in_the_release() -> None:
    """Trained on one side and asked of the other, a miner still never learned from whom it is asked of."""
    columns = numbered(120)
    changed = {**columns, "age": [a + 0.5 for a in columns["age"]], "town": ["*"] * 120}
    keep = [i for i in range(120) if i % 7]  # and some are left out
    fewer = {name: [values[i] for i in keep] for name, values in changed.items()}
    fewer["key"] = [columns["number"][i] for i in keep]
    release = sf.Release(table=table(fewer), original=table({**columns, "key": columns["number"]}), pairing="key:key")
    Spy.seen.clear()
    sf.mine(release, X_ROLES, sf.Scenario(good=sf.Good(field="pay", miners=[SpyClasses()]), folds=4))
    assert len(Spy.seen) == 16
    original, released, there, back = (Spy.seen[i : i + 4] for i in (0, 4, 8, 12))
    for learned, asked in Spy.seen:
        assert not set(learned) & set(asked)
    gone = {columns["number"][i] for i in range(120) if not i % 7}
    for f in range(4):
        assert set(original[f][1]) - gone == set(released[f][1])
        assert set(original[f][0]) - gone == set(released[f][0])
        assert (there[f][0], there[f][1]) == (released[f][0], original[f][1])
        assert (back[f][0], back[f][1]) == (original[f][0], released[f][1])


def test_two_releases_of_one_table_have_the_same_folds() -> None:
    columns = numbered(90)
    one = {**columns, "age": [a // 10 * 10 for a in columns["age"]]}
    two = {**columns, "town": ["*"] * 90}
    Spy.seen.clear()
    scenario = sf.Scenario(bad=sf.Bad(field="age", miners=[Spy()]), folds=3)
    sf.mine({"one": paired(one, columns), "two": paired(two, columns)}, X_ROLES, scenario)
    assert len(Spy.seen) == 6
    assert [sorted(asked) for _, asked in Spy.seen[:3]] == [sorted(asked) for _, asked in Spy.seen[3:]]


def sides(rows: int = 90, seed: int = 0) -> tuple[Features, Any, Any, Any]:
    """Rows with numbers and gaps, classes and numbers that follow them, and a fold for each."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, (rows, 4))
    x[rng.random((rows, 4)) < 0.05] = np.nan
    code = rng.integers(0, 4, rows).astype(float)
    plain = np.column_stack([x[:, :2], code])
    dense = np.column_stack([x, code == 1, code == 2]).astype(np.float32)
    number = np.nan_to_num(x[:, 0]) * 3 + code + rng.normal(0, 0.5, rows)
    classes = (number > 0).astype(np.int64) + (code == 3)
    return Features(dense, plain, (True, True, False)), classes, number, deal(rows, 3, seed)


def every(task: Task) -> list[str]:
    return [name for name in miners(task) if name != FUSION]


@pytest.mark.parametrize(("task", "name"), [(t, n) for t in ("classes", "numbers") for n in every(t)])  # type: ignore[arg-type]
def test_nothing_of_a_fold_goes_into_the_miner_that_predicts_it(task: Task, name: str) -> None:
    """Scales, medians, bins, choices: whatever is fitted. One person's answer and another's features are changed wildly."""
    features, classes, number, fold = sides()
    target = classes if task == "classes" else number
    here = np.flatnonzero(fold == 0)

    def said(learn: Features, y: Any) -> Any:
        ask = Features(learn.dense[here], learn.plain[here], learn.numeric)
        job = Job("x", learn, y, fold, ask, np.zeros(len(here), dtype=np.int64), miners(task)[name])
        return run(job).values

    before = said(features, target)
    other = Features(features.dense.copy(), features.plain.copy(), features.numeric)
    other.dense[here[0]], other.plain[here[0]] = 1e4, 1e4
    changed = target.copy()
    changed[here[1]] = 0 if target[here[1]] else 1
    changed[here[2]] = target.max()
    after = said(other, changed)
    assert np.array_equal(before[1:], after[1:])
    assert len(before) == len(here)


def test_large_tables_are_sampled_and_that_is_said() -> None:
    features, classes, _, fold = sides(300)
    few = dataclasses.replace(miners("classes")["tree"], most=50)
    found = run(Job("x", features, classes, fold, features, fold, few))
    assert (found.trained_on, found.sampled) == (50, True)
    whole = run(Job("x", features, classes, fold, features, fold, miners("classes")["tree"]))
    assert (whole.trained_on, whole.sampled) == (200, False)
    assert np.array_equal(found.values, run(Job("x", features, classes, fold, features, fold, few)).values)


def test_rows_without_a_number_teach_nothing() -> None:
    features, _, number, fold = sides()
    gaps = number.copy()
    gaps[::5] = np.nan
    found = run(Job("x", features, gaps, fold, features, fold, miners("numbers")["linear"]))
    assert np.isfinite(found.values).all()
    assert found.trained_on < 60


# --- what is kept ----------------------------------------------------------------------------------------------------


def jobs(names: tuple[str, ...] = ("tree", "naive_bayes", "one_rule"), seed: int = 0) -> list[Job]:
    features, classes, _, fold = sides()
    return [Job(name, features, classes, fold, features, fold, miners("classes")[name], seed) for name in names]


def test_a_second_run_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kept"
    first = predict(jobs(), cache=Cache(folder))
    assert len(list(folder.iterdir())) == 3
    assert folder.stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in folder.iterdir())
    monkeypatch.setattr(folds_module, "run", None)  # nothing may be run any more
    again = predict(jobs(), cache=Cache(folder))
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.values, b.values)
        assert (a.trained_on, a.sampled) == (b.trained_on, b.sampled)


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "flipped"])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: str) -> None:
    first = predict(jobs(), cache=Cache(tmp_path))
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        flipped = bytes(b ^ 0x5A if 60 <= i < 90 else b for i, b in enumerate(content))
        file.write_bytes({"empty": b"", "cut": content[:-40], "text": b"not a zip file", "flipped": flipped}[damage])
    again = predict(jobs(), cache=Cache(tmp_path))
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.values, b.values)
    assert Cache(tmp_path).get(jobs()[0].key) is not None


def test_every_byte_that_is_lost_is_noticed(tmp_path: Path) -> None:
    (job,) = jobs(("tree",))
    (found,) = predict([job], cache=Cache(tmp_path))
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    for i in range(0, len(content), 5):
        file.write_bytes(content[:i] + bytes([content[i] ^ 0xFF]) + content[i + 1 :])
        kept = Cache(tmp_path).get(job.key)
        assert kept is None or np.array_equal(kept.values, found.values), i


def test_nothing_is_kept_without_a_folder(tmp_path: Path) -> None:
    predict(jobs(("tree",)), cache=Cache(None))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path, refusal: Any) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    refusal(InputError, lambda: Cache(tmp_path / "file"), "file")


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(100)
    scenario = sf.Scenario(bad=sf.Bad(field="age", miners=["tree", "linear", Tires()]), folds=3)
    release = paired({**columns, "age": [a + 1 for a in columns["age"]]}, columns)
    monkeypatch.setattr(Tires, "calls", 0)
    monkeypatch.setattr(Tires, "most", 2)
    with pytest.raises(KeyboardInterrupt):
        sf.mine(release, ROLES, scenario, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2  # tree and linear; nothing half done
    monkeypatch.setattr(Tires, "most", 10**9)
    ran: list[str] = []
    true_run = folds_module.run

    def watched(job: Job) -> Predicted:
        ran.append(job.miner.name)
        return true_run(job)

    monkeypatch.setattr(folds_module, "run", watched)
    told: list[float] = []
    found = sf.mine(release, ROLES, scenario, cache=tmp_path, progress=lambda share, text: told.append(share))
    assert ran == ["Tires"]
    assert told == [1.0]
    assert len(list(tmp_path.iterdir())) == 3
    assert found == sf.mine(release, ROLES, scenario, cache=None)


def test_other_content_has_another_key() -> None:
    features, classes, _, fold = sides()
    tree = miners("classes")["tree"]
    job = Job("x", features, classes, fold, features, fold, tree)
    same_features, same_classes, _, same_fold = sides()
    assert job.key == Job("y", same_features, same_classes, same_fold, same_features, same_fold, tree).key
    dense = features.dense.copy()
    dense[0, 0] += 1
    target, dealt = classes.copy(), fold.copy()
    target[0] = 2 - target[0]
    dealt[[0, 1]] = dealt[[1, 0]] if dealt[0] != dealt[1] else (dealt[1] + 1) % 3
    other = Features(dense, features.plain, features.numeric)
    different = [
        Job("x", other, classes, fold, features, fold, tree),
        Job("x", features, classes, fold, other, fold, tree),
        Job("x", features, target, fold, features, fold, tree),
        Job("x", features, classes, dealt, features, fold, tree),
        Job("x", features, classes, fold, features, dealt, tree),
        Job("x", features, classes, fold, features, fold, miners("classes")["full_tree"]),
        Job("x", features, classes, fold, features, fold, dataclasses.replace(tree, most=50)),
        Job("x", features, classes, fold, features, fold, dataclasses.replace(tree, key="other")),
        Job("x", features, classes, fold, features, fold, tree, seed=1),
    ]
    keys = [job.key, *(d.key for d in different)]
    assert len(set(keys)) == len(keys)


def test_a_key_is_that_of_the_arrays_and_never_of_others_in_their_place() -> None:
    """Hashes are remembered by the place in memory; places are given to other arrays in time."""
    tree = miners("classes")["tree"]
    keys = []
    for i in range(300):
        features = Features(np.full((4, 1), i, dtype=np.float32), np.full((4, 1), float(i)), (True,))
        target, fold = np.array([0, 1, 0, i]), np.array([0, 1, 0, 1])
        keys.append(Job("x", features, target, fold, features, fold, tree).key)
        del features, target, fold
    assert len(set(keys)) == 300


def test_estimators_are_told_apart_by_parameters_and_by_their_code(tmp_path: Path) -> None:
    from sklearn.tree import DecisionTreeClassifier

    one, two = chosen([DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=2)], "classes")
    assert one.name != two.name
    assert one.key != two.key
    source = "from sklearn.base import BaseEstimator, ClassifierMixin\nclass Mine(ClassifierMixin, BaseEstimator):\n"
    source += (
        "    def fit(self, x, y):\n        return self\n    def predict(self, x):\n        return [{0}] * len(x)\n"
    )
    import importlib.util

    keys = []
    for i in range(2):
        path = tmp_path / f"mine{i}" / "mine.py"
        path.parent.mkdir()
        path.write_text(source.format(i), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("mine", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        import sys

        sys.modules["mine"] = module
        spec.loader.exec_module(module)
        keys.append(chosen([module.Mine()], "classes")[0].key)
        del sys.modules["mine"]
    assert keys[0] != keys[1]  # the same name and parameters, another file


def test_what_a_class_does_that_stands_in_no_file_is_not_known_later() -> None:
    from sklearn.base import BaseEstimator, ClassifierMixin

    typed = type("Typed", (ClassifierMixin, BaseEstimator), {"fit": lambda s, x, y: s, "predict": lambda s, x: x[:, 0]})
    typed.__module__ = "a session"
    one, two = (chosen([typed()], "classes")[0].key for _ in range(2))
    assert one != two


# --- at once and one after another -----------------------------------------------------------------------------------


@pytest.mark.full
def test_in_parallel_as_one_after_another(tmp_path: Path) -> None:
    names = ("tree", "naive_bayes", "decision_table", "random_tree")
    serial = predict(jobs(names), cache=Cache(None), workers=1)
    told: list[float] = []
    parallel = predict(jobs(names), cache=Cache(tmp_path), workers=2, progress=lambda share, text: told.append(share))
    for a, b in zip(serial, parallel, strict=True):
        assert np.array_equal(a.values, b.values)
        assert (a.trained_on, a.sampled) == (b.trained_on, b.sampled)
    assert told == [0.25, 0.5, 0.75, 1.0]
    assert len(list(tmp_path.iterdir())) == 4


def test_the_same_seed_the_same_figures() -> None:
    columns = people(150)
    release = paired({**columns, "age": [a // 5 * 5 for a in columns["age"]]}, columns)

    def mined(seed: int) -> Any:
        good = sf.Good(field="pay", miners=["random_tree", "gradient_log", "fusion"])
        bad = sf.Bad(field="age", miners=["tree", "random_forest"])
        return sf.mine(release, ROLES, sf.Scenario(good=good, bad=bad, folds=3, seed=seed))["release"]

    assert mined(1) == mined(1)
    assert mined(1) != dataclasses.replace(mined(2), seed=1)


# --- the fusion ------------------------------------------------------------------------------------------------------


def test_a_vote_follows_the_miner_that_is_right() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    good = np.where(rng.random(300) < 0.9, truth, (truth + 1) % 3)
    noise = [rng.integers(0, 3, 300) for _ in range(4)]
    fused = fuse([*noise, good], truth, deal(300, 5, 0), classes=True)
    assert (fused == truth).mean() > 0.85
    assert fuse([truth, truth], truth, deal(300, 5, 0), classes=True).tolist() == truth.tolist()


def test_a_combination_of_numbers_is_the_least_squares_one() -> None:
    from scipy.optimize import nnls

    rng = np.random.default_rng(1)
    said = rng.normal(0, 1, (3, 200))
    target = 2 * said[0] + 0.5 * said[1] - said[2] + rng.normal(0, 0.1, 200) + 40
    fold = deal(200, 4, 0)
    fused = fuse(list(said), target, fold, classes=False)
    for f in range(4):
        others, here = fold != f, fold == f
        middle = target[others].mean()
        weights, _ = nnls(said[:, others].T - middle, target[others] - middle)  # never negative, so not of the third
        assert fused[here] == pytest.approx(middle + (said[:, here].T - middle) @ weights, abs=0.05)


def test_a_combination_does_not_look_at_the_fold_it_is_asked_of() -> None:
    rng = np.random.default_rng(2)
    said, fold = rng.normal(0, 1, (3, 60)), deal(60, 3, 0)
    target = said[0] + rng.normal(0, 0.2, 60)
    changed = target.copy()
    changed[fold == 1] += 100
    before, after = (fuse(list(said), y, fold, classes=False) for y in (target, changed))
    assert np.array_equal(before[fold == 1], after[fold == 1])
    assert not np.array_equal(before[fold == 0], after[fold == 0])


def test_a_combination_of_constants_and_gaps() -> None:
    fold = deal(30, 3, 0)
    assert fuse([np.full(30, 5.0)] * 3, np.full(30, 5.0), fold, classes=False) == pytest.approx(np.full(30, 5.0))
    target = np.arange(30.0)
    target[::4] = np.nan
    assert np.isfinite(fuse([np.arange(30.0), np.ones(30)], target, fold, classes=False)).all()


def test_named_estimators_are_run_in_this_process() -> None:
    """A class of the owner's own script cannot be looked up by a worker."""
    features, _, number, fold = sides()
    (spy,) = chosen([Spy()], "numbers")
    assert isinstance(spy, Miner)
    Spy.seen.clear()
    predict([Job("x", features, number, fold, features, fold, spy)] * 2, cache=Cache(None), workers=2)
    assert len(Spy.seen) == 3
