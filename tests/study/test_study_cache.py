"""What a study keeps: nothing is measured twice, nothing stale is believed, and no value of the table lies about."""

from __future__ import annotations

import contextlib
import json
import math
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.metric import Score
from sfumato.core.release import Release
from sfumato.core.table import Table
from sfumato.inspect.subgroups import MiningWorth
from sfumato.metrics import metric
from sfumato.study import runner
from sfumato.study.point import Measurement
from sfumato.study.score_store import Kept, decoded, of_roles
from sfumato.study.study import Candidate, Result, grid
from study_house import CANARY, ROLES, columns, memory, study

TWO = ("mondrian k=3", "mondrian k=6")


def same(a: Result, b: Result) -> bool:
    """As every `--json` would print them."""
    return json.dumps(a.to_dict(), sort_keys=True) == json.dumps(b.to_dict(), sort_keys=True)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str] | None]]:
    """Every call of Bench.measure: the candidate and the metrics asked for."""
    seen: list[tuple[str, list[str] | None]] = []
    real = runner.Bench.measure

    def counted(self: Any, candidate: Any, wanted: Any, release: Any = None) -> Any:
        seen.append((candidate.text, None if wanted is None else [str(m) for m in wanted]))
        return real(self, candidate, wanted, release)

    monkeypatch.setattr(runner.Bench, "measure", counted)
    return seen


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(columns()), path)
    return path


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


# --- a second run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measures", [(), ("t_closeness", "distinct_l_diversity", "query_error"), None], ids=str)
def test_a_second_run_measures_nothing_and_says_the_same(
    tmp_path: Path, calls: list[Any], measures: tuple[str, ...] | None
) -> None:
    held = study(memory(), *TWO, requirements=["k_anonymity >= 3"], measures=measures)
    first = held.run(cache=tmp_path / "kept", refine=0)
    assert calls
    calls.clear()
    second = held.run(cache=tmp_path / "kept", refine=0)
    assert calls == []
    assert same(first, second)
    assert same(first, held.run(refine=0))  # keeping changes nothing


def test_a_second_run_measures_nothing_where_a_variant_or_all_of_them_cannot_be_asked(
    tmp_path: Path, calls: list[Any]
) -> None:
    """`ill` has no order; minimal_distortion cannot be asked of unpaired rows, nor anything with a population."""
    theirs = Candidate("theirs", release=Release(table=memory(), original=memory()))
    held = study(
        memory(),
        measures=["t_closeness", "minimal_distortion", "journalist_risk", "linkage_distance_risk"],
        candidates=(theirs, *grid(TWO)),
    )
    first = held.run(cache=tmp_path, refine=0)
    calls.clear()
    second = held.run(cache=tmp_path, refine=0)
    assert calls == []
    assert same(first, second)


def test_several_sensitive_columns(tmp_path: Path, calls: list[Any]) -> None:
    roles = sf.Roles(quasi=("age", "zip"), sensitive=("ill", "note"))
    held = study(memory(), *TWO, measures=["distinct_l_diversity", "t_closeness[equal](note)"], roles=roles)
    held.run(cache=tmp_path, refine=0)
    calls.clear()
    held.run(cache=tmp_path, refine=0)
    assert calls == []


def test_a_failure_is_kept_too(tmp_path: Path, calls: list[Any]) -> None:
    held = study(memory(), "mondrian k=3", "mondrian k=5000")
    first = held.run(cache=tmp_path, refine=0)
    calls.clear()
    second = held.run(cache=tmp_path, refine=0)
    assert calls == []
    assert first.points[1].failure == second.points[1].failure is not None


def test_an_added_candidate_costs_itself_alone(tmp_path: Path, calls: list[Any]) -> None:
    study(memory(), *TWO, measures=None).run(cache=tmp_path, refine=0)
    calls.clear()
    study(memory(), *TWO, "mondrian k=4", measures=None).run(cache=tmp_path, refine=0)
    assert {text for text, _ in calls} == {"mondrian k=4"}


