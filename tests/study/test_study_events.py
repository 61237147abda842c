"""What a running study tells: its events in order, the log that is replayed, and how far it is in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.study.events import (
    Began,
    Done,
    Event,
    EventLog,
    Failed,
    Measured,
    Planned,
    Stage,
    Started,
    replay,
)
from sfumato.study.tally import Tally
from sfumato.study.telling import answers
from study_house import columns, study


@pytest.fixture(scope="module")
def table() -> sf.Table:
    import pyarrow as pa

    return sf.read(pa.table(columns()))


def test_events_tell_a_run_in_order(table: sf.Table) -> None:
    events: list[Event] = []
    result = study(table, "mondrian k=2", "mondrian k=100000").run(refine=0, listen=events.append)
    assert [event.kind for event in events] == [
        "began",
        "planned",
        "stage",
        "started",
        "measured",
        "started",
        "failed",
        "done",
    ]
    began, planned, stage, first, measured, second, failed, done = events
    assert isinstance(began, Began)
    assert (began.risk, began.utility) == (str(result.study.risk), str(result.study.utility))
    assert planned == Planned(2, ("mondrian", "mondrian"), 1)
    assert stage == Stage("candidates")
    assert (first, second) == (Started("mondrian k=2", "mondrian"), Started("mondrian k=100000", "mondrian"))
    assert isinstance(measured, Measured)
    point = result.points[0]
    assert (measured.risk, measured.utility) == tuple(point.value(a) for a in (result.study.risk, result.study.utility))
    assert measured.met
    assert isinstance(failed, Failed)
    assert failed.reason == result.points[1].failure
    assert done == Done(1, 1, 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_candidate_is_begun_and_comes_out_once_and_what_was_kept_is_said_to_be(
    table: sf.Table, tmp_path: Path, workers: int
) -> None:
    texts = [f"mondrian k={k}" for k in (2, 3, 4)]
    held, events = study(table, *texts), list[Event]()
    for _ in range(2):
        events.clear()
        held.run(refine=0, cache=tmp_path, workers=workers, listen=events.append)
        came = [event for event in events if isinstance(event, Measured)]
        assert sorted(event.name for event in came) == texts
    assert all(event.kept for event in came)
    assert not any(isinstance(event, Started) for event in events)


def test_what_is_looked_for_nearby_is_planned_too(table: sf.Table) -> None:
    tally, events = Tally(), list[Event]()
    result = study(table, "mondrian k=4", requirements=("k_anonymity >= 3",)).run(
        refine=1, listen=lambda e: (events.append(e), tally(e))
    )
    assert tally.total == tally.done == 1 + result.looked > 1
    assert Stage("neighbours") in events
    assert tally.share == 1.0
    assert tally.words == f"{tally.total} of {tally.total}"


def test_a_log_is_replayed_as_it_was_told_run_by_run(table: sf.Table, tmp_path: Path) -> None:
    log, told = EventLog(tmp_path / "kept" / "events.jsonl"), list[Event]()
    for text in ("mondrian k=2", "mondrian k=100000", "mondrian k=3"):
        told.clear()
        try:
            study(table, text).run(refine=0, listen=lambda event: (log(event), told.append(event)))
        except sf.Infeasible:
            assert isinstance(told[-1], Failed)
    assert [event for _, event in replay(log.path)] == told
    seconds = [at for at, _ in replay(log.path)]
    assert seconds == sorted(seconds)
    assert sum(isinstance(event, Began) for _, event in replay(log.path, last=False)) == 3
    assert os.stat(log.path).st_mode & 0o077 == 0


def test_half_a_line_and_lines_of_others_are_passed_over(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log(Planned(3, ("a",)))
    with log.path.open("ab") as file:
        file.write(
            b'{"event": "new"}\n[1]\nno json\n\xff\n{"event": "stage", "seconds": 0, "more": 1}\n{"event": "stage", "sec'
        )
    assert [event for _, event in replay(log.path)] == [Planned(3, ("a",))]
    assert list(replay(tmp_path / "nothing.jsonl")) == []


def test_a_number_that_json_lacks_is_null(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log(Measured("a", "b", float("inf"), float("nan"), met=True))
    ((_, event),) = replay(log.path)
    assert event == Measured("a", "b", None, None, met=True)


def test_a_log_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be kept there"):
        EventLog(tmp_path / "file" / "events.jsonl")(Stage("candidates"))


def test_the_words_say_how_far_and_how_long() -> None:
    tally = Tally()
    assert (tally.share, tally.left) == (0.0, None)
    tally(Planned(4, ("quick", "quick", "slow", "slow"), 2))
    assert tally.words == "0 of 4"
    tally(Measured("a", "quick", 0.1, 0.1, met=True, took=10.0))
    assert tally.left == (10 + 2 * 10) / 2  # slow is not known yet
    tally(Failed("b", "slow", "no", took=130.0))
    assert tally.words == "2 of 4, about 1 minute left"  # (10 + 130) / 2 seconds
    assert tally.failed == 1
    tally(Measured("c", "slow", 0.1, 0.1, met=True, kept=True))
    tally(Measured("d", "quick", 0.1, 0.1, met=True, took=20.0))
    assert tally.words == "4 of 4"
    tally(Planned(5, ("slow",), 2))
    assert tally.words == "4 of 5, about 1 minute left"


def test_answers_are_told_while_a_study_runs_and_only_what_is_better_by_a_tenth() -> None:
    said: list[str] = []
    listen = answers(said.append, utility=sf.metric("iloss"))
    listen(Planned(5, ("mondrian",) * 5, 1))
    for name, loss, met in (
        ("a", 0.3, False),
        ("b", 0.5, True),
        ("c", 0.46, True),
        ("d", 0.44, True),
        ("e", 0.6, True),
    ):
        listen(Measured(name, "mondrian", 0.1, loss, met))
    assert [text.split(" meets")[0] for text in said] == ["A first answer, 2 of 5: b", "A better answer, 4 of 5: d"]
    assert "iloss 0.44" in said[1]
    higher: list[str] = []
    listen = answers(higher.append, utility=sf.metric("entropy_utility"))
    for name, kept in (("a", 0.5), ("b", 0.4), ("c", 0.6)):
        listen(Measured(name, "mondrian", 0.1, kept, True))
    assert [text.split(": ")[1][0] for text in higher] == ["a", "c"]
