"""What was worked out of a table (or another noun), remembered with it within one budget of bytes: least recently used goes first.

Every process has a memory of its own, and its threads share it. The lock guards the books, not the work: two threads that ask the
same at once may both do the work, and get equal answers. What is remembered of a table goes when the table does.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

T = TypeVar("T")
Owner = TypeVar("Owner")
P = ParamSpec("P")
BUDGET = 128 << 20
"""Bytes that are held at most."""


class Memory:
    """Answers by owner and question. An answer that alone is larger than the budget is not kept."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self.bytes = 0
        self._held: OrderedDict[tuple[int, Hashable], tuple[Any, int]] = OrderedDict()  # least recently used first
        self._questions: dict[int, set[Hashable]] = {}
        self._lock = threading.RLock()

    def recall(self, owner: object, question: Hashable, answer: Callable[[], T]) -> T:
        """The answer that was given before, else this one, kept for the next time."""
        key = (id(owner), question)
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                known: T = self._held[key][0]
                return known
        value = answer()
        self.keep(owner, question, value)
        return value

    def keep(self, owner: object, question: Hashable, value: Any) -> None:
        """Remember an answer, and forget what there is no more room for."""
        size = size_of(value)
        with self._lock:
            if size > self.budget or (id(owner), question) in self._held:
                return
            if id(owner) not in self._questions:
                self._questions[id(owner)] = set()
                weakref.finalize(owner, self._forget, id(owner)).atexit = False
            self._questions[id(owner)].add(question)
            self._held[id(owner), question] = (value, size)
            self.bytes += size
            while self.bytes > self.budget:
                (other, old), (_, size) = self._held.popitem(last=False)
                self._questions[other].discard(old)
                self.bytes -= size

    def answers(self, owner: object) -> dict[Hashable, Any]:
        """All that is remembered of an owner; to look is not to use."""
        with self._lock:
            return {question: self._held[id(owner), question][0] for question in self._questions.get(id(owner), ())}

    def _forget(self, owner: int) -> None:
        with self._lock:
            for question in self._questions.pop(owner, ()):
                self.bytes -= self._held.pop((owner, question))[1]


memory = Memory()


def remembered(method: Callable[Concatenate[Owner, P], T]) -> Callable[Concatenate[Owner, P], T]:
    """A method, or a function of one noun, whose answer to the same arguments is remembered with the noun; nobody may change it."""

    @functools.wraps(method)
    def recalled(owner: Owner, /, *given: P.args, **named: P.kwargs) -> T:
        options = tuple((name, _fixed(value)) for name, value in sorted(named.items()))
        question = (method.__module__, method.__qualname__, tuple(map(_fixed, given)), options)
        return memory.recall(owner, question, lambda: method(owner, *given, **named))

    return recalled


def _fixed(argument: Any) -> Any:
    return tuple(argument) if isinstance(argument, list) else argument


def size_of(value: Any) -> int:
    """About how many bytes an answer takes."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    if dataclasses.is_dataclass(value):
        return sum(size_of(getattr(value, field.name)) for field in dataclasses.fields(value))
    size = sys.getsizeof(value)
    if isinstance(value, Mapping):
        return size + sum(map(size_of, value.keys())) + sum(map(size_of, value.values()))
    return size + sum(map(size_of, value)) if isinstance(value, list | tuple) else size
