"""No object of ours prints a value of the data, however it is printed.

Every class in the package is looked up, so that one added later is tested before its own test is written: with values planted in
each of its fields, and whenever a run over every mechanism, metric, attack and study makes one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import io
import logging
import pickle
import pkgutil
import pprint
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import mechanism_checks as checks
import numpy as np
import pyarrow as pa
import pytest
from mechanism_checks import Case
from test_conformance_mechanisms import NAMES, subject_of

import sfumato as sf
from sfumato.core.database_address import DatabaseAddress
from sfumato.core.errors import SfumatoError
from sfumato.core.noun import dataclass, short
from sfumato.core.release import Release
from sfumato.core.spark_address import SparkAddress
from sfumato.engines.postgres import PostgresTable
from sfumato.engines.spark import SparkTable

MARK, NUMBER = "Quixotic7741", 7040137
PLANTED: dict[str, Any] = {
    "text": MARK,
    "number": NUMBER,
    "real": NUMBER + 0.25,
    "list": [MARK, NUMBER],
    "tuple": (MARK, NUMBER),
    "mapping": {MARK: NUMBER},
    "array": np.array([NUMBER, NUMBER]),
    "objects": np.array([MARK, None], dtype=object),
    "arrow": pa.array([MARK]),
    "table": pa.table({MARK: [NUMBER]}),
    "set": frozenset({MARK}),
    "error": ValueError(MARK),
    "function": {MARK: NUMBER}.get,
}


def modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(sf.__path__, "sfumato.")
    return [importlib.import_module(info.name) for info in found if info.name != "sfumato.__main__"]


CLASSES = sorted(
    {
        kind
        for module in modules()
        for kind in vars(module).values()
        if inspect.isclass(kind) and kind.__module__ == module.__name__
    },
    key=lambda kind: (kind.__module__, kind.__qualname__),
)
NOUNS = [kind for kind in CLASSES if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")]
OWN_WORDS = {kind for kind in NOUNS if hasattr(kind, "_about") or kind.__str__ is not object.__str__}


def ways(noun: Any) -> Iterator[str]:
    """An object in every way that a notebook, a log and a debugger print it."""
    yield from (repr(noun), str(noun), f"{noun}", f"{noun!r}", pprint.pformat([noun]))
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.handle(logging.LogRecord("sfumato", logging.INFO, "", 0, "%s %r", (noun, [noun]), None))
    yield stream.getvalue()
    if hasattr(noun, "_repr_html_"):
        yield noun._repr_html_()


def pickled(noun: Any) -> str:
    """What is said where it cannot be handed to another process."""
    try:
        pickle.dumps(noun)
    except Exception as error:
        return "".join(traceback.format_exception(error)) + repr(error.args)
    return ""


def test_every_dataclass_prints_itself_by_the_house() -> None:
    others = [k for k in NOUNS if k.__repr__ is not short and "__repr__" not in vars(k)]
    made = [
        k
        for k in NOUNS
        if "__create_fn__" in getattr(k.__repr__, "__qualname__", "") or hasattr(k.__repr__, "__wrapped__")
    ]
    assert not others + made, "import dataclass from core.noun; a NamedTuple has __repr__ = short"
    assert len(NOUNS) > 250


@pytest.mark.parametrize(
    "kind", [k for k in NOUNS if k not in OWN_WORDS and not inspect.isabstract(k)], ids=lambda kind: kind.__qualname__
)
def test_planted_fields_are_not_printed(kind: type) -> None:
    names = [f.name for f in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else list(kind._fields)  # type: ignore[attr-defined]
    shown = getattr(kind, "shows", ())
    for planted in PLANTED.values():
        if dataclasses.is_dataclass(kind):
            noun = object.__new__(kind)
            for name in names:
                object.__setattr__(noun, name, 1 if name in shown else planted)
        else:
            noun = kind(*(planted for _ in names))
        for text in ways(noun):
            assert MARK not in text
            assert str(NUMBER) not in text
            assert "7,040,137" not in text


# --- the walk --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Walk:
    """What was made on the way, by class; and every text that it printed or that went wrong."""

    made: dict[type, int] = dataclasses.field(default_factory=dict)
    texts: dict[str, str] = dataclasses.field(default_factory=dict)
    failures: dict[str, str] = dataclasses.field(default_factory=dict)

    def look(self, noun: Any) -> None:
        kind = type(noun)
        self.made[kind] = self.made.get(kind, 0) + 1
        if self.made[kind] <= 40:
            for text in ways(noun):
                self.texts.setdefault(text, kind.__qualname__)
        if self.made[kind] <= 3:
            self.texts.setdefault(pickled(noun), f"pickling {kind.__qualname__}")

    def step(self, name: str, work: Callable[[], Any]) -> Any:
        """Do it; an error of ours is a text to look at, any other is a failure."""
        try:
            return work()
        except SfumatoError as error:
            said = "".join(traceback.format_exception(error)) + repr(error.args) + repr(error)
            self.texts.setdefault(said, f"error of {name}")
        except Exception as error:
            self.failures[name] = "".join(traceback.format_exception(error))
        return None


@contextlib.contextmanager
def watched(walk: Walk) -> Iterator[None]:
    """Look at every instance of every dataclass when it is made, the inner ones of a mechanism included."""
    kept = {kind: kind.__init__ for kind in NOUNS if dataclasses.is_dataclass(kind)}  # type: ignore[misc]
    deep = [0]

    def wrap(kind: type, init: Callable[..., None]) -> Callable[..., None]:
        def looked(self: Any, *args: Any, **named: Any) -> None:
            deep[0] += 1
            try:
                init(self, *args, **named)
            finally:
                deep[0] -= 1
            if type(self) is kind:
                walk.look(self)

        return looked

    for kind, init in kept.items():
        kind.__init__ = wrap(kind, init)  # type: ignore[misc]
    try:
        yield
    finally:
        for kind, init in kept.items():
            kind.__init__ = init  # type: ignore[misc]


def attacks_of(
    release: Release, roles: sf.Roles, other: Release, table: Any
) -> Iterator[tuple[str, Callable[[], Any]]]:
    from sfumato.attacks import registry

    more: dict[str, list[dict[str, Any]]] = {
        "membership": [{"population": table, "identity": "id"}],
        "composition": [{"previous": other, "identity": "id"}],
        "minimality": [{"mechanism": sf.Mondrian(k=4), "runs": 3}],
        "linkability": [{"first": ("age",), "second": ("pay", "town"), "attacks": 20}],
        "inference": [{"sensitive": "ill", "attacks": 20}],
        "singling_out": [{"attacks": 20}],
        "background": [{"k": 1}, {"k": 1, "knowledge": "negations"}],
        "linkage": [{}, {"how": "distance"}, {"external": table, "identity": "id"}],
    }
    for name, attack in registry().items():
        for given in more.get(name, [{}]):
            yield f"attack {name}", lambda play=attack.set(), given=given: play(release, roles, **given)


def everything(walk: Walk, folder: Path) -> None:
    """A run over every mechanism, metric, attack, search, study, channel and miner, on one table."""
    case, gaps = Case(), Case(gaps=True)
    table, roles = case.table(), case.roles
    address = DatabaseAddress.of("postgresql://host/house?table=people")
    walk.step("a server's table", lambda: PostgresTable("house.people", ("age",), f"SELECT '{MARK}' AS c0", (), session=None, opened=address))  # type: ignore[arg-type]  # fmt: skip
    lake = SparkAddress.of("spark://host:15002/?parquet=/lake/people")
    walk.step("a table behind Spark", lambda: SparkTable("people", ("age",), f"SELECT '{MARK}' AS c0", (), session=None, opened=lake))  # fmt: skip
    walk.step("roles file", lambda: sf.Roles.of({"roles": {"quasi": ["age"]}}))
    releases = {}
    for name in NAMES:
        subject = subject_of(name)
        run = walk.step(name, lambda subject=subject: subject.run(gaps, folder))
        for refused in subject.setting.refused:
            walk.step(f"{name} refused", lambda s=subject, r=refused: s.made(case, r)(s.table(case), s.roles(case)))
        if run is not None:
            releases[name] = run.release
    releases |= {f"mondrian {m}": sf.Mondrian(k=4, mode=m)(table, roles) for m in ("strict", "relaxed")}
    walk.step("a chain", lambda: (sf.TopBottomCoding(top_share=0.1) | sf.Mondrian(k=4))(table, roles))
    for name, release in releases.items():
        for metric in sf.registry().values():
            if name in ("mondrian strict", "anatomy", "additive_noise", "personalize"):
                for variant in metric.variants():
                    walk.step(f"{metric} of {name}", lambda m=variant, r=release: m(r, roles))
    release, other = releases["mondrian strict"], releases["mondrian relaxed"]
    for name, play in attacks_of(release, roles, other, table):
        walk.step(name, play)
    require = (sf.require("k_anonymity >= 4"), sf.require("t_closeness[equal] <= 0.6"))
    walk.step("profile", lambda: sf.profile(table))
    walk.step("raw risk", lambda: sf.raw_risk(table, roles))
    walk.step("search", lambda: sf.optimal_generalization(table, roles, require=require[:1], suppression=0.1))
    walk.step("cuts", lambda: sf.optimal_cuts(table, roles, "age", require=require[:1]))
    walk.step("choose", lambda: sf.qid_choice(table, roles, require=require[:1]))
    walk.step(
        "frontier", lambda: sf.policy_frontier(table, roles, policies={"coarse": {"age": 1, "pay": 1, "town": 1}})
    )
    walk.step("explore", lambda: sf.explore(table, roles, require=require[:1]).at({"age": 1}))

    def registered() -> None:
        waive = {finding.column: "made up" for finding in sf.free_of_table(table, roles).findings}
        register = sf.Register(folder / "register.sqlite")
        for made, name in ((release, "one.csv"), (other, "two.csv")):
            sf.publish(made, roles, require[:1], folder / name, register=register, waive=waive)
        walk.texts |= {repr(register): "a register", **{entry.sentence: "an entry" for entry in register.entries}}
        walk.texts |= {together.sentence: "both together" for _, together in register.pairs()}

    walk.step("register", registered)
    walk.step("versus", lambda: sf.versus(release, other, roles, everything=True))
    walk.step("subgroups", lambda: sf.subgroups(release, roles))
    walk.step(
        "audit",
        lambda: sf.audit(
            release,
            roles,
            rules=["age > 60 and town = 'X'"],
            aggregates=["mean age"],
            totals=[{"parts": ["age"], "total": "pay"}],
        ),
    )
    walk.step("channel", lambda: sf.worst_prior(sf.record_channel(release, roles).channel))
    walk.step("channel of a person", lambda: sf.person_channel(release, roles))

    def mined() -> Any:
        good, bad = sf.Good(field="ill", miners=["naive_bayes"]), sf.Bad(field="age", miners=["naive_bayes"])
        return sf.mine(release, roles, sf.Scenario(good=good, bad=bad, folds=2), workers=1)

    walk.step("mine", mined)

    def studied() -> Any:
        from sfumato.report.documents import write_all
        from sfumato.study.study import grid

        candidates = grid(["mondrian k=4", "mondrian k=9", "generalize_full_domain k=4"])
        context = sf.Context(to="agreement")
        result = sf.Study(table, roles, candidates, require=require, context=context).run(refine=0)
        sf.advice(result)
        write_all(result, folder / "documents", formats=("md",))
        sf.write_package(result, folder / "package")

    walk.step("study", studied)
    for name, work in broken(case):
        walk.step(name, work)


def broken(case: Case) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Data that cannot be used as asked: what is said must not quote it."""
    data, roles = case.data(), case.roles
    texts = data.set_column(
        data.schema.get_field_index("age"), "age", pa.array([f"{MARK}{i % 9}" for i in range(checks.ROWS)])
    )
    mixed = data.set_column(data.schema.get_field_index("age"), "age", pa.array(["7"] * (checks.ROWS - 1) + [MARK]))
    for kind, rows in (("texts", texts), ("mixed", mixed)):
        table = sf.read(rows)
        for name in NAMES:
            subject = subject_of(name)
            if not subject.setting.columns(case.names):
                yield (
                    f"{name} on {kind}",
                    lambda s=subject, t=table: s.made(case)(t, s.roles(case), np.random.default_rng(1)),
                )
        for metric in sf.registry().values():
            for variant in metric.variants():
                yield (
                    f"{metric} on {kind}",
                    lambda m=variant, t=table: m(Release(table=t, original=t, pairing="position"), roles),
                )
    other = dataclasses.replace(
        roles, orders={"ill": ("a", "b")}, hierarchies={"town": sf.Hierarchy.of("town", [("a", "*")])}
    )
    yield "a hierarchy that lacks values", lambda: sf.Mondrian(k=4)(case.table(), other)
    yield "an order that lacks values", lambda: sf.metric("t_closeness[ordered]")(Release(table=case.table()), other)
    yield (
        "an expression that fails",
        lambda: sf.audit(
            Release(table=case.table(), original=case.table(), pairing="position"), roles, rules=["town + 1 > 5"]
        ),
    )


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    found = Walk()
    with warnings.catch_warnings(record=True) as warned, watched(found):
        warnings.simplefilter("always")
        everything(found, tmp_path_factory.mktemp("walk"))
    found.texts |= {str(each.message): f"warning in {each.filename}" for each in warned}
    return found