def test_an_added_metric_costs_itself_alone(tmp_path: Path, calls: list[Any]) -> None:
    study(memory(), *TWO, measures=["k_anonymity"]).run(cache=tmp_path, refine=0)
    calls.clear()
    found = study(memory(), *TWO, measures=["k_anonymity", "discernibility"]).run(cache=tmp_path, refine=0)
    assert calls == [(text, ["discernibility"]) for text in TWO]
    assert same(found, study(memory(), *TWO, measures=["k_anonymity", "discernibility"]).run(refine=0))


def test_what_an_earlier_and_wider_study_kept_does_not_leak_into_this_one(tmp_path: Path) -> None:
    """The advice counts measures: it must not hang on what the folder happens to hold."""
    table = memory()
    study(table, *TWO, measures=None).run(cache=tmp_path, refine=0)
    study(table, *TWO, measures=["query_error[ranges]"]).run(cache=tmp_path, refine=0)
    narrow = study(table, *TWO, requirements=["k_anonymity >= 2"], measures=["discernibility"])
    assert same(narrow.run(cache=tmp_path, refine=0), narrow.run(refine=0))
    asked = {"prosecutor_risk", "iloss", "query_error[ranges]", "overlapping_labels", "k_anonymity", "discernibility"}
    assert set(narrow.run(cache=tmp_path, refine=0).points[0].scores) == asked


def test_what_was_asked_by_name_before_does_not_leak_into_everything(tmp_path: Path) -> None:
    table = memory()
    study(table, *TWO, measures=["query_error[ranges,columns=2]"]).run(cache=tmp_path, refine=0)
    whole = study(table, *TWO, measures=None)
    assert same(whole.run(cache=tmp_path, refine=0), whole.run(refine=0))
    assert same(whole.run(cache=tmp_path, refine=0), whole.run(refine=0))


def test_the_order_of_metrics_is_that_of_the_study(tmp_path: Path) -> None:
    """Of two runs with other histories the reports are the same to the byte."""
    table = memory()
    study(table, *TWO, measures=["discernibility"]).run(cache=tmp_path, refine=0)
    held = study(table, *TWO, measures=["average_class_size", "discernibility"])
    assert json.dumps(held.run(cache=tmp_path, refine=0).to_dict()) == json.dumps(held.run(refine=0).to_dict())


# --- what invalidates ------------------------------------------------------------------------------------------------


def remeasured(calls: list[Any], call: Any) -> bool:
    calls.clear()
    call()
    return bool(calls)


def test_one_changed_row_of_a_table_in_memory(tmp_path: Path, calls: list[Any]) -> None:
    study(memory(), *TWO).run(cache=tmp_path, refine=0)
    other = np.array(columns()["age"])
    other[17] += 1
    assert remeasured(calls, lambda: study(memory(age=other), *TWO).run(cache=tmp_path, refine=0))
    assert not remeasured(calls, lambda: study(memory(), *TWO).run(cache=tmp_path, refine=0))


@pytest.mark.parametrize("workers", [1, 2])
def test_one_changed_row_of_a_file(tmp_path: Path, workers: int) -> None:
    """Also in the other processes, which live on between runs: they have read the file before, and copied it in its encoding."""
    path, kept = tmp_path / "people.csv", tmp_path / "kept"

    def found(rows: int, **more: Any) -> list[float]:
        lines = [f"{20 + i % 40},Köln,{'ab'[i % 2]},u" for i in range(rows)]
        path.write_bytes("\n".join(["age,zip,ill,note", *lines, ""]).encode("latin-1"))
        return [p.value(metric("iloss")) for p in study(sf.read(path), *TWO).run(**more, refine=0).points]

    before, after = (found(rows, cache=kept, workers=workers) for rows in (40, 70))
    assert before == found(40)
    assert after == found(70)
    assert before != after


