"""Miners that scikit-learn lacks: one rule, a decision table, naive Bayes over labels; and the filling in of what is missing.

The rules look at one number or code a column (`Features.plain`). Numbers are cut at quantiles of the training rows. A value or
combination that training did not show gets the prediction for all rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin

from ..core.column import FloatArray, IntArray
from ..core.counts import pack


class Filled(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The median of the training rows where a number is missing; columns without gaps, most of them, cost nothing."""

    def fit(self, x: Any, y: Any = None) -> Filled:
        """Learn the medians; a column of gaps only becomes 0."""
        self.medians_ = np.zeros(x.shape[1], dtype=x.dtype)
        gaps = np.isnan(x).any(axis=0)
        for i in range(x.shape[1]):
            # a column that has gaps only in the rows to be predicted: a few rows tell what to fill in
            there = x[~np.isnan(x[:, i]), i] if gaps[i] else x[:1000, i]
            self.medians_[i] = np.median(there) if len(there) else 0
        return self

    def transform(self, x: Any) -> Any:
        """Fill in."""
        gaps = np.isnan(x)
        return np.where(gaps, self.medians_, x) if gaps.any() else x


class _Rules(BaseEstimator):  # type: ignore[misc]
    def __init__(self, numeric: tuple[bool, ...] = (), bins: int = 10) -> None:
        self.numeric = numeric
        self.bins = bins

    def _cut(self, x: FloatArray) -> None:
        self.edges_ = [
            np.unique(np.nanquantile(x[:, i], np.linspace(0, 1, self.bins + 1)[1:-1]))
            if numeric and not np.isnan(x[:, i]).all()
            else None
            for i, numeric in enumerate(self.numeric or (False,) * x.shape[1])
        ]

    def _codes(self, x: FloatArray, i: int) -> IntArray:
        edges = self.edges_[i]
        if edges is None:
            return np.nan_to_num(x[:, i], nan=-1).astype(np.int64) + 1
        return np.where(np.isnan(x[:, i]), 0, np.searchsorted(edges, x[:, i], side="right") + 1)

    # for classes and for numbers apart: start, a prediction for all, how wrong it is, and what each key says
    _start: Any
    _fixed: Any
    _wrong: Any
    _learn: Any

    def _say(self, keys: IntArray, said: Any, codes: IntArray) -> Any:
        at = np.minimum(np.searchsorted(keys, codes), len(keys) - 1)
        return np.where(keys[at] == codes, said[at], self.default_)


class _OneRule(_Rules):
    """The column whose values alone predict best (Holte 1993; OneR)."""

    def fit(self, x: FloatArray, y: Any) -> _OneRule:
        """Try every column."""
        self._cut(x)
        self._start(y)
        tried = [self._learn(self._codes(x, i), y) for i in range(x.shape[1])]
        self.column_ = int(np.argmin([wrong for _, _, wrong in tried]))
        self.keys_, self.said_, _ = tried[self.column_]
        return self

    def predict(self, x: FloatArray) -> Any:
        """What the chosen column's value says."""
        return self._say(self.keys_, self.said_, self._codes(x, self.column_))


class _Table(_Rules):
    """Columns are added while a third of the training rows, held out, is predicted better (after Kohavi 1995)."""

    def fit(self, x: FloatArray, y: Any) -> _Table:
        """Forward choice of columns."""
        self._cut(x)
        self._start(y)
        codes = [self._codes(x, i) for i in range(x.shape[1])]
        self.sizes_ = [int(code.max()) + 2 for code in codes]
        held = np.arange(len(y)) % 3 == 2
        chosen: list[int] = []
        best = self._wrong(self._fixed(int(held.sum())), y[held])
        while len(chosen) < x.shape[1]:
            tried = {}
            room = math.prod(self.sizes_[i] for i in chosen)
            for i in range(x.shape[1]):
                if i not in chosen and room * self.sizes_[i] < 2**62:  # keys of other rows must be made alike
                    key = self._key(codes, [*chosen, i])
                    keys, said, _ = self._learn(key[~held], y[~held])
                    tried[i] = self._wrong(self._say(keys, said, key[held]), y[held])
            if not tried:
                break
            i = min(tried, key=lambda c: (tried[c], c))
            if tried[i] >= best:
                break
            best = tried[i]
            chosen.append(i)
        self.chosen_ = chosen
        self.keys_, self.said_, _ = self._learn(self._key(codes, chosen), y)
        return self

    def _key(self, codes: list[IntArray], chosen: list[int]) -> IntArray:
        clipped = [np.clip(codes[i], 0, self.sizes_[i] - 1) for i in chosen]
        return pack(clipped, [self.sizes_[i] for i in chosen], len(codes[0]))

    def predict(self, x: FloatArray) -> Any:
        """What the rows that agree on the chosen columns say."""
        codes = [self._codes(x, i) for i in range(x.shape[1])]
        return self._say(self.keys_, self.said_, self._key(codes, self.chosen_))


