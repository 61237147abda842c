"""What the benchmark counts by itself of any release: classes and limits, ILoss, and errors of counting queries. Plain numpy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from fuzzing.cover import covers, plain

from .tables import Coarser, MadeUp

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Domain:
    """The different values of a column, in their order where they have one, missing last; and the place of each row's."""

    values: list[Any]
    code: Ints
    ordered: bool

    @classmethod
    def of(cls, values: Sequence[Any]) -> Domain:
        held = set(values) - {None}
        texts = [value for value in held if isinstance(value, str)]
        # codes of digits are asked for by ranges like numbers, because neighbours are alike; a leading zero makes them names
        ordered = all(text.isdigit() and text[0] != "0" for text in texts)
        order: list[Any] = [*sorted(held), *([None] if None in values else [])]
        at = {value: i for i, value in enumerate(order)}
        return cls(order, np.array([at[value] for value in values]), ordered)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_missing(self) -> bool:
        return self.values[-1] is None

    def coarser(self, recode: Coarser) -> Ints:
        """The group of each value."""
        names = [recode(value) for value in self.values]
        index = {name: i for i, name in enumerate(dict.fromkeys(names))}
        return np.array([index[name] for name in names])


@dataclass(frozen=True, eq=False)
class Release:
    """For each column the label of each row that is left, and which values each label covers."""

    label: dict[str, Ints]
    covers: dict[str, Flags]
    kept: Flags | None = None
    """The rows of the original that are left, where it is known."""

    @property
    def rows(self) -> int:
        return len(next(iter(self.label.values())))


class Problem:
    """A made-up table with what is counted of it once."""

    def __init__(self, made: MadeUp) -> None:
        self.made = made
        self.domains = {name: Domain.of(values) for name, values in made.columns.items()}
        self.rows = made.rows
        self.shares = {}
        if made.limits.share is not None:
            for name in made.sensitive:
                most = float(np.bincount(self.domains[name].code).max()) / self.rows
                # halfway to certainty where one value is too frequent for the limit, as the package advises
                self.shares[name] = max(made.limits.share, math.ceil((1 + most) / 2 * 100 - 1e-9) / 100)

    @cached_property
    def secrets(self) -> dict[str, Ints]:
        return {name: self.domains[name].code for name in self.made.sensitive}

    def classes_stand(self, member: Ints, kept: Flags | None = None) -> Flags:
        """Which classes meet what each must meet by itself: rows, shares and different values."""
        count = int(member.max(initial=-1)) + 1
        size = np.bincount(member, minlength=count)
        good: Flags = size >= self.made.limits.k
        for name, code in self.secrets.items():
            secret = code if kept is None else code[kept]
            pairs, n = np.unique(member * len(self.domains[name]) + secret, return_counts=True)
            of = pairs // len(self.domains[name])
            if name in self.shares:
                most = np.zeros(count)
                np.maximum.at(most, of, n)
                good &= most <= self.shares[name] * size + 1e-9
            if self.made.limits.values is not None:
                good &= np.bincount(of, minlength=count) >= self.made.limits.values
        return good

    def meets(self, release: Release, secrets: Mapping[str, Ints]) -> bool:
        """Whether a release meets every limit: its classes are the rows with the same labels."""
        if not release.rows:
            return False
        key = np.stack([release.label[name] for name in self.made.quasi], axis=1)
        member = np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
        count = int(member.max()) + 1
        limits = self.made.limits
        if limits.mean_risk is not None and count > limits.mean_risk * release.rows + 1e-9:
            return False
        checked = Problem.__new__(Problem)
        checked.__dict__.update(self.__dict__)
        checked.__dict__["secrets"] = dict(secrets)
        return bool(checked.classes_stand(member).all())

    def iloss(self, release: Release) -> float:
        """The mean over quasi-identifiers and rows of (values covered - 1)/|D|; rows that are gone cover everything."""
        total = 0.0
        for name in self.made.quasi:
            size = len(self.domains[name])
            wide = release.covers[name].sum(axis=1)[release.label[name]]
            total += float((wide - 1).sum() + (self.rows - release.rows) * (size - 1)) / size
        return total / self.rows / len(self.made.quasi)

    def own(self, labels: Mapping[str, tuple[Ints, Flags]], kept: Flags | None = None) -> Release:
        """A release from the label of every row and what labels cover; sensitive columns stay as they are."""
        label = {name: (code if kept is None else code[kept]) for name, (code, _) in labels.items()}
        cover = {name: flags for name, (_, flags) in labels.items()}
        for name in self.made.sensitive:
            code = self.domains[name].code
            label[name] = code if kept is None else code[kept]
            cover[name] = np.eye(len(self.domains[name]), dtype=bool)
        return Release(label, cover, kept)

    def read(self, columns: Mapping[str, Sequence[Any]]) -> Release:
        """A release as it was written, its texts read as any user would read them."""
        label, cover = {}, {}
        for name, texts in columns.items():
            domain = self.domains[name]
            tree = self.made.trees.get(name)
            over = None if tree is None else {value: frozenset(labels) for value, labels in tree.items()}
            names = list(dict.fromkeys(texts))
            at = {text: i for i, text in enumerate(names)}
            spelled = [None if text is None else plain(text) for text in names]
            label[name] = np.array([at[text] for text in texts])
            cover[name] = np.array(
                [[covers(text, value, plain(value) or "", over) for value in domain.values] for text in spelled]
            )
            # a text that is a value of the column stands for that value alone
            exact = {plain(value): i for i, value in enumerate(domain.values)}
            for row, text in enumerate(spelled):
                if text in exact:
                    cover[name][row] = np.arange(len(domain)) == exact[text]
            if not cover[name].any(axis=1).all():
                raise ValueError(f"{name}: a released text covers no value of the original")
        return Release(label, cover)