def test_how_a_file_is_read(tmp_path: Path, calls: list[Any]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,zip,ill,note\n" + "".join(f"{20 + i},?,a,u\n{20 + i},x,b,v\n" for i in range(10)))
    study(sf.read(path), "mondrian k=2").run(cache=tmp_path / "k", refine=0)
    assert remeasured(
        calls, lambda: study(sf.read(path, missing=["?"]), "mondrian k=2").run(cache=tmp_path / "k", refine=0)
    )
    assert not remeasured(calls, lambda: study(sf.read(path), "mondrian k=2").run(cache=tmp_path / "k", refine=0))


@pytest.mark.parametrize(
    "roles",
    [
        sf.Roles(quasi=("zip", "age"), sensitive=("ill",), insensitive=("note",)),
        sf.Roles(quasi=("age",), sensitive=("ill",), insensitive=("note", "zip")),
        sf.Roles(quasi=("age", "zip"), sensitive=("note",), insensitive=("ill",)),
        sf.Roles(quasi=("age", "zip"), sensitive=("ill",)),
        sf.Roles(quasi=("age", "zip"), sensitive=("ill",), insensitive=("note",), weights={"age": 2}),
        sf.Roles(
            quasi=("age", "zip"), sensitive=("ill",), insensitive=("note",), hierarchies={"age": {"widths": [10]}}
        ),
        sf.Roles(
            quasi=("age", "zip"), sensitive=("ill",), insensitive=("note",), orders={"ill": ("a", "b", "c", CANARY)}
        ),
    ],
    ids=["order", "fewer", "sensitive", "dropped", "weights", "rule", "orders"],
)
def test_other_roles(tmp_path: Path, calls: list[Any], roles: sf.Roles) -> None:
    study(memory(), "mondrian k=3").run(cache=tmp_path, refine=0)
    assert remeasured(calls, lambda: study(memory(), "mondrian k=3", roles=roles).run(cache=tmp_path, refine=0))


@pytest.mark.parametrize("form", ["name", "rule"])
def test_a_changed_line_of_a_hierarchy_file(tmp_path: Path, calls: list[Any], form: str) -> None:
    file = tmp_path / "zip.csv"
    lines = ["00501;005;*", "00544;005;*", "10001;100;*", f"{CANARY};100;*"]
    file.write_text("\n".join(lines) + "\n")

    def held() -> Any:
        rule = "zip.csv" if form == "name" else {"file": "zip.csv"}
        roles = sf.Roles(quasi=("age", "zip"), sensitive=("ill",), hierarchies={"zip": rule}, folder=tmp_path)
        return study(memory(), "mondrian k=3", roles=roles).run(cache=tmp_path / "kept", refine=0)

    held()
    assert not remeasured(calls, held)
    file.write_text("\n".join(lines).replace("10001;100;*", "10001;005;*") + "\n")
    assert remeasured(calls, held)


def test_a_changed_hierarchy_in_memory() -> None:
    rows = [["a", "x", "*"], ["b", "x", "*"]]
    other = [["a", "x", "*"], ["b", "y", "*"]]
    one, two, again = (sf.Roles(quasi=("q",), hierarchies={"q": Hierarchy.of("q", r)}) for r in (rows, other, rows))
    assert of_roles(one) != of_roles(two)
    assert of_roles(one) == of_roles(again)


def test_hierarchies_of_two_columns_changing_places(tmp_path: Path) -> None:
    """The same bytes in the same order, another meaning: which file is whose is part of the roles."""
    (tmp_path / "a.csv").write_text("x;*\n")
    (tmp_path / "b.csv").write_text("y;*\n")
    one = sf.Roles(quasi=("q", "r"), hierarchies={"q": "a.csv", "r": "b.csv"}, folder=tmp_path)
    two = sf.Roles(quasi=("q", "r"), hierarchies={"q": "b.csv", "r": "a.csv"}, folder=tmp_path)
    assert of_roles(one) != of_roles(two)


def test_the_seed(tmp_path: Path, calls: list[Any]) -> None:
    held = study(memory(), "mondrian k=3 mode=relaxed")
    held.run(cache=tmp_path, seed=1, refine=0)
    assert remeasured(calls, lambda: held.run(cache=tmp_path, seed=2, refine=0))
    assert not remeasured(calls, lambda: held.run(cache=tmp_path, seed=1, refine=0))


def test_the_population(tmp_path: Path, calls: list[Any]) -> None:
    many, more = memory(300), memory(301)
    held = [study(memory(), "mondrian k=3", measures=["journalist_risk"], population=p) for p in (None, many, more)]
    held[0].run(cache=tmp_path, refine=0)
    for each in held[1:]:
        assert remeasured(calls, lambda each=each: each.run(cache=tmp_path, refine=0))
        assert not remeasured(calls, lambda each=each: each.run(cache=tmp_path, refine=0))


def test_a_release_made_elsewhere_is_known_by_its_content_and_not_by_its_name(
    tmp_path: Path, people: Path, calls: list[Any]
) -> None:
    original = sf.read(people)
    path = tmp_path / "theirs.csv"

    def held(pairing: str = "none") -> Any:
        theirs = Candidate("theirs", release=Release(table=sf.read(path), original=original, pairing=pairing))
        return study(original, candidates=(theirs,), measures=["minimal_distortion"]).run(
            cache=tmp_path / "kept", refine=0
        )

    sf.Mondrian(k=3)(original, ROLES).table.write(path)
    first = held()
    assert not remeasured(calls, held)
    assert remeasured(calls, lambda: held("position"))
    sf.Mondrian(k=9)(original, ROLES).table.write(path)
    second = held()
    assert first.points[0].value(metric("iloss")) != second.points[0].value(metric("iloss"))


def test_two_mechanisms_under_one_text_are_two(tmp_path: Path) -> None:
    """`text` is for people; what was measured belongs to the mechanism."""
    table = memory()
    a, b = (Candidate("mine", sf.Mondrian(k=k)) for k in (3, 12))
    one = study(table, candidates=(a,)).run(cache=tmp_path, refine=0)
    two = study(table, candidates=(b,)).run(cache=tmp_path, refine=0)
    assert one.points[0].value(metric("iloss")) != two.points[0].value(metric("iloss"))


# --- mistakes that must not stick ------------------------------------------------------------------------------------


def test_a_metric_that_cannot_be_read_does_not_spoil_the_candidate_for_the_next_run(tmp_path: Path) -> None:
    """A wrong column in a metric, put right afterwards: what was kept must not say that nothing can be made."""
    table = memory()
    wrong = study(table, *TWO, measures=["t_closeness[equal](nowhere)"])
    with contextlib.suppress(SfumatoError):
        wrong.run(cache=tmp_path, refine=0)
    right = study(table, *TWO, measures=["t_closeness[equal](ill)"])
    assert same(right.run(cache=tmp_path, refine=0), right.run(refine=0))


def test_a_candidate_that_does_not_fit_is_tried_again_and_spoils_nothing(tmp_path: Path) -> None:
    """A mechanism that does not fit the table is a candidate that cannot be made; that is not kept, since another version may."""
    texts = ("mondrian k=3", "generalize_to_levels levels=1")
    for _ in range(2):
        fits, other = study(memory(), *texts).run(cache=tmp_path, refine=0).points
        assert fits.failure is None
        assert "levels" in str(other.failure)


# --- damage and interruptions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe\x00",
        b'{"scores": [], "skipped": {}, "failure": null, "seconds": 1}',
        b'{"scores": {"no_such_metric": {"value": 1, "unit": "", "exactness": "exact", "ci": null, "details": {}}}, '
        b'"skipped": {}, "failure": null, "seconds": 1}',
        b'{"scores": {"iloss": {"value": "x", "unit": "", "exactness": "exact", "ci": null, "details": {}}}, '
        b'"skipped": {}, "failure": null, "seconds": 1}',
        b'{"scores": {"iloss": 0.5}, "skipped": {}, "failure": null, "seconds": 1}',
        b'{"scores": {}, "skipped": null, "failure": null, "seconds": null}',
    ],
)
def test_a_damaged_file_is_made_again(tmp_path: Path, calls: list[Any], content: bytes) -> None:
    held = study(memory(), *TWO)
    first = held.run(cache=tmp_path, refine=0)
    spoiled = files(tmp_path)[0]
    spoiled.write_bytes(content)
    calls.clear()
    assert same(first, held.run(cache=tmp_path, refine=0))
    assert len(calls) == 1
    calls.clear()
    held.run(cache=tmp_path, refine=0)
    assert calls == []