class _Classes(ClassifierMixin):  # type: ignore[misc]
    def _start(self, y: IntArray) -> None:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.default_ = self.classes_[np.argmax(counts)]

    def _fixed(self, count: int) -> IntArray:
        return np.full(count, self.default_)

    def _wrong(self, said: IntArray, y: IntArray) -> float:
        return float((said != y).mean())

    def _learn(self, codes: IntArray, y: IntArray) -> tuple[IntArray, IntArray, float]:
        keys, at = np.unique(codes, return_inverse=True)
        label = np.searchsorted(self.classes_, y)
        pair, n = np.unique(at * len(self.classes_) + label, return_counts=True)
        order = np.lexsort(
            (pair, -n, pair // len(self.classes_))
        )  # per key the most frequent first, then the first label
        pair, n = pair[order], n[order]
        first = np.unique(pair // len(self.classes_), return_index=True)[1]
        return keys, self.classes_[pair[first] % len(self.classes_)], 1 - float(n[first].sum()) / len(y)


class _Numbers(RegressorMixin):  # type: ignore[misc]
    def _start(self, y: FloatArray) -> None:
        self.default_ = float(np.mean(y))

    def _fixed(self, count: int) -> FloatArray:
        return np.full(count, self.default_)

    def _wrong(self, said: FloatArray, y: FloatArray) -> float:
        return float(((said - y) ** 2).mean())

    def _learn(self, codes: IntArray, y: FloatArray) -> tuple[IntArray, FloatArray, float]:
        keys, at = np.unique(codes, return_inverse=True)
        n = np.bincount(at)
        mean = np.bincount(at, weights=y) / n
        return keys, mean, self._wrong(mean[at], y)


class OneRule(_Classes, _OneRule):
    """One rule for classes: the most frequent class of each value of one column."""


class DecisionTable(_Classes, _Table):
    """A decision table for classes."""


class DecisionTableNumbers(_Numbers, _Table):
    """A decision table for numbers."""


class NaiveBayes(_Classes, _Rules):
    """Naive Bayes over the released labels, numbers cut at quantiles; shares smoothed by one row a label (Laplace).

    A label that training did not show says nothing.
    """

    def fit(self, x: FloatArray, y: IntArray) -> NaiveBayes:
        """Count the labels of each class."""
        self._cut(x)
        self._start(y)
        label = np.searchsorted(self.classes_, y)
        rows = np.bincount(label, minlength=len(self.classes_))
        self.prior_ = np.log(rows / rows.sum())
        self.tables_ = []
        for i in range(x.shape[1]):
            codes = self._codes(x, i)
            size = int(codes.max()) + 2  # the last is for labels never seen
            counts = np.bincount(codes * len(rows) + label, minlength=size * len(rows)).reshape(size, len(rows))
            seen = counts.sum(axis=1) > 0
            shares = np.log((counts + 1.0) / (rows + seen.sum()))
            shares[~seen] = 0.0
            self.tables_.append(shares)
        return self

    def predict(self, x: FloatArray) -> IntArray:
        """The likeliest class."""
        score = np.tile(self.prior_, (len(x), 1))
        for i, table in enumerate(self.tables_):
            score += table[np.clip(self._codes(x, i), 0, len(table) - 1)]
        said: IntArray = self.classes_[score.argmax(axis=1)]
        return said