class Workload:
    """Random counting queries over two columns: ranges of values that have an order, sets of the others; 5% selectivity.

    Written from the definition (Xiao and Tao 2006) a second time. A query asks for ceil(|D| sqrt(0.05)) values of each column; its
    error is |estimate - truth| / max(truth, 0.1% of the rows), each label spread evenly over the values that it covers.
    """

    def __init__(self, problem: Problem, *, queries: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.names = list(problem.made.columns)
        self.floor = max(0.001 * problem.rows, 1.0)
        asked: dict[tuple[str, str], list[tuple[Flags, Flags]]] = {}
        for _ in range(queries):
            a, b = sorted(rng.choice(len(self.names), 2, replace=False).tolist())
            pair = (self.names[a], self.names[b])
            flags = [self._draw(rng, problem.domains[name]) for name in pair]
            asked.setdefault(pair, []).append((flags[0], flags[1]))
        self.asked = {
            pair: (np.array([f for f, _ in both], dtype=float).T, np.array([g for _, g in both], dtype=float).T)
            for pair, both in asked.items()
        }
        exact = {name: (domain.code, np.eye(len(domain), dtype=bool)) for name, domain in problem.domains.items()}
        self.truth = self._answers(
            Release({n: c for n, (c, _) in exact.items()}, {n: f for n, (_, f) in exact.items()})
        )

    @staticmethod
    def _draw(rng: np.random.Generator, domain: Domain) -> Flags:
        size = len(domain)
        count = min(size, math.ceil(size * 0.05**0.5 - 1e-9))
        flags = np.zeros(size, dtype=bool)
        if domain.ordered:
            low = int(rng.integers(size - count + 1))
            flags[low : low + count] = True
        else:
            flags[rng.choice(size, count, replace=False)] = True
        return flags

    def _answers(self, release: Release) -> Floats:
        share = {
            name: flags / np.maximum(flags.sum(axis=1, keepdims=True), 1) for name, flags in release.covers.items()
        }
        answers = []
        for (a, b), (left, right) in self.asked.items():
            key = release.label[a] * len(share[b]) + release.label[b]
            cells, n = np.unique(key, return_counts=True)
            one, other = share[a] @ left, share[b] @ right
            answers.append(np.einsum("cq,cq,c->q", one[cells // len(share[b])], other[cells % len(share[b])], n))
        whole: Floats = np.concatenate(answers)
        return whole

    def error(self, release: Release) -> float:
        """The mean over the queries."""
        return float((np.abs(self._answers(release) - self.truth) / np.maximum(self.truth, self.floor)).mean())
