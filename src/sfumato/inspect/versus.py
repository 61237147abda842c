"""Two releases side by side: over classes, over columns, and person by person. Which of the two is better as a whole?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import metrics
from ..core.cell_loss import ILOSS
from ..core.column import FloatArray, IntArray
from ..core.counts import Counts
from ..core.errors import SfumatoError, Unavailable
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.words import counted
from ..metrics.column_losses import leaves
from ..metrics.utility.iloss import iloss
from .default_metrics import usual_metrics

_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Versus:
    """Everything that was compared; `a` and `b` are the names of the two."""

    a: str
    b: str
    classes: dict[str, tuple[float, float]]
    columns: dict[str, tuple[float, float]]
    """ILoss of each quasi-identifier: rows missing from a release count as `*`."""
    people: dict[str, dict[str, int]]
    """How many people are better off in a, in b, or in both alike: by precision and by the company they have."""
    measures: dict[str, tuple[float, float, str]]
    """Metrics measured on both, and which of the two is better by it: a, b or neither."""
    skipped: dict[str, str]

    @property
    def better(self) -> dict[str, int]:
        """By how many measures each is better."""
        sides = [side for _, _, side in self.measures.values()]
        return {side: sides.count(side) for side in ("a", "b", "neither")}

    @property
    def dominates(self) -> str | None:
        """The one that is better by some measure and worse by none, if there is one."""
        count = self.better
        if count["a"] and not count["b"]:
            return "a"
        return "b" if count["b"] and not count["a"] else None

    @property
    def sentences(self) -> list[str]:
        """In words; true whatever the numbers."""
        count, names = self.better, {"a": self.a, "b": self.b}
        sentences = [
            f"Of {counted(len(self.measures), 'measure')} {self.a} is better by {count['a']}, {self.b} by {count['b']}, and "
            f"{count['neither']} {'does' if count['neither'] == 1 else 'do'} not tell them apart."
        ]
        if self.dominates is not None:
            sentences.append(f"{names[self.dominates]} is worse by none of them.")
        for what, words in (("precision", "described more precisely"), ("company", "in a larger class")):
            if what in self.people:
                each = self.people[what]
                sentences.append(
                    f"{counted(each['a'], 'person is', 'people are')} {words} in {self.a}, {each['b']:,} in {self.b}, "
                    f"{each['alike']:,} in both alike."
                )
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "a": self.a,
            "b": self.b,
            "classes": {key: {"a": x, "b": y} for key, (x, y) in self.classes.items()},
            "columns": {key: {"a": x, "b": y} for key, (x, y) in self.columns.items()},
            "people": self.people,
            "measures": {key: {"a": x, "b": y, "better": side} for key, (x, y, side) in self.measures.items()},
            "better": self.better,
            "dominates": self.dominates,
            "skipped": self.skipped,
            "sentences": self.sentences,
        }


def versus(
    a: Release, b: Release, roles: Roles, *, names: tuple[str, str] = ("A", "B"), everything: bool = False
) -> Versus:
    """Compare two releases of the same original by the usual measures, or by everything that can be asked."""
    both = (a, b)
    wanted = (
        None
        if everything
        else [m for m in usual_metrics(roles) if len(roles.sensitive) or "sensitive" not in m.card.needs]
    )
    scores = [metrics.measure_available(release, roles, wanted) for release in both]
    measures: dict[str, tuple[float, float, str]] = {}
    for name, (metric, score) in scores[0][0].items():
        if name in scores[1][0]:
            x, y = score.value, scores[1][0][name][1].value
            near = math.isfinite(x - y) and abs(x - y) <= _SAME * max(1.0, abs(x), abs(y))
            same = x == y or near or math.isnan(x) or math.isnan(y)
            higher = metric.card.better == "higher"
            measures[name] = (x, y, "neither" if same else "a" if (x > y) == higher else "b")
    skipped = {**scores[0][1], **scores[1][1]}
    sizes = []
    for release in both:
        try:
            sizes.append(np.sort(release.evidence(roles).people))
        except SfumatoError:
            sizes = []
            break
    classes: dict[str, tuple[float, float]] = {}
    if len(sizes) == 2:
        one, other = (_sizes(n) for n in sizes)
        classes = {name: (one[name], other[name]) for name in one}
    columns: dict[str, tuple[float, float]] = {}
    if all(str(iloss) in side[0] for side in scores):
        per = [scores[i][0][str(iloss)][1].details["columns"] for i in (0, 1)]
        columns = {name: (per[0][name], per[1][name]) for name in per[0] if name in per[1]}
    try:
        people = _people(a, b, roles)
    except SfumatoError as reason:
        people = {}
        skipped["people"] = str(reason)
    return Versus(*names, classes, columns, people, measures, skipped)


def _sizes(n: IntArray) -> dict[str, float]:
    """What the sizes of classes tell."""
    some = n if len(n) else np.zeros(1, dtype=np.int64)
    return {
        "classes": float(len(n)),
        "smallest class": float(some.min()),
        "median class": float(np.median(some)),
        "largest class": float(some.max()),
        "people released": float(n.sum()),
        "people in classes below 5": float(n[n < 5].sum()),
    }


def _people(a: Release, b: Release, roles: Roles) -> dict[str, dict[str, int]]:
    """Person by person: people with the same original quasi-identifiers count by what they may expect."""
    original = a.original
    if original is None or b.original is None:
        raise Unavailable("Comparing people needs the original table.")
    everyone = original.count(roles.quasi)
    sides: dict[str, list[FloatArray]] = {"precision": [], "company": []}
    for release in (a, b):
        loss, size = _expected(release, roles, everyone)
        sides["precision"].append(loss)
        sides["company"].append(-size)
    better_off = {}
    for what, (x, y) in sides.items():
        less, more = x < y - 1e-9, x > y + 1e-9
        better_off[what] = {
            "a": int(everyone.n[less].sum()),
            "b": int(everyone.n[more].sum()),
            "alike": int(everyone.n[~less & ~more].sum()),
        }
    return better_off


def _expected(release: Release, roles: Roles, everyone: Counts) -> tuple[FloatArray, FloatArray]:
    """For each original tuple the mean loss of its rows, and the mean size of their classes; left out is `*` and no class."""
    evidence, why = release.evidence(roles), "comparing people"
    counts = evidence.side_counts(roles.quasi, roles.quasi, why)
    width = len(roles.quasi)
    which = everyone.places(counts.columns[:width], counts.codes[:width])
    member = evidence.tuples.places(counts.columns[width:], counts.codes[width:])
    loss = np.zeros(len(counts))
    total, most = 0.0, 0.0
    for i, name in enumerate(roles.quasi):
        domain = evidence.domain(name, why)
        lost = ILOSS.of(leaves(domain, counts.columns[width + i].texts, name, why), domain.size)
        weight = float(roles.weights.get(name, 1.0))
        loss += weight * lost[counts.codes[width + i]]
        most += weight * ILOSS.whole(domain.size)
        total += weight
    size = evidence.people[member].astype(np.float64)
    here = np.bincount(which, weights=counts.n, minlength=len(everyone))
    gone = np.maximum(everyone.n - here, 0)
    sums = np.bincount(which, weights=counts.n * loss, minlength=len(everyone)) + gone * most
    company = np.bincount(which, weights=counts.n * size, minlength=len(everyone))
    rows = np.maximum(here + gone, 1)
    return sums / rows / max(total, 1e-300), company / rows
