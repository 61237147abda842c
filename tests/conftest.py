"""What the tests share: small tables, releases, the data beside the checkout, and what a clear refusal is."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings

import selection
import sfumato as sf
from house import ADULT_QUASI
from sfumato.core.arrow import strings
from sfumato.core.column import encode, text_of
from sfumato.core.counts import Counts
from sfumato.core.errors import SfumatoError
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Recoding, Table

# A run that a shell started in the background ignores interruptions, and so would all that it starts; here they are heeded as in a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The key that seals what is kept between runs is the tests' own, not the developer's.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="pytest-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# The same examples on every machine and in every run: a red test is a bug, never bad luck.
settings.register_profile("house", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("house")

SHARED = Path(__file__).resolve().parents[2] / "shared"
CANARY = "Quixotic7741"
"""A value that stands in tables which cannot be read; it must not stand in any message."""

HEEDED = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

LONGEST = ("test_docs.py", "test_cli_faults.py")

Rows = list[tuple[tuple[str | None, ...], int]]


# --- the quick suite and the full one --------------------------------------------------------------------------------

BUDGET = 400
"""CPU seconds that the quick suite may take: two cores that do nothing else are through in less than five minutes."""
LEFT_OUT, SPENT = pytest.StashKey[int](), pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="every seed and combination, and what is marked `full`")


def pytest_configure(config: pytest.Config) -> None:
    selection.everything = config.option.full or any("::" in name for name in config.args)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The quick suite unless all is asked for, or tests by name; the longest first, so that no core waits for them at the end."""
    if not selection.everything:
        kept = selection.quick(items)
        config.stash[LEFT_OUT] = len(items) - len(kept)
        items[:] = kept
    items.sort(key=lambda item: item.path.name not in LONGEST)


def _cpu_seconds() -> float:
    """Of this process and of those it waited for."""
    return sum(os.times()[:4])


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # on a core of its own: told to the process that prints
        session.config.workeroutput["left out"] = session.config.stash.get(LEFT_OUT, 0)
        session.config.workeroutput["spent"] = _cpu_seconds()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    output, stash = getattr(node, "workeroutput", {}), node.config.stash
    stash[LEFT_OUT] = output.get("left out", 0)
    stash[SPENT] = stash.get(SPENT, 0.0) + output.get("spent", 0.0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    spent = time.process_time() + config.stash[SPENT] if SPENT in config.stash else _cpu_seconds()
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"The quick suite left out {left_out:,} cases (more seeds and combinations, processes, documents); "
            f"`./run test --full` runs them. It took {spent:,.0f} CPU seconds of a budget of {BUDGET}"
            + (": `--durations=40` lists what to make quicker." if spent > BUDGET else ".")
        )


@pytest.fixture(scope="session", autouse=True)
def few_quick_miners() -> None:
    """In the quick suite the quick look of every study grows no forest: of its kinds, the guess, one of counts and a tree are left."""
    if not selection.everything:
        from sfumato.mining import miners

        assert isinstance(miners.QUICK, dict)
        miners.QUICK |= {"classes": ("zero_rule", "naive_bayes", "tree"), "numbers": ("zero_rule", "linear", "tree")}


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """A test that leaves a signal ignored makes those after it in its process wait for an interruption that never comes."""
    yield
    left = {number.name: now for number in HEEDED if (now := signal.getsignal(number)) is not HEEDED[number]}
    for number, handler in HEEDED.items():
        signal.signal(number, handler)
    assert not left, f"the test left {left} as what is done at a signal"


# --- data beside the checkout ----------------------------------------------------------------------------------------