@pytest.mark.full
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, calls: list[Any], workers: int) -> None:
    texts = ("mondrian k=3", "mondrian k=4", "mondrian k=6", "mondrian k=9")
    held = study(memory(), *texts)

    def stop(done: int, name: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        held.run(cache=tmp_path, progress=stop, workers=workers, refine=0)
    left = files(tmp_path)
    assert 1 <= len(left) < 4
    assert not any(path.name.startswith(".") for path in left)
    calls.clear()
    assert same(held.run(cache=tmp_path, refine=0), held.run(refine=0))
    assert len(calls) == 4 - len(left) + 4


def test_an_interruption_while_a_file_is_written_leaves_no_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*args: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.core.kept_files.sealed", stop)
    with pytest.raises(KeyboardInterrupt):
        Kept(tmp_path).put("a", {"x": 1})
    assert files(tmp_path) == []


def test_an_entry_that_was_edited_is_made_again(tmp_path: Path) -> None:
    """Any change of a value breaks the seal, and so does the seal of another user."""
    kept = Kept(tmp_path)
    kept.put("a", {"value": 1.5})
    (file,) = files(tmp_path)
    raw = file.read_bytes()
    assert kept.get("a") == {"value": 1.5}
    for falsified in (raw.replace(b"1.5", b"9.5"), raw[65:], b"0" * 64 + raw[64:], raw + b" ", b""):
        file.write_bytes(falsified)
        assert kept.get("a") is None
        assert kept.remember("a", lambda: {"value": 1.5}) == {"value": 1.5}


# --- what is written -------------------------------------------------------------------------------------------------


def test_only_the_owner_may_read_it_and_no_value_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    study(memory(), *TWO, "mondrian k=500", measures=None).run(cache=folder, refine=0)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    written = files(folder)
    assert len(written) == 3
    for path in written:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        content = path.read_text(encoding="utf-8")
        assert CANARY not in content
        assert "00501" not in content
        assert CANARY not in path.name


def test_a_folder_that_cannot_be_made_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be kept there .*--cache\.$"):
        study(memory(), *TWO).run(cache=tmp_path / "file" / "kept", refine=0)


@pytest.mark.parametrize("value", [0.0, -0.0, 1 / 3, 5e-324, 1e308, math.inf, -math.inf, math.nan, 2.0**53 + 2])
@pytest.mark.parametrize("ci", [None, (0.1, math.inf), (-math.inf, 1 / 3), (math.nan, math.nan)])
def test_a_score_survives_the_round_trip(value: float, ci: tuple[float, float] | None) -> None:
    iloss = metric("iloss")
    made = Score(value, "share", "estimate", ci=ci, details={"a": 1, "b": [0.5, None], "c": "x"})
    text = json.dumps(
        Measurement({"iloss": (iloss, made)}, {"k_anonymity": "why"}, None, 1.5).to_dict(), allow_nan=False
    )
    back = Measurement.of(json.loads(text))
    found = back.scores["iloss"][1]
    assert back.scores["iloss"][0] == iloss
    assert repr((found.value, found.ci)) == repr((value, ci))  # NaN and signs included
    assert (found.unit, found.exactness, found.details) == ("share", "estimate", made.details)
    assert back.skipped == {"k_anonymity": "why"}


def test_details_with_arrays_tuples_and_infinities_become_plain() -> None:
    details = {
        "n": np.int64(3),
        "x": np.array([1.5, math.inf]),
        "t": (1, math.nan),
        4: np.float64(0.5),
        "b": np.bool_(True),
    }
    made = Measurement({"iloss": (metric("iloss"), Score(1.0, "share", details=details))})
    back = json.loads(json.dumps(made.to_dict(), allow_nan=False))["scores"]["iloss"]["details"]
    assert back == {"n": 3, "x": [1.5, None], "t": [1, None], "4": 0.5, "b": True}


def test_an_infinite_score_goes_through_a_study(tmp_path: Path) -> None:
    """entropy_l_diversity of ... aside: whatever is infinite in a real study must be so in the next run."""
    held = study(memory(), "mondrian k=3", measures=None)
    first, second = held.run(cache=tmp_path, refine=0), held.run(cache=tmp_path, refine=0)
    for name, (_, score) in first.points[0].scores.items():
        assert repr(score.value) == repr(second.points[0].scores[name][1].value)


# --- processes -------------------------------------------------------------------------------------------------------


def test_two_workers_say_the_very_same(tmp_path: Path, people: Path) -> None:
    """In memory and from a file, with and without keeping, with a release made elsewhere, by chance, and one that fails."""
    texts = ("mondrian k=3", "mondrian k=5 mode=relaxed", "mondrian k=900", "k_member k=4")
    for table in (memory(), sf.read(people)):
        theirs = Candidate("theirs", release=Release(table=sf.Mondrian(k=7)(table, ROLES).table, original=table))
        held = study(
            table,
            requirements=["k_anonymity >= 3"],
            measures=["t_closeness", "query_error[ranges]", "journalist_risk"],
            candidates=(theirs, *grid(texts)),
            population=table,
        )
        one = held.run(seed=5, refine=0)
        if table.name.endswith(".parquet"):
            assert same(one, held.run(seed=5, workers=2, refine=0))
        else:
            assert same(one, held.run(seed=5, workers=2, cache=tmp_path / "kept", refine=0))
            assert same(one, held.run(seed=5, cache=tmp_path / "kept", refine=0))


def test_a_mistake_in_another_process_is_the_same_sentence(people: Path) -> None:
    held = study(sf.read(people), "generalize_to_levels levels=1", "generalize_to_levels levels=2")
    said = []
    for workers in (1, 2):
        with pytest.raises(InputError) as caught:
            held.run(workers=workers, refine=0)
        said.append(str(caught.value))
    assert "quasi-identifiers" in said[0]
    assert len(set(said)) == 1 or "levels for 2" in said[1]


def test_the_workers_mind_the_folder_that_the_parent_stands_in(
    tmp_path: Path, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative name means what it means here, also to processes that were started elsewhere."""
    study(memory(), *TWO).run(workers=2, refine=0)  # they are there now
    monkeypatch.chdir(tmp_path)
    held = study(sf.read(Path("people.parquet")), *TWO)
    assert same(held.run(refine=0), held.run(workers=2, refine=0))


# --- digests ---------------------------------------------------------------------------------------------------------


def test_a_digest_is_the_same_twice_and_other_for_other_content(tmp_path: Path) -> None:
    missing = pa.table(
        {"a": pa.array([1, None, 3] * 700), "b": pa.array(["x", None, "z"] * 700), "c": [0.5, None, 2.5] * 700}
    )
    assert len({sf.read(missing).digest() for _ in range(5)}) == 1
    tables = [
        pa.table({"a": [1, 2]}),
        pa.table({"a": [1, 3]}),
        pa.table({"b": [1, 2]}),
        pa.table({"a": ["1", "2"]}),
        pa.table({"a": [1, None]}),
        pa.table({"a": [1, 2, 2]}),
        pa.table({"a": ["1", None]}),
        pa.table({"a": ["1", ""]}),
    ]
    assert len({sf.read(t).digest() for t in tables}) == len(tables)


def test_what_is_made_from_a_file_is_not_the_file(people: Path) -> None:
    whole = sf.read(people)
    some = whole.keep(("age", "zip"))
    made = sf.Mondrian(k=5)(whole, ROLES).table
    assert len({whole.digest(), some.digest(), made.digest()}) == 3
    path, options, _ = some.portable()
    assert sf.read(Path(path), **dict(options)).columns == ("age", "zip")


def test_a_portable_table_is_the_same_table(tmp_path: Path, people: Path, rows_of: Any) -> None:
    odd = sf.read(pa.table({'a"b': ["x", None], "__row": [1, 2], "d": pa.array([1.5, None])}))
    csv = tmp_path / "t.csv"
    csv.write_text("q;r\n?;1\nx;2\n")
    for table in (odd, sf.read(people), sf.read(people).keep(("zip",)), sf.read(csv, delimiter=";", missing=["?"])):
        path, options, name = table.portable()
        again = sf.read(Path(path), **dict(options))
        assert name == table.name
        assert again.columns == table.columns
        assert rows_of(again) == rows_of(table)


def test_an_engine_of_a_few_lines_has_a_digest(weighted: Any) -> None:
    one = weighted({"a": ["x", "y"], "b": ["1", "2"]}, [1, 2])
    shuffled = weighted({"a": ["y", "x"], "b": ["2", "1"]}, [2, 1])
    other = weighted({"a": ["x", "y"], "b": ["2", "1"]}, [1, 2])
    assert isinstance(one, Table)
    assert one.digest() == shuffled.digest() != other.digest()


def test_the_original_is_counted_once_for_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """What every candidate asks of the original alike costs one scan."""
    table = memory()
    asked: list[object] = []
    for name in ("scan", "scan_each"):
        real = getattr(type(table), name)

        def scan(self: Table, columns: Sequence[str], *more: int, real: Any = real, name: str = name) -> Any:
            if self is table:
                asked.append((name, tuple(columns)))
            return real(self, columns, *more)

        monkeypatch.setattr(type(table), name, scan)
    names = ("iloss", "query_error[ranges]", "column_distance", "mutual_information", "entropy_utility")
    made = study(table, *(f"mondrian k={k}" for k in (2, 3, 4, 5)), measures=names).run(refine=0)
    assert len(made.made) == 4
    assert asked
    assert max(Counter(asked).values()) == 1, Counter(asked)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_candidate_without_a_column_that_is_asked_about_fails_alone(workers: int) -> None:
    """A synthesis of some columns cannot be asked about the others; the other candidates can."""
    domains = {"zip": "00501|00544|10001", "age": "0:100:10", "ill": "a|b|c"}
    roles = replace(ROLES, domains=domains)
    texts = ("mondrian k=5", "dp_synthesis epsilon=1 columns=zip,ill", "dp_synthesis epsilon=1 columns=zip,age,ill")
    made = study(memory(), *texts, roles=roles, requirements=["distinct_l_diversity >= 1"]).run(
        refine=0, workers=workers
    )
    whole, lacking, without_note = made.points
    assert whole.failure is None
    assert lacking.failure is not None
    assert "without 'age', 'note'" in lacking.failure
    assert without_note.failure is None, "nothing is asked about the note"


def test_a_number_that_json_lacks_comes_back_as_not_a_number() -> None:
    """A decline that cannot be counted is kept as null, and read again as not a number, never as None."""
    again = decoded(MiningWorth, {"original": 0.0, "released": 0.5, "decline": None, "interval": [None, 1.0]})
    assert math.isnan(again.decline)
    assert math.isnan(again.interval[0])
    assert again.interval[1] == 1.0