def test_nothing_that_was_made_prints_a_value(walk: Walk) -> None:
    values = {*Case().values, MARK}
    for text, where in walk.texts.items():
        shown = [value for value in values if value in text]
        assert not shown, f"{where} prints {shown}: {text[-2000:]}"


def test_nothing_failed_with_an_error_that_is_not_ours(walk: Walk) -> None:
    assert not walk.failures, "\n".join(f"{name}: {text}" for name, text in walk.failures.items())


def test_what_has_words_of_its_own_was_made(walk: Walk) -> None:
    """A class that does not print itself by sizes alone must be in the walk, or its words were never looked at."""
    own = {k for k in OWN_WORDS if not inspect.isabstract(k)} - set(walk.made)
    assert not own, sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in own)


def test_the_walk_finds_what_prints_a_value() -> None:
    """A class made the usual way, and one with careless words, are both found out."""

    @dataclasses.dataclass
    class Usual:
        value: str

    @dataclass
    class Careless:
        value: str

        def _about(self) -> list[str]:
            return [self.value]

    @dataclass
    class Kept:
        value: str
        values: tuple[str, ...]

    assert MARK in repr(Usual(MARK))
    assert MARK in repr(Careless(MARK))
    assert repr(Kept(MARK, (MARK, MARK))) == "Kept(values: 2)"