def _beside(*parts: str) -> Path:
    path = SHARED.joinpath(*parts)
    if not path.is_file():
        pytest.skip(f"needs {'/'.join(('../shared', *parts))}, which is not beside this checkout")
    return path


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """The values verified from the papers."""
    return dict(json.loads(_beside("spec", "golden.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def adult() -> Table:
    """Adult: 30,162 rows, nine columns."""
    return sf.read(_beside("data", "adult", "adult_30162.csv"))


@pytest.fixture(scope="session")
def adult_roles() -> Roles:
    """Adult's hierarchies on eight columns."""
    ways: dict[str, Any] = {name: f"hierarchy_{name}.csv" for name in ADULT_QUASI}
    folder = {_beside("data", "adult", file).parent for file in ways.values()}.pop()
    return Roles(quasi=ADULT_QUASI, sensitive=("occupation",), hierarchies=ways, folder=folder)


@pytest.fixture(scope="session")
def ot() -> Any:
    with warnings.catch_warnings():  # its own source warns while it is compiled
        warnings.simplefilter("ignore")
        import ot

    return ot


# --- tables and releases ---------------------------------------------------------------------------------------------


def _table(columns: Mapping[str, Any]) -> Table:
    return sf.read(pa.table(dict(columns)))


@pytest.fixture(scope="session")
def table() -> Callable[[Mapping[str, Any]], Table]:
    """A table in memory from its columns."""
    return _table


@pytest.fixture(scope="session")
def release() -> Callable[..., Release]:
    """A release from the columns of what is published and, if given, of the original and of the population."""

    def make(
        columns: Mapping[str, Any],
        original: Mapping[str, Any] | None = None,
        population: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Release:
        return Release(
            table=_table(columns),
            original=None if original is None else _table(original),
            population=None if population is None else _table(population),
            **more,
        )

    return make


@pytest.fixture(scope="session")
def rows_of() -> Callable[..., Rows]:
    """All distinct rows of a table with their counts, as texts, in a fixed order."""

    def rows(table: Table, columns: Sequence[str] | None = None) -> Rows:
        counts = table.scan(columns or table.columns)  # what the engine says now, not what was said before
        found = [
            (tuple(column.texts[codes[i]] for column, codes in zip(counts.columns, counts.codes, strict=True)), int(n))
            for i, n in enumerate(counts.n)
        ]
        return sorted(found, key=lambda row: [(text is None, text or "") for text in row[0]])

    return rows


class WeightedTable(Table):
    """An engine of a few lines: rows with weights, in the order given and equal ones not merged beforehand.

    What is measured on it can only come through `scan`, so a metric that looks elsewhere shows itself.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], n: Iterable[int]) -> None:
        self.data = {name: [text_of(value) for value in values] for name, values in columns.items()}
        self.n = np.array(list(n), dtype=np.int64)
        self.name, self.columns, self.notes = "weighted rows", tuple(columns), ()

    def scan(self, by: Sequence[str]) -> Counts:
        encoded = [encode(name, strings(self.data[name])) for name in by]
        if not by:
            return Counts((), (), np.array([self.n.sum()]))
        return Counts.of([column for column, _ in encoded], [codes for _, codes in encoded], self.n)

    def recode(self, recoding: Recoding) -> Table:
        raise NotImplementedError

    def keep(self, columns: Sequence[str]) -> Table:
        raise NotImplementedError

    def write(self, path: Path) -> None:
        raise NotImplementedError


@pytest.fixture(scope="session")
def weighted() -> type[WeightedTable]:
    return WeightedTable


# --- refusals --------------------------------------------------------------------------------------------------------


def _clear(text: str) -> None:
    assert re.search(r"[.?]$", text), f"not a sentence: {text!r}"
    assert "\n" not in text, f"not one line: {text!r}"
    assert CANARY not in text, f"holds a value of the table: {text!r}"


@pytest.fixture(scope="session")
def refusal() -> Callable[..., str]:
    """Call something that must be refused: the kind of error, a sentence without any value, naming what it should."""

    def refused(kind: type[SfumatoError], call: Callable[[], object], *names: object) -> str:
        with pytest.raises(SfumatoError) as caught:
            call()
        assert caught.type is kind, f"{caught.type.__name__} where {kind.__name__} was due: {caught.value}"
        text = str(caught.value)
        _clear(text)
        for name in names:
            assert str(name) in text, f"does not name {name}: {text!r}"
        return text

    return refused


@pytest.fixture(scope="session")
def canary() -> str:
    return CANARY
