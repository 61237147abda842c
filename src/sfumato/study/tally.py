"""How far a study is, from its events: 7 of 27, about 3 minutes left."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from ..core.noun import dataclass
from ..core.progress_line import duration
from .events import Done, Event, Failed, Measured, Planned, Stage, Started


@dataclass(eq=False)
class Tally:
    """A listener that counts.

    What is left is estimated from what candidates of the same mechanism took so far; one whose mechanism is not known yet is taken to last as
    long as the slowest that is.
    """

    total: int = 0
    done: int = 0
    failed: int = 0
    stage: str = ""
    doing: str = ""
    """The candidate that was last begun."""
    cut: str = ""
    _workers: int = 1
    _open: Counter[str] = field(default_factory=Counter)
    _took: dict[str, list[float]] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        """Count it."""
        if isinstance(event, Planned):
            self.total, self._workers = event.total, event.workers
            self._open.update(event.families)
        elif isinstance(event, Stage):
            self.stage = event.name
        elif isinstance(event, Started):
            self.doing = event.name
        elif isinstance(event, Measured | Failed):
            self.done += 1
            self.failed += isinstance(event, Failed)
            self._open[event.family] -= 1
            if not event.kept:
                self._took.setdefault(event.family, []).append(event.took)
        elif isinstance(event, Done):
            self.cut = event.cut

    @property
    def share(self) -> float:
        """The share of the candidates that is done."""
        return min(self.done / self.total, 1.0) if self.total else 0.0

    @property
    def left(self) -> float | None:
        """About how many seconds are left; None while nothing is known."""
        means = {family: sum(times) / len(times) for family, times in self._took.items()}
        if not means:
            return None
        return sum(n * means.get(family, max(means.values())) for family, n in self._open.items()) / self._workers

    @property
    def words(self) -> str:
        """7 of 27, about 3 minutes left."""
        left = self.left
        return f"{self.done} of {self.total}" + (f", about {duration(left)} left" if left else "")
