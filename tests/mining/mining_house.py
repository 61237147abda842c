"""Tables of people, and miners that say known things or remember what they were shown: shared by the tests of this room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import sfumato as sf
from sfumato.core.release import Release
from sfumato.core.table import Table
from sfumato.mining.rows import Frame

Columns = Mapping[str, Sequence[Any]]
TOWNS = ("Arles", "Basel", "Cadiz", "Delft", "Essen", "Faro")


def table(columns: Columns) -> Table:
    return sf.read(pa.table({name: list(values) for name, values in columns.items()}))


def paired(released: Columns, original: Columns, **more: Any) -> Release:
    """A release whose row i is the original's row i."""
    return Release(table=table(released), original=table(original), pairing="position", **more)


def people(count: int, seed: int = 1) -> dict[str, list[Any]]:
    """Age follows work and town, pay follows age; no two people share their number."""
    rng = np.random.default_rng(seed)
    work = rng.integers(0, 3, count)
    age = np.clip(20 + 15 * work + rng.integers(0, 25, count), 18, 90)
    return {
        "number": rng.permutation(count).tolist(),
        "age": age.tolist(),
        "work": [("pupil", "clerk", "boss")[w] for w in work],
        "town": [TOWNS[t] for t in rng.integers(0, 6, count)],
        "pay": [("high" if a + n > 60 else "low") for a, n in zip(age, rng.integers(-10, 11, count), strict=True)],
    }


ROLES = sf.Roles(identifiers=("number",), quasi=("age", "work", "town"), sensitive=("pay",))


def rows(frame: Frame, names: Sequence[str] | None = None) -> list[tuple[str | None, ...]]:
    """The rows of a frame as plain texts."""
    columns = [[frame.texts(name)[code] for code in frame.codes[name]] for name in names or frame.names]
    return list(zip(*columns, strict=True))


def plain(columns: Columns, names: Sequence[str]) -> list[tuple[str | None, ...]]:
    """The rows of a table as plain texts, in the order of the file."""
    spelled = [[None if v is None else str(v) for v in columns[name]] for name in names]
    return list(zip(*spelled, strict=True))


class Says(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Says the class (as the place of the label among the released ones) that a list has at the row's first feature."""

    def __init__(self, said: Sequence[int] = ()) -> None:
        self.said = said

    def fit(self, x: Any, y: Any) -> Says:
        self.classes_ = np.unique(y)
        return self

    def predict(self, x: Any) -> Any:
        return np.array([self.said[int(value)] for value in x[:, 0]])


class SaysToo(Says):
    """Another one of the kind."""


class SaysNumbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Says the number that a list has at the row's first feature."""

    def __init__(self, said: Sequence[float] = ()) -> None:
        self.said = said

    def fit(self, x: Any, y: Any) -> SaysNumbers:
        self.fitted_ = True
        return self

    def predict(self, x: Any) -> Any:
        return np.array([self.said[int(value)] for value in x[:, 0]], dtype=float)


class SaysNumbersToo(SaysNumbers):
    """Another one of the kind."""


class Spy(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers which rows (by their first feature) it learned from and was asked of, fold after fold."""

    seen: ClassVar[list[tuple[list[int], list[int]]]] = []

    def fit(self, x: Any, y: Any) -> Spy:
        self.learned_ = [int(value) for value in x[:, 0]]
        return self

    def predict(self, x: Any) -> Any:
        Spy.seen.append((self.learned_, [int(value) for value in x[:, 0]]))
        return np.zeros(len(x))


class SpyClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same for classes."""

    def fit(self, x: Any, y: Any) -> SpyClasses:
        self.classes_ = np.unique(y)
        self.learned_ = [int(value) for value in x[:, 0]]
        return self

    def predict(self, x: Any) -> Any:
        Spy.seen.append((self.learned_, [int(value) for value in x[:, 0]]))
        return np.full(len(x), self.classes_[0])


class Tires(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Says 1, but stops working when it has been called so often."""

    calls: ClassVar[int] = 0
    most: ClassVar[int] = 10**9

    def fit(self, x: Any, y: Any) -> Tires:
        self.fitted_ = True
        return self

    def predict(self, x: Any) -> Any:
        Tires.calls += 1
        if Tires.calls > Tires.most:
            raise KeyboardInterrupt
        return np.ones(len(x))
