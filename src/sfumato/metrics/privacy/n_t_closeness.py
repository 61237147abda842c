"""(n,t)-closeness: near to a large group instead of the whole table (Li, Li, Venkatasubramanian 2010; Manta 3.2.4)."""

import math
from functools import partial

import numpy as np

from ...core.column import IntArray
from ...core.counts import Counts
from ...core.cover import BoolArray
from ...core.metric import Score, measure
from ...core.parameter import Choice, Number
from ...core.release import Evidence
from ...core.words import from_zero, up
from ..group_distances import WAVE, Entries, entries
from ..supersets import around, compact, levels

MOST = 512
"""Levels of supersets that are looked at, at most."""
WORK = 20_000_000
"""Entries (a sensitive value of a class), over all levels together, up to which every class is looked at in full."""
LIMIT = 500_000_000
"""Entries that are looked at where those are more, the worst classes first."""
SPAN = 16
"""How many times the rows of a class's smallest superset another one may have, where not all can be looked at."""


class Search:
    """`best`: how far each class is from the nearest superset looked at; `full`: whether those are all it has at `nodes`."""

    def __init__(self, counted: Entries, tuples: Counts, nodes: list[tuple[IntArray, ...]], enough: int) -> None:
        self.counted, self.tuples, self.enough = counted, tuples, enough
        # from many small supersets to few large ones
        self.nodes = sorted(nodes, key=lambda node: -math.prod(int(step.max()) + 1 for step in node))
        self.use = np.zeros(len(nodes))  # how near its supersets were, on average
        self.best = np.where(tuples.n >= enough, 0.0, np.inf)
        self.full = self.best == 0
        self.passed = np.zeros(len(tuples), dtype=bool)  # a superset of it was passed over
        self.least = np.full(len(tuples), np.inf)  # rows of the smallest superset
        self.looked = np.zeros(len(nodes), dtype=bool)
        self.span, self.spent = math.inf, 0

    def run(self) -> None:
        """Look at every class in full, or else at the worst ones, until no other can be worse or enough was looked at.

        The value is the worst class's. So once some classes have been looked at, those that are nearer already than the
        worst of them need no further look: they stay at an upper bound. All others are looked at in ever larger waves.
        """
        count = len(self.best)
        size, once = count, self.counted.work(np.arange(count), np.zeros(count, dtype=np.int64), count)
        if once * len(self.nodes) > WORK:
            self.best = np.minimum(self.best, self.counted.whole())
            self.span = math.inf if once * len(self.nodes) <= LIMIT // 2 else SPAN
            size = WAVE
        wave = np.full(count, -1)  # of each class; -1 for none yet
        todo: list[list[int]] = []  # the levels that are left to each wave, the next one last
        while self.spent < LIMIT and (top := self.best.max()) > 0:
            worst = np.unique(wave[self.best == top])
            if any(at >= 0 and not todo[at] for at in worst.tolist()):
                break  # there is no more to look at for the worst class
            this, limit, others = int(worst[-1]), LIMIT, self.best < top
            if this < 0:
                floor = self.best[others & (wave >= 0)].max(initial=0.0)
                left = np.flatnonzero((wave < 0) & (self.best > floor))
                this, classes = len(todo), np.sort(left[np.argsort(-self.best[left], kind="stable")[:size]])
                wave[classes] = this
                todo.append(np.argsort(-self.use, kind="stable")[::-1].tolist())
                size = min(size * WAVE, self.counted.fit(LIMIT // 8, self.tuples.rows // self.enough))
                if len(classes) < len(left):  # what it takes to look at the others once is spared, and a little more
                    spare = LIMIT - 5 * once * (len(left) - len(classes)) // (4 * count)
                    limit = max((self.spent + spare) // 2, LIMIT // 8)
            else:
                floor = self.best[others & (wave != this)].max(initial=0.0)
            self._look(np.flatnonzero(wave == this), todo[this], float(floor), limit)

    def _look(self, classes: IntArray, todo: list[int], floor: float, limit: int) -> None:
        """From level to level while classes are further than the floor and no more than the limit was looked at."""
        while todo and self.spent < limit:
            near = self.best[classes] <= floor
            self.passed[classes[near]] = True
            classes = classes[~near]
            if not len(classes):
                return
            node = todo.pop()
            self.spent += len(self.best) // 8
            members, group = around(self.tuples, self.nodes[node], classes, self.enough)
            asked = np.zeros(len(self.best), dtype=bool)
            asked[classes] = True
            asked = asked[members]
            if self.span < math.inf:
                rows = np.bincount(group, weights=self.tuples.n[members])[group]
                self.least[members] = np.minimum(self.least[members], rows)
                large = asked & (rows > self.span * self.least[members])
                self.passed[members[large]] = True
                members, group, asked = _held(members, group, asked & ~large)
            if len(members):
                looked, far = members[asked], self.counted.distances(members, group, asked)
                self.best[looked] = np.minimum(self.best[looked], far)
                self.use[node] = (1 - far).sum() / len(classes)
                self.looked[node] = True
                self.spent += self.counted.work(members, group, len(looked))
        if not todo:
            self.full[classes] = ~self.passed[classes]


def _held(members: IntArray, group: IntArray, asked: BoolArray) -> tuple[IntArray, IntArray, BoolArray]:
    """Only the groups with a member that is asked for."""
    held = np.zeros(len(members), dtype=bool)
    held[group[asked]] = True
    kept = held[group]
    return members[kept], compact(group[kept], len(held)), asked[kept]


@measure(
    title="(n,t)-closeness",
    question="How much do the sensitive values of the worst class differ from those of a large group around it?",
    unit="distance",
    source="Li, Li, Venkatasubramanian 2010; Manta 2013, sec. 3.2.4, def. 9",
    sentence=from_zero(
        "Around every class there is a large enough group with the same distribution of sensitive values, by the chosen "
        "distance.",
        "Around every class there is a large enough group whose sensitive values differ from the class's by at most "
        "{} (0: no difference, 1: as different as can be). What the group itself reveals is not counted.",
        partial(up, short_of=1),
    ),
    keeps="certainty",
    misleads="A group of n rows can itself reveal something: if everyone in a region is ill, a class in that region is close "
    "to its group. Which groups surround a class depends on how its released values can be broadened.",
    needs=frozenset({"sensitive"}),
    scope="classes",
    parameters={
        "distance": Choice(("equal", "ordered", "jensen_shannon")),
        "n": Number(1000, low=1, whole=True),
        "bandwidth": Number(0.25, low=1e-6, high=1),
    },
    apart=False,
)
def n_t_closeness(evidence: Evidence, column: str, distance: str, n: int, bandwidth: float) -> Score:
    """The smallest `D[P_c, Q_E]` over the natural supersets E of class c with at least n rows; the worst class counts.

    A natural superset are all rows inside the class's released values after broadening them: up the taxonomy, to longer
    runs of neighbouring numbers or intervals, to shorter prefixes of masked codes, else to `*`. The class itself and the
    whole table are among them; a table of fewer than n rows is large enough, and the value is t-closeness then. The
    survey prints "more than n" rows; its example needs "at least". Where not all supersets are looked at, the value is an
    upper bound; in a large release classes that cannot be the worst stay at an upper bound of their own. Distances: `equal` and `ordered` are t_closeness's; `jensen_shannon` is in bits, after kernel smoothing
    over the distances of the values with Epanechnikov's kernel (its bandwidth is a share of the range; the survey leaves it
    open). Extremes: 0 if every class has n rows or is like a group that has; near 1 if a small class shares no value with others.
    """
    classes, tuples = evidence.classes(column), evidence.tuples
    enough = min(n, classes.rows)
    nodes, whole = levels(tuples, evidence.roles, MOST if enough < classes.rows else 1)
    search = Search(entries(classes, distance, bandwidth), tuples, nodes, enough)
    search.run()
    worst = float(search.best.max())
    # no class is further than its bound, so the value is exact if a class with it was looked at in full
    exact = worst == 0 or ((whole or enough == classes.rows) and bool(search.full[search.best == worst].any()))
    details = {
        "n": enough,
        "levels_of_supersets": int(search.looked.sum()),
        "classes_large_enough": int((classes.size >= enough).sum()),
        "classes_in_full": int((search.full | (search.best == 0)).sum()),
    }
    return Score(worst, "distance", "exact" if exact else "bound", search.best, details=details)
