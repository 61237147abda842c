"""Publishing rules: at which of the nodes that it may be released at a table is released, and how likely at each.

A rule looks at the allowed nodes alone. Its probabilities are fractions, so that a channel made of them is exact.

| publish         | probability of a node                                                   |
|-----------------|-------------------------------------------------------------------------|
| `uniform`       | the same for every allowed node (sec. 5.5)                              |
| `minimal`       | the same for every allowed node that has no allowed node below it       |
| `deterministic` | 1 for the allowed node of least height, ties by node order              |
| `most general`  | 1 for the most general node                                             |
| weights         | in proportion to the owner's weight of the node, among the allowed ones |
| a function      | what the owner's function of the allowed nodes says                     |

Deterministic publishing leaks more than uniform publishing where the paper says so, on its example; it is no theorem,
for always publishing the most general release is deterministic too, and leaks least of all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.errors import InputError
from .tables import Levels

Function = Callable[[Sequence[Levels]], Any]
"""Of the allowed nodes: the node to publish at, or a weight for each of them."""
Publish = str | Sequence[Any] | Mapping[Levels, Any] | Function
RULES = ("uniform", "minimal", "deterministic", "most general")


class Rule(ABC):
    """`share(allowed)` are the probabilities of the nodes; all 0 if nothing is published."""

    countable = True
    """Whether `most` is known, so that the error under a uniform prior follows by counting."""

    def __init__(self, nodes: Sequence[Levels]) -> None:
        self.nodes = tuple(nodes)
        self.shape = tuple(level + 1 for level in self.nodes[-1])

    @abstractmethod
    def share(self, allowed: Sequence[bool]) -> tuple[Fraction, ...]:
        """The probability of each node for a table that may be released at these."""

    @abstractmethod
    def most(self, node: int, floor: int) -> Fraction:
        """The largest probability of a release at a node, over the tables behind it, which are all allowed above its floor,
        one of them nowhere else."""

    @abstractmethod
    def silent(self, floor: int) -> bool:
        """Whether a table that is allowed just above this floor is not published."""

    def accumulated(self, numbers: npt.NDArray[Any], *, up: bool) -> npt.NDArray[Any]:
        """For each node, the sum over itself and all above it, or all below it."""
        sums = numbers.reshape(self.shape)
        for axis in range(len(self.shape)):
            sums = np.flip(np.cumsum(np.flip(sums, axis), axis=axis), axis) if up else np.cumsum(sums, axis=axis)
        return sums.ravel()


class NodeWeights(Rule):
    """In proportion to a weight per node. All equal: uniform over all allowed releases.

    The probability `w_g / (sum of w over the allowed nodes)` is largest for the table with the fewest allowed nodes.
    """

    def __init__(self, nodes: Sequence[Levels], weights: Sequence[Fraction]) -> None:
        super().__init__(nodes)
        self.weights = tuple(weights)
        self._above = self.accumulated(np.array(self.weights, dtype=object), up=True)

    def share(self, allowed: Sequence[bool]) -> tuple[Fraction, ...]:
        """w_g over the sum of the allowed weights; nothing if that is 0."""
        kept = [w if ok else Fraction(0) for w, ok in zip(self.weights, allowed, strict=True)]
        total = sum(kept, Fraction(0))
        return tuple(w / total for w in kept) if total else tuple(kept)

    def most(self, node: int, floor: int) -> Fraction:
        """w_g over the weight of what lies above the floor."""
        above: Fraction = self._above[floor]
        return self.weights[node] / above if above else Fraction(0)

    def silent(self, floor: int) -> bool:
        """If nothing above the floor has weight."""
        return not self._above[floor]


class Minimal(Rule):
    """Uniform over the allowed nodes with no allowed node below. A release above its floor is never one of them, and one
    at its floor is the only one for some table: so `most` is 1, as if publishing were deterministic."""

    def share(self, allowed: Sequence[bool]) -> tuple[Fraction, ...]:
        """1 over the number of minimal nodes."""
        ok = np.array(allowed, dtype=bool)
        minimal = ok & (self.accumulated(ok.astype(np.int64), up=False) == 1)  # none allowed below, but itself
        n = int(minimal.sum())
        return tuple(Fraction(int(m), n) if n else Fraction(0) for m in minimal)

    def most(self, node: int, floor: int) -> Fraction:
        """1 at the floor, never above it."""
        return Fraction(int(node == floor))

    def silent(self, floor: int) -> bool:
        """Never."""
        return False


class Deterministic(Minimal):
    """The allowed node of least height, ties by node order."""

    def share(self, allowed: Sequence[bool]) -> tuple[Fraction, ...]:
        """1 for one node."""
        best = min((i for i, ok in enumerate(allowed) if ok), key=lambda i: (sum(self.nodes[i]), i), default=None)
        return tuple(Fraction(int(i == best)) for i in range(len(self.nodes)))


class Owner(Rule):
    """The owner's function of the allowed nodes, which gives one of them, or a weight for each."""

    countable = False

    def __init__(self, nodes: Sequence[Levels], function: Function) -> None:
        super().__init__(nodes)
        self.function = function

    def share(self, allowed: Sequence[bool]) -> tuple[Fraction, ...]:
        """What the function says, scaled to sum to 1."""
        free = tuple(node for node, ok in zip(self.nodes, allowed, strict=True) if ok)
        if not free:
            return (Fraction(0),) * len(self.nodes)
        said = self.function(free)
        if not isinstance(said, Mapping):
            said = {tuple(said): 1}
        if not set(said) <= set(free):
            raise InputError(
                "The publishing rule chose a node that the table may not be released at; choose among those given."
            )
        weights = [_weight(said[node], "The publishing rule") if node in said else Fraction(0) for node in self.nodes]
        total = sum(weights, Fraction(0))
        return tuple(w / total for w in weights) if total else tuple(weights)

    def most(self, node: int, floor: int) -> Fraction:
        """At most 1: all that is known of it."""
        return Fraction(1)

    def silent(self, floor: int) -> bool:
        """It may be."""
        return True


def rule(publish: Publish, nodes: Sequence[Levels]) -> Rule:
    """The rule of a name, of weights per node (a list in node order, or a mapping from nodes), or of a function."""
    if isinstance(publish, str):
        if publish == "uniform":
            return NodeWeights(nodes, [Fraction(1)] * len(nodes))
        if publish == "most general":  # which is above every floor, so that some node always has weight
            return NodeWeights(nodes, [Fraction(int(i == len(nodes))) for i in range(1, len(nodes) + 1)])
        if publish in ("minimal", "deterministic"):
            return (Minimal if publish == "minimal" else Deterministic)(nodes)
        raise InputError(f"publish must be one of {', '.join(RULES)}, weights or a function, not {publish!r}.")
    if callable(publish):
        return Owner(nodes, publish)
    if isinstance(publish, Mapping):
        if not set(publish) <= set(nodes):
            raise InputError("publish gives a weight to a node that is none of the generalizations of the attributes.")
        publish = [publish.get(node, 0) for node in nodes]
    if len(publish) != len(nodes):
        raise InputError(
            f"publish has {len(publish)} weights for {len(nodes)} nodes; give one each, the first attribute slowest."
        )
    return NodeWeights(nodes, [_weight(w, "publish") for w in publish])


def _weight(value: Any, where: str) -> Fraction:
    """A weight as it was written: 0.1 is one tenth."""
    number = isinstance(value, int | float | Fraction | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0:
        raise InputError(f"{where}: a weight must be a number of at least 0.")
    return value if isinstance(value, Fraction) else Fraction(str(value))
