"""Tell listeners what happens while a study runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .candidate import Candidate
from .events import Began, Done, Event, Failed, Listener, Measured, Planned, Stage, Started
from .point import Measurement
from .runner import Told
from .tally import Tally

if TYPE_CHECKING:
    from ..core.metric import Metric
    from .study import Study

_GAIN = 0.1
"""By what share less must be lost for another candidate to be told of while a study runs."""


class Telling:
    """The events of one run of a study, for any number of listeners."""

    def __init__(self, study: Study, listeners: Sequence[Listener], workers: int) -> None:
        self.study, self.workers = study, workers
        self.tally = Tally()
        self.listeners: list[Listener] = [self.tally, *listeners]

    def __call__(self, event: Event) -> None:
        """Tell all of them."""
        for listener in self.listeners:
            listener(event)

    def begin(self) -> None:
        """The run begins."""
        study = self.study
        require = tuple(str(requirement) for requirement in study.require)
        self(Began(Began.now(), study.table.name, str(study.risk), str(study.utility), require))

    def stage(self, name: str) -> None:
        """Something else is done from now on."""
        self(Stage(name))

    def of(self, candidates: Sequence[Candidate]) -> Told:
        """These candidates are planned: what tells how each of them comes out."""
        families = tuple(candidate.family for candidate in candidates)
        self(Planned(self.tally.total + len(candidates), families, self.workers))

        def told(i: int, measured: Measurement | None, kept: bool) -> None:
            name, family = candidates[i].name, candidates[i].family
            if measured is None:
                self(Started(name, family))
                return
            took = 0.0 if kept else round(measured.seconds, 3)
            if measured.failure is not None:
                self(Failed(name, family, measured.failure, took, kept))
                return
            point = self.study.point(candidates[i], measured)
            risk, utility = (
                point.value(axis) if point.has(axis) else None for axis in (self.study.risk, self.study.utility)
            )
            self(Measured(name, family, risk, utility, point.met, tuple(point.misses), took, kept))

        return told

    def end(self, cut: str = "") -> None:
        """Nothing more is tried."""
        tally = self.tally
        self(Done(tally.done - tally.failed, tally.failed, tally.total, cut))


def counting(progress: Callable[[int, str], Any]) -> Listener:
    """A listener for a function that takes how many candidates are done, and the name of the one that was last begun."""
    tally = Tally()

    def listen(event: Event) -> None:
        tally(event)
        if isinstance(event, Started | Measured | Failed | Done):
            progress(tally.done, "" if isinstance(event, Done) else tally.doing)

    return listen


def drawn(line: Callable[..., None]) -> Listener:
    """A listener for a line of progress: how far the study is, and what it does."""
    tally = Tally()

    def listen(event: Event) -> None:
        tally(event)
        line(
            tally.share,
            tally.stage if tally.stage in ("finalist", "documents", "package") else tally.doing,
            tally.words,
        )

    return listen


def answers(say: Callable[[str], Any], *, utility: Metric) -> Listener:
    """A listener that says which candidate meets every limit first, and each that is better by a tenth than what was said before."""
    sign, told = (-1.0 if utility.card.better == "higher" else 1.0), [float("inf")]
    tally = Tally()

    def listen(event: Event) -> None:
        tally(event)
        if not isinstance(event, Measured) or not event.met or event.utility is None:
            return
        loss, before = sign * event.utility, told[0]
        if loss < before - _GAIN * abs(before) or before == float("inf"):
            told[0] = loss
            first = "A first answer" if before == float("inf") else "A better answer"
            say(
                f"{first}, {tally.done} of {tally.total}: {event.name} meets every limit; {utility} {event.utility:.4g}. Ctrl-C takes the best so far."
            )

    return listen
