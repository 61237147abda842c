"""What must be true of every mechanism, as functions: the registry is run through them, and so are mechanisms made wrong."""

from __future__ import annotations

import dataclasses
import json
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.mechanism import Mechanism
from sfumato.core.randomness import SEEDED
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.publishing import publish, read_published

ROWS = 240
FORMS = (".csv", ".parquet")
PLAIN = {"id": "id", "age": "age", "pay": "pay", "town": "town", "ill": "ill", "note": "note", "house": "house"}
ODD = {
    "id": "the id, really",
    "age": 'a "ge", in years',
    "pay": " pay=1 ",
    "town": "town [x] (y) >= 5",
    "ill": "naïve; ill",
    "note": "select",
    "house": "*",
}
TOWNS = ("Quixotia", "Brobdingnag", "Laputania", "Balnibarbi", "Glubbdubdrib", "Luggnaggia")
ILLS = ("influenza", "bronchitis", "gastritis", "dyspepsia", "migraine", "neuralgia")
NOTES = ("leaflet", "telegram")


# --- cases -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A table with a column of every role and one without any, under some names, with or without missing values.

    `age` and `pay` are numbers, `town` has a taxonomy, `ill` has one too and an order; no two rows share their `id`.
    """

    names: Mapping[str, str] = field(default_factory=lambda: dict(PLAIN))
    gaps: bool = False
    person: bool = False
    """Whether the `id` has the role of a person's number, not of an identifier."""
    seed: int = 7

    def columns(self) -> dict[str, list[Any]]:
        return {name: list(values) for name, values in self._drawn.items()}

    @cached_property
    def _drawn(self) -> dict[str, list[Any]]:
        rng = np.random.default_rng(self.seed)
        age = rng.integers(2, 7, ROWS) * 10 + rng.integers(0, 4, ROWS)
        found: dict[str, list[Any]] = {
            "id": [f"ID-{number:08d}" for number in rng.permutation(10**6)[:ROWS]],
            "house": [f"house {number:06d}" for number in rng.permutation(10**5)[:ROWS]],
            "pay": ((age * 20 + rng.integers(0, 12, ROWS) * 50) / 4).tolist(),
            "age": age.tolist(),
            "town": [TOWNS[i] for i in rng.integers(0, 6, ROWS)],
            "ill": [ILLS[i] for i in (age // 10 + rng.integers(0, 4, ROWS)) % 6],
            "note": [NOTES[i] for i in rng.integers(0, 2, ROWS)],
        }
        if self.gaps:
            for at, name in enumerate(("age", "pay", "town", "ill", "note")):
                for row in range(at, ROWS, 12):  # enough of them for a class of their own
                    found[name][row] = None
        return {self.names[name]: values for name, values in found.items()}

    @property
    def roles(self) -> Roles:
        n = self.names
        towns = Hierarchy.of(n["town"], [(town, f"region {i % 2}", "*") for i, town in enumerate(TOWNS)])
        ills = Hierarchy.of(n["ill"], [(ill, f"kind {i // 2}", "*") for i, ill in enumerate(ILLS)])
        return Roles(
            identifiers=() if self.person else (n["id"],),
            person=n["id"] if self.person else None,
            quasi=(n["age"], n["pay"], n["town"]),
            sensitive=(n["ill"],),
            insensitive=(n["note"],),
            hierarchies={
                n["town"]: towns,
                n["ill"]: ills,
                n["age"]: {"widths": [10, 30, 60]},
                n["pay"]: {"widths": [100, 500]},
            },
            orders={n["ill"]: ILLS},
        )

    def data(self, order: Sequence[int] | None = None) -> pa.Table:
        table = pa.table(self.columns())
        return table if order is None else table.take(pa.array(order, pa.int64()))

    def table(self, order: Sequence[int] | None = None) -> Table:
        return sf.read(self.data(order))

    @cached_property
    def secrets(self) -> set[str]:
        """Texts that no release may hold: of the identifiers, and of the column without a role."""
        columns = self.columns()
        return {*columns[self.names["id"]], *columns[self.names["house"]]}

    @property
    def values(self) -> set[str]:
        """Texts that no message may hold."""
        return {*self.secrets, *TOWNS, *ILLS, *NOTES}

    @property
    def released(self) -> set[str]:
        return {self.names[name] for name in ("age", "pay", "town", "ill", "note")}


@dataclass(frozen=True)
class Setting:
    """How a mechanism is run here: its parameters as texts, and others with which it must refuse.

    `{age}` stands for the name of that column as a list of columns spells it, `{bare_age}` for the name itself.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[Mapping[str, str], ...] = ()
    """Parameters that are refused, by the constructor or for this table; each instead of or beside `texts`."""
    roles: Callable[[Roles, Mapping[str, str]], Roles] = lambda roles, names: roles
    columns: Callable[[Mapping[str, str]], Mapping[str, list[Any]]] = lambda names: {}
    """Columns that the table has besides, or instead of those of these names."""
    empty: bool = False
    """Whether a table without rows is something it can answer for."""

    def spelled(self, names: Mapping[str, str], texts: Mapping[str, str] | None = None) -> dict[str, str]:
        def quoted(name: str) -> str:
            odd = set(name) & set(',="|') or name != name.strip()
            return '"' + name.replace('"', '""') + '"' if odd else name

        known = {**{k: quoted(v) for k, v in names.items()}, **{f"bare_{k}": v for k, v in names.items()}}
        return {key: text.format(**known) for key, text in {**self.texts, **(texts or {})}.items()}


@dataclass(frozen=True)
class Run:
    """One release of one mechanism, and the files it was published as."""

    release: Release
    files: dict[str, bytes]


@dataclass(frozen=True)
class Subject:
    """A mechanism and how it is run."""

    kind: type[Mechanism]
    setting: Setting

    def made(self, case: Case, texts: Mapping[str, str] | None = None) -> Mechanism:
        return self.kind.of(self.setting.spelled(case.names, texts))

    def roles(self, case: Case) -> Roles:
        return self.setting.roles(case.roles, case.names)

    def table(self, case: Case, order: Sequence[int] | None = None) -> Table:
        data = case.data()
        for name, values in self.setting.columns(case.names).items():
            own = [name] if name in data.column_names else []
            data = data.drop_columns(own).append_column(name, pa.array(values))
        return sf.read(data if order is None else data.take(pa.array(order, pa.int64())))

    def run(
        self, case: Case, folder: Path, *, seed: int | None = 1, form: str = ".csv", order: Sequence[int] | None = None
    ) -> Run:
        """Sanitize and publish into a new folder, with every promise measured from the file."""
        made, roles = self.made(case), self.roles(case)
        rng = None if seed is None else np.random.default_rng(seed)
        told: list[float] = []
        release = made(self.table(case, order), roles, rng, progress=told.append)
        assert all(0 <= share <= 1 for share in told), "progress is told from 0 to 1"
        place = folder / f"run{len(list(folder.iterdir()))}"
        place.mkdir()
        clear = set(release.table.columns) - release.perturbed if release.neighbours is not None else ()
        publish(release, roles, made.promises, place / f"out{form}", waive=dict.fromkeys(clear, "it is tried"))
        return Run(release, {file.name: file.read_bytes() for file in sorted(place.iterdir())})

    def first(self, case: Case, folder: Path, form: str = ".csv") -> Run:
        """The run that the checks of a case look at: made once, however many of them do."""
        key = (self.kind, repr((self.setting.texts, case)), form)
        if key not in _first:
            _first[key] = self.run(case, folder, form=form)
        return _first[key]


_first: dict[tuple[type[Mechanism], str, str], Run] = {}


# --- checks ----------------------------------------------------------------------------------------------------------


def check_card(kind: type[Mechanism], name: str) -> None:
    card = kind.card
    assert card.name == name, "a mechanism has the name of its file"
    for text in (card.title, card.promise, card.against, card.cost, card.source, *card.parameters.values()):
        assert isinstance(text, str)
        assert text.strip(), card
        assert not re.search(r"\banonym(?:ous|ized|ised)\b|\bsafe", text, re.IGNORECASE), text
        assert "  " not in text, text
    assert re.search(r"(19|20)\d\d", card.source), "a source has a year"
    assert dataclasses.is_dataclass(kind), "a mechanism is a dataclass"
    assert kind.__dataclass_params__.frozen, "a mechanism is frozen"  # type: ignore[attr-defined]
    fields = {f.name for f in dataclasses.fields(kind)} - {"require", "population"}
    assert set(card.parameters) == fields, "a line for every parameter"


def check_settings(subject: Subject, case: Case) -> None:
    """What made a release can be written down and read back; what cannot be read is refused."""
    made = subject.made(case)
    told = made.settings()
    json.dumps(told)
    again = subject.kind.of({key: str(value) for key, value in told.items() if key != "require"})
    assert again == made, f"{told} do not make it again"
    with pytest.raises(SfumatoError):
        subject.made(case, {"no such parameter": "1"})
    hints = typing.get_type_hints(subject.kind)
    for f in dataclasses.fields(subject.kind):  # type: ignore[arg-type]
        options = {hints[f.name], *typing.get_args(hints[f.name])}
        choice = typing.get_origin(hints[f.name]) is typing.Literal
        if choice or (options & {int, float, bool} and str not in options):
            with pytest.raises(SfumatoError):
                subject.made(case, {f.name: "nonsense"})


def check_columns(subject: Subject, case: Case, folder: Path, form: str) -> None:
    """Only columns with a role that may be released, and nothing of the others under any name."""
    run = subject.first(case, folder, form)
    taken = subject.table(case).columns
    for table in (run.release.table, *run.release.companions.values()):
        for name in table.columns:
            assert name not in taken or name in case.released, f"column {name!r} is released"
            counts = table.count((name,))
            found = case.secrets & {text for text in counts.columns[0].texts if text is not None}
            assert not found, f"column {name!r} holds {len(found)} values that must stay in"
    if form == ".csv":
        for name, content in run.files.items():
            text = content.decode("utf-8")
            assert not any(secret in text for secret in case.secrets), f"{name} holds what must stay in"
    expected = {f"out{form}", *(f"out.{name}{form}" for name in run.release.companions)}
    assert set(run.files) == expected, "the release, its companions, and nothing else"


def check_seed(subject: Subject, case: Case, folder: Path, form: str) -> None:
    """A seed repeats every byte and is owned up to; where it is, another seed makes another release."""
    one, same = subject.first(case, folder, form), subject.run(case, folder, form=form)
    assert one.files == same.files, "the same seed made other bytes"
    assert one.release.notes == same.release.notes
    chance = subject.kind.card.chance  # by this a seeded release is refused where it would leave the house
    assert chance != ("none" if SEEDED in one.release.notes else "always"), "the card says otherwise of its draws"
    if SEEDED in one.release.notes:
        others = (subject.run(case, folder, seed=seed, form=form) for seed in (4, 5, 6))
        assert any(other.files != one.files for other in others), "other seeds made the same bytes"
        free = subject.run(case, folder, seed=None, form=form)
        again = (subject.run(case, folder, seed=None, form=form) for _ in range(40))  # the first differs, or nearly so
        assert any(each.files != free.files for each in again), "without a seed it is not left to chance"
    else:
        assert subject.run(case, folder, seed=4, form=form).files == one.files, "the seed mattered, and it is not said"
        free = subject.run(case, folder, seed=None, form=form)
        assert free.files == one.files, "it is left to chance, and that is not said of a seeded release"
    assert SEEDED not in free.release.notes


def check_row_order(subject: Subject, case: Case, folder: Path) -> None:
    """The rows of the input in another order, and the same bytes come out."""
    before = subject.first(case, folder)
    turned = np.random.default_rng(9).permutation(ROWS).tolist()
    for order in (turned, list(range(ROWS))[::-1]):
        assert subject.run(case, folder, order=order).files == before.files, "the order of the input shows"


def check_input(subject: Subject, case: Case, folder: Path, form: str) -> None:
    """The file that is read stays what it is, and nothing appears beside it; what is counted of its rows stays, too."""
    path, roles = folder / f"input{form}", subject.roles(case)
    subject.table(case).write(path)
    before = path.read_bytes(), path.stat().st_mtime_ns
    table, fresh = sf.read(path), sf.read(path)
    subject.made(case)(table, roles, np.random.default_rng(1))
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before, "the input was changed"
    assert [file.name for file in folder.iterdir()] == [path.name], "something was written beside the input"
    for by in (table.columns, *((name,) for name in table.columns)):
        one, other = table.count(by), fresh.count(by)
        assert all(map(np.array_equal, (*one.codes, one.n), (*other.codes, other.n))), "it now has other rows"


def check_promises(subject: Subject, case: Case, folder: Path, form: str) -> None:
    """What is promised is what the file holds, by the metrics, which know nothing of the mechanism."""
    made, roles = subject.made(case), subject.roles(case)
    run = subject.first(case, folder, form)  # publish measures every promise, pairs included
    assert run.release.made_by == made.card.name
    assert run.release.parameters == made.settings()
    path = folder / f"out{form}"
    path.write_bytes(run.files[path.name])
    again = read_published(path)
    assert again.columns == run.release.table.columns
    for promise in made.promises:
        paired = "pairs" in promise.metric.card.needs or promise.metric.card.name == "personalized_breach"
        if paired or run.release.joined_by is not None:
            continue  # the file alone does not tell; publish has measured it
        told = sf.verify(again, roles, [promise], original=subject.table(case), perturbed=run.release.perturbed)
        assert told.met, told.reasons
    for note in run.release.notes:
        assert re.search(r"[.?!]$", note), f"not a sentence: {note!r}"
        assert not any(secret in note for secret in case.secrets)


def check_shape(subject: Subject, case: Case, folder: Path) -> None:
    """Names come out as they went in, each once, and rows or statistics are there."""
    run = subject.first(case, folder)
    assert len(set(run.release.table.columns)) == len(run.release.table.columns)
    assert run.release.table.rows > 0, "an empty release"
    if not run.release.statistics:
        assert set(run.release.table.columns) & case.released
    assert run.release.perturbed <= set(run.release.table.columns)


def bad_inputs(subject: Subject, case: Case) -> Iterator[tuple[str, Callable[[], Release]]]:
    """Calls that no mechanism can answer."""
    roles, n = subject.roles(case), case.names
    table = subject.table(case)
    gone = dataclasses.replace(roles, insensitive=(*roles.insensitive, "no such column"))
    yield "a role of a column that is not there", lambda: subject.made(case)(table, gone)
    nothing = Roles(identifiers=(n["id"],))
    yield "no column that may be released", lambda: subject.made(case)(table, nothing)
    if not subject.setting.empty:
        yield "no rows", lambda: subject.made(case)(subject.table(case, []), roles)
    for texts in subject.setting.refused:
        yield f"{dict(texts)}", lambda texts=texts: subject.made(case, texts)(table, roles)  # type: ignore[misc]


def check_refusals(subject: Subject, case: Case, folder: Path) -> None:
    """What cannot be done is refused by a sentence without any value of the table, and leaves nothing behind."""
    for what, call in bad_inputs(subject, case):
        made = subject.kind.card.name
        try:
            publish(call(), subject.roles(case), (), folder / "out.csv")
        except SfumatoError as refusal:
            text = str(refusal)
        else:
            pytest.fail(f"{made} accepts {what}")
        assert re.search(r"[.?]$", text), f"not a sentence: {text!r}"
        assert "\n" not in text, f"not one line: {text!r}"
        assert not any(value in text for value in case.values), f"{made}, {what}: a value of the table is in {text!r}"
        assert list(folder.iterdir()) == [], f"{made}, {what}: something was written"
