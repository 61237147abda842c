"""Sensitive values up their taxonomy, class by class, until no one's guarding node is breached too surely.

Xiao and Tao 2006, the third step of personalized generalization. Raising a value takes from the breach of the nodes that it
stands under, and adds to that of the nodes which it then stands above: so one move is made after the other, each where it
loses least for what it takes from the class's worst breach. All classes move at once; values only go up, so it ends.
"""

from __future__ import annotations

import numpy as np

from ...core.column import Column, FloatArray, IntArray
from ...core.cover import BoolArray
from ...core.errors import InputError
from ...core.hierarchy import TOP, Hierarchy
from ...core.noun import dataclass
from ...metrics.privacy.personalized_breach import OPEN, Leaves

_SLACK = 5e-13
"""Half of what a requirement forgives in rounding."""


@dataclass(frozen=True, eq=False)
class Raised:
    """`n` rows of `value` in class `member` go up to `level`, by class and value; which classes meet the limit, and their loss."""

    member: IntArray
    value: IntArray
    level: IntArray
    n: IntArray
    good: BoolArray
    loss: FloatArray


@dataclass(frozen=True, eq=False)
class Guarded:
    """A sensitive column, what its values may become, and the nodes that people guard."""

    node: IntArray
    """Values x levels: what each value becomes, as a number of `texts`."""
    texts: list[str | None]
    loss: FloatArray
    """ILoss of each text, (leaves - 1)/|D|."""
    share: FloatArray
    """Texts x guarding nodes: the share of the text's leaves that stand under the node, b/N."""
    guard: IntArray
    """The number of the guarding node of each value of the guarding column, -1 where it guards nothing."""
    limit: float

    @classmethod
    def of(cls, column: Column, taxonomy: Hierarchy, guards: Column, limit: float) -> Guarded:
        """From the columns as they were counted. A missing sensitive value stays missing until it is `*`."""
        wanted = [text for text in guards.texts if text not in OPEN]
        for name, texts in ((column.name, column.texts), (guards.name, wanted)):
            known = taxonomy.index if name == column.name else taxonomy.groups
            absent = sum(text is not None and text not in known for text in texts)
            if absent:
                raise InputError(
                    f"{taxonomy.source}: {absent} of the values in column {name!r} are not in the taxonomy of "
                    f"{column.name!r}; add them."
                )
        number: dict[str | None, int] = {}
        node = np.zeros((len(column), taxonomy.height + 1), dtype=np.int64)
        for i, text in enumerate(column.texts):
            for h, level in enumerate(taxonomy.levels):
                label = level[taxonomy.index[text]] if text is not None else TOP if h == taxonomy.height else None
                node[i, h] = number.setdefault(label, len(number))
        labels = list(number)
        under = Leaves(taxonomy, [TOP if text is None else text for text in labels])
        share = np.zeros((len(labels), max(len(wanted), 1)))
        for j, guarded in enumerate(wanted):
            share[:, j] = under.share(str(guarded))
        loss = (under.size - 1) / len(taxonomy.levels[0])
        if None in number:  # a leaf of its own under the root: what only `*` covers
            loss[number[None]] = 0.0
            share[number[None]] = [float(guarded == TOP) for guarded in wanted] or [0.0]
        place: dict[str | None, int] = {text: j for j, text in enumerate(wanted)}
        guard = np.array([place.get(text, -1) for text in guards.texts], dtype=np.int64)
        return cls(node, labels, loss, share, guard, limit)

    def raise_values(self, member: IntArray, value: IntArray, guard: IntArray, n: IntArray, count: int) -> Raised:
        """Raise values in each of `count` classes, given `n` rows of `value` whose people guard `guard`, until all is within the limit."""
        size = np.bincount(member, weights=n, minlength=count)
        values, guards = len(self.node), self.share.shape[1]
        key, where = np.unique(member * values + value, return_inverse=True)
        state = _State(key // values, key % values, np.zeros(len(key), dtype=np.int64), _sums(where, n, len(key)))
        pairs = np.unique((member * guards + guard)[guard >= 0])
        of, which = pairs // guards, pairs % guards
        good, done = np.ones(count, dtype=bool), []
        while len(of):
            active = np.isin(state.member, of)
            done.append(state.where(~active))
            state = state.where(active)
            pair, at = state.join(of)
            node = self.node[state.value[at], state.level[at]]
            excess = _sums(pair, state.n[at] * self.share[node, which[pair]], len(of)) - self.limit * size[of]
            over = excess > _SLACK * size[of]
            still = np.isin(of, of[over])
            worst = np.lexsort([-excess, of])
            worst = worst[np.flatnonzero(np.diff(of[worst], prepend=-1))]
            worst = worst[over[worst]]
            state, stuck = self._move(state, of[worst], which[worst], excess[worst])
            good[of[worst][stuck]] = False
            still &= ~np.isin(of, of[worst][stuck])
            of, which = of[still], which[still]
        state = _State.join_all([*done, state])
        loss = _sums(state.member, state.n * self.loss[self.node[state.value, state.level]], count)
        return Raised(state.member, state.value, state.level, np.rint(state.n).astype(np.int64), good, loss)

    def _move(self, state: _State, of: IntArray, which: IntArray, excess: FloatArray) -> tuple[_State, BoolArray]:
        """One move in each of these classes against its worst breach; and where there is none to make."""
        stuck = np.zeros(len(of), dtype=bool)
        if not len(of):
            return state, stuck
        pair, at = state.join(of)
        here = self.node[state.value[at], state.level[at]]
        above = self.node[state.value[at]]
        less = (self.share[here, which[pair]])[:, None] - self.share[above, which[pair][:, None]]
        more = self.loss[above] - self.loss[here][:, None]
        higher = np.arange(self.node.shape[1]) > state.level[at][:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            price = np.where(higher & (less > _SLACK), more / less, np.inf)  # loss for what it takes from the breach
        level = np.argmin(price, axis=1)
        lowest = price[np.arange(len(at)), level]
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        order = np.lexsort([lowest, pair])[first]  # the cheapest entry of each class
        stuck = ~np.isfinite(lowest[order])
        order = order[~stuck]
        take = np.ceil(excess[~stuck] / less[order, level[order]] - 1e-9)
        take = np.clip(take, 1, state.n[at[order]])
        return state.raised(at[order], level[order], take), stuck


@dataclass(frozen=True, eq=False)
class _State:
    """`n` rows of `value` in class `member` that stand at `level`, by class."""

    member: IntArray
    value: IntArray
    level: IntArray
    n: FloatArray

    def where(self, kept: BoolArray) -> _State:
        return _State(self.member[kept], self.value[kept], self.level[kept], self.n[kept])

    @classmethod
    def join_all(cls, several: list[_State]) -> _State:
        member, value, level = (np.concatenate([getattr(s, f) for s in several]) for f in ("member", "value", "level"))
        n, order = np.concatenate([s.n for s in several]), np.lexsort([level, value, member])
        member, value, level, n = member[order], value[order], level[order], n[order]
        new = (np.diff(member, prepend=-1) != 0) | (np.diff(value, prepend=-1) != 0) | (np.diff(level, prepend=-1) != 0)
        return cls(member[new], value[new], level[new], _sums(np.cumsum(new) - 1, n, int(new.sum())))

    def join(self, of: IntArray) -> tuple[IntArray, IntArray]:
        """For each of these classes its entries: which of the classes, and where the entry is."""
        first, end = np.searchsorted(self.member, of), np.searchsorted(self.member, of, side="right")
        width = end - first
        pair = np.repeat(np.arange(len(of)), width)
        return pair, np.arange(len(pair)) + np.repeat(first - (np.cumsum(width) - width), width)

    def raised(self, at: IntArray, level: IntArray, take: FloatArray) -> _State:
        """With `take` rows of some entries at a higher level."""
        left = self.n.copy()
        left[at] -= take
        rest = _State(self.member, self.value, self.level, left).where(left > 0)
        return _State.join_all([rest, _State(self.member[at], self.value[at], level.astype(np.int64), take)])


def _sums(member: IntArray, term: FloatArray | IntArray, count: int) -> FloatArray:
    return np.bincount(member, weights=term, minlength=count).astype(np.float64, copy=False)
