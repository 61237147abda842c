"""A study that ends early: by Ctrl-C or by the clock, with what was measured by then, and it says so."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.core.errors import InputError
from sfumato.study.advice import advice
from sfumato.study.events import Done, Event, Measured
from sfumato.study.runner import Bench
from sfumato.study.stopping import Stop
from study_house import memory, study

TEXTS = ("mondrian k=3", "mondrian k=4", "mondrian k=6", "mondrian k=9")


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], Any]], None]:
    """Do something while the nth candidate is measured."""
    real = Bench.measure

    def plan(nth: int, act: Callable[[], Any]) -> None:
        count = iter(range(1, 100))

        def measure(self: Bench, *args: Any, **more: Any) -> Any:
            if next(count) == nth:
                act()
            return real(self, *args, **more)

        monkeypatch.setattr(Bench, "measure", measure)

    return plan


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def swallowed() -> None:
    """As a mechanism does that ends with the best so far."""
    with contextlib.suppress(KeyboardInterrupt):
        interrupt()


@pytest.mark.parametrize("act", [interrupt, swallowed])
def test_what_was_measured_before_an_interruption_is_the_result(
    during: Any, act: Callable[[], Any], tmp_path: Path
) -> None:
    during(3, act)
    events: list[Event] = []
    held = study(memory(), *TEXTS, requirements=("k_anonymity >= 3",))
    result = held.run(refine=2, cache=tmp_path, catch=True, listen=events.append)
    assert [point.candidate.text for point in result.points] == list(TEXTS[:2])
    assert (result.cut, result.tried, result.planned, result.looked) == ("interrupt", 2, 4, 0)
    assert events[-1] == Done(2, 0, 4, "interrupt")
    assert advice(result).of("cut") == [
        "The study is not complete: you interrupted it when 2 of 4 candidates had been tried, so one that was not tried may be better."
    ]
    assert result.to_dict()["cut"] == {"by": "interrupt", "tried": 2, "planned": 4}
    whole = held.run(refine=0, cache=tmp_path)
    assert len(whole.points) == 4
    assert whole.cut == ""
    assert whole.to_dict()["cut"] is None
    assert advice(whole).of("cut") == []


@pytest.mark.parametrize("act", [interrupt, swallowed])
@pytest.mark.parametrize(("nth", "catch"), [(1, True), (3, False)], ids=["nothing measured", "not caught"])
def test_an_interruption_goes_on_where_there_is_nothing_or_nobody_asked(
    during: Any, act: Callable[[], Any], nth: int, catch: bool
) -> None:
    during(nth, act)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        study(memory(), *TEXTS).run(refine=0, catch=catch)
    assert signal.getsignal(signal.SIGINT) is before


def test_near_the_best_an_interruption_keeps_the_best_so_far(during: Any) -> None:
    during(6, interrupt)
    result = study(memory(), *TEXTS, requirements=("k_anonymity >= 3",)).run(refine=2, catch=True)
    assert (result.cut, result.tried, result.looked) == ("interrupt", 5, 1)
    assert result.planned > 5
    assert result.recommended[0] is not None


@pytest.mark.parametrize("alarm", [True, False])
def test_the_clock_ends_a_study_but_not_before_a_first_candidate(
    during: Any, monkeypatch: pytest.MonkeyPatch, alarm: bool
) -> None:
    """Where the system has no alarm, the candidate at work is measured to its end."""
    if not alarm:
        monkeypatch.delattr(signal, "setitimer")
    elif not hasattr(signal, "setitimer"):
        pytest.skip("this system has no alarm")
    during(1, lambda: time.sleep(0.02))
    held = study(memory(), *TEXTS)
    result = held.run(refine=2, time_limit=0.01)
    assert len(result.points) == 1
    assert (result.cut, result.tried, result.planned, result.looked) == ("time", 1, 4, 0)
    assert "the time limit of 0.01 seconds was up when 1 of 4 candidates had been tried" in advice(result).of("cut")[0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no alarm")
def test_the_clock_ends_a_candidate_that_takes_long(during: Any) -> None:
    during(2, lambda: time.sleep(60))
    started = time.monotonic()
    result = study(memory(), *TEXTS).run(refine=2, time_limit=1)
    assert time.monotonic() - started < 50
    assert result.cut == "time"
    assert len(result.points) == 1


def test_with_time_enough_nothing_changes() -> None:
    held = study(memory(), *TEXTS)
    with_limit, without = held.run(refine=1, time_limit=600).to_dict(), held.run(refine=1).to_dict()
    assert with_limit == without


@pytest.mark.full
def test_other_processes_are_given_up_too() -> None:
    held, done = study(memory(), *TEXTS), list[Event]()

    def listen(event: Event) -> None:
        if isinstance(event, Measured):
            done.append(event)
            if len(done) == 2:
                interrupt()

    result = held.run(refine=0, workers=2, catch=True, listen=listen)
    assert result.cut == "interrupt"
    assert 2 <= len(result.points) < 4


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_a_limit_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(InputError, match="above 0"):
        Stop(limit)
