"""Every registered mechanism through every check; and mechanisms made wrong, which must not get through.

A new mechanism needs one line in SETTINGS, and is then tested before its own test is written.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import mechanism_checks as checks
import numpy as np
import pytest
from mechanism_checks import Case, Setting, Subject

import sfumato as sf
from selection import few
from sfumato import mechanisms
from sfumato.core.errors import Infeasible, InputError, NotMet
from sfumato.core.mechanism import Mechanism, MechanismCard
from sfumato.core.metric import Requirement
from sfumato.core.randomness import SEEDED
from sfumato.core.release import Release
from sfumato.mechanisms.microdata.rows import Rows

DOMAINS = (
    "{age}=20:70:10,{pay}=0:600:100,{town}="
    + "|".join(checks.TOWNS)
    + ",{ill}="
    + "|".join(checks.ILLS)
    + ",{note}=leaflet|telegram"
)
WHOLE_DOMAINS = DOMAINS.replace("20:70:10", "20:70").replace("0:600:100", "0:600:2.5")
MANY = {"k": "100000"}
GUARDS = (None, "kind 0", None, checks.ILLS[3], None)
NO_EPSILON = ({"epsilon": "0"}, {"epsilon": "inf"})
SETTINGS: dict[str, Setting] = {
    "additive_noise": Setting(
        {"scale": "0.5", "correlated": "true"}, ({"scale": "0"}, {"columns": "{town}"}, {"columns": "{id}"})
    ),
    "alpha_beta": Setting(
        {"domains": WHOLE_DOMAINS, "gamma": "0.2", "d": "0.01", "missing": "true"}, ({"gamma": "2"}, {"gamma": "0.001"})
    ),
    "anatomy": Setting({"l": "3"}, ({"l": "7"}, {"l": "1"})),
    "cell_key": Setting(
        {"columns": "{town},{ill}", "ways": "1"},
        (
            {"columns": ""},
            {"columns": "{id}"},
            {"variance": "0"},
            {"ways": "3"},
            {"variance": "99"},
            {"key": "abc"},
            {"gap": "-1"},
        ),
    ),
    "cut_points": Setting(
        {"column": "{bare_age}", "k": "5"}, (MANY, {"column": "{bare_town}"}, {"column": "{bare_id}"})
    ),
    "dp_choice": Setting(
        {"column": "{bare_ill}", "candidates": "|".join(checks.ILLS), "epsilon": "0.1"},
        (*NO_EPSILON, {"column": "{bare_id}"}),
        empty=True,
    ),
    "dp_marginals": Setting(
        {"columns": "{town},{ill}", "domains": DOMAINS, "epsilon": "1"}, (*NO_EPSILON, {"columns": "{id}"}), empty=True
    ),
    "dp_ranges": Setting(
        {"column": "{bare_age}", "domain": "0:100", "epsilon": "1"}, (*NO_EPSILON, {"column": "{bare_id}"}), empty=True
    ),
    "dp_sampling": Setting(
        {"columns": "{note}", "domains": DOMAINS, "epsilon": "1", "delta": "0.001"},
        (
            *NO_EPSILON,
            {"delta": "0"},
            {"fraction": "0.9"},
            {"columns": "{id}"},
            {"levels": "{age}=1"},
            {"delta": "1e-300"},
        ),
    ),
    "dp_statistics": Setting(
        {"statistics": "count,mean({age})", "bounds": "{age}=0:100", "epsilon": "1"},
        (*NO_EPSILON, {"statistics": "sum({pay})"}),
        empty=True,
    ),
    "dp_synthesis": Setting({"domains": DOMAINS, "epsilon": "2"}, (*NO_EPSILON, {"columns": "{id}"}), empty=True),
    "generalize_full_domain": Setting({"k": "5"}, (MANY, {"k": "0"}, {"suppression": "2"})),
    "generalize_to_levels": Setting(
        {"levels": "{age}=1,{town}=1", "k": "2", "suppression": "0.9"},
        ({"levels": ""}, {"levels": "1"}, {"levels": "{id}=0"}),
    ),
    "hipaa": Setting(
        {"year": "2024"},
        ({"year": "-5"}, {"age": "{id}"}, {"zip": "{town}"}, {"small": "0"}),
        roles=lambda roles, names: dataclasses.replace(
            roles, identifiers=(*roles.identifiers, names["town"]), quasi=(names["age"], names["pay"])
        ),
    ),
    "isolation_noise": Setting({"t": "3", "c": "3"}, ({"t": "0"}, {"c": "0.5"}, {"t": "100000"})),
    "k_member": Setting({"k": "4"}, (MANY, {"k": "0"})),
    "local_noise": Setting({"bounds": "{age}=0:100", "epsilon": "1"}, (*NO_EPSILON, {"bounds": "{id}=0:100"})),
    "local_suppression": Setting({"k": "3"}, (MANY, {"k": "0"})),
    "microaggregation": Setting({"k": "4"}, (MANY, {"k": "0"}, {"columns": "{id}"})),
    "mondrian": Setting({"k": "4"}, (MANY, {"k": "0"})),
    "permute_within_groups": Setting({"l": "3"}, ({"l": "7"}, {"l": "1"})),
    "personalize": Setting(
        {"limit": "0.6", "k": "2"},
        ({"limit": "2"}, MANY),
        roles=lambda roles, names: dataclasses.replace(roles, guarding="guard"),
        columns=lambda names: {"guard": [GUARDS[i % len(GUARDS)] for i in range(checks.ROWS)]},
    ),
    "pram": Setting({"columns": "{town}", "keep": "0.7"}, ({"keep": "2"}, {"columns": "{id}"})),
    "random_sampling": Setting(
        {"fraction": "0.5"},
        (
            {"fraction": "0"},
            {"fraction": "2"},
            {"fraction": "0.000001"},
            {"by": "no such column"},
            {"each": "true", "by": "{town}"},
        ),
    ),
    "rank_swapping": Setting({"columns": "{age},{pay}", "p": "10"}, ({"p": "-1"}, {"columns": "{id}"})),
    "record_swapping": Setting(
        {"areas": "{town}", "similar": "{note}", "rate": "0.3"},
        ({"areas": ""}, {"areas": "{id}"}, {"similar": "{town}"}, {"rate": "2"}, {"k": "0"}),
    ),
    "rounding": Setting(
        {"base": "{age}=5,{pay}=100", "how": "random"}, ({"base": "0"}, {"base": "{town}=5"}, {"base": "{id}=5"})
    ),
    "shift_dates": Setting(
        {"days": "20"},
        ({"days": "0"}, {"columns": "{town}"}, {"columns": "{id}"}),
        columns=lambda names: {names["note"]: [f"2024-0{1 + i % 5}-1{i % 7}" for i in range(checks.ROWS)]},
    ),
    "top_bottom_coding": Setting({"top": "{age}=60", "people": "3"}, ({"people": "1000"}, {"columns": "{id}"})),
    "top_down_specialization": Setting({"k": "4"}, (MANY, {"k": "0"})),
}

WAYS: dict[str, dict[str, str]] = {
    "additive_noise independent": {"scale": "0.5", "correlated": "false"},
    "cut_points held": {"column": "{bare_age}", "k": "2", "levels": "{pay}=3,{town}=2", "objective": "iloss"},
    "dp_ranges tree": {**SETTINGS["dp_ranges"].texts, "method": "tree"},
    "dp_synthesis gaussian": {**SETTINGS["dp_synthesis"].texts, "delta": "0.00001"},
    "dp_synthesis tree": {**SETTINGS["dp_synthesis"].texts, "structure": "tree"},
    "dp_synthesis chain": {**SETTINGS["dp_synthesis"].texts, "structure": "chain"},
    "dp_synthesis independent": {**SETTINGS["dp_synthesis"].texts, "structure": "independent"},
    "generalize_full_domain suppressing": {"k": "5", "suppression": "0.02"},
    "k_member by use": {"k": "4", "weigh": "use", "fit_queries": "true"},
    "local_suppression weighed": {"k": "3", "importance": "{age}=1,{town}=2"},
    "microaggregation alone": {"k": "4", "how": "alone"},
    "mondrian by use": {"k": "4", "weigh": "use", "improve": "true"},
    "mondrian relaxed": {"k": "4", "mode": "relaxed"},
    "permute_within_groups anatomy": {"l": "3", "groups": "anatomy"},
    "pram invariant": {"columns": "{town}", "keep": "0.7", "invariant": "true"},
    "random_sampling by part": {"fraction": "0.3", "by": "{town},{ill}"},
    "random_sampling each": {"fraction": "0.3", "each": "true"},
    "rounding nearest": {"base": "{age}=5,{pay}=100"},
    "top_bottom_coding shares": {"columns": "{age},{pay}", "top_share": "0.1", "bottom_share": "0.1"},
}
"""Other ways of the same mechanisms that take other paths through the code: what they write, not how they are described."""

NAMES = [info.name for info in pkgutil.iter_modules(mechanisms.__path__) if not info.ispkg]
every_mechanism = pytest.mark.parametrize("name", NAMES)
every_way = pytest.mark.parametrize("name", few([*NAMES, *WAYS], *NAMES))
every_form = pytest.mark.parametrize("form", checks.FORMS)
CASES = {"plain": Case(), "gaps": Case(gaps=True), "odd names": Case(names=checks.ODD, gaps=True, person=True)}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def kind_of(name: str) -> type[Mechanism]:
    """By file, so that a file which cannot be loaded fails its own tests only."""
    module = importlib.import_module(f"sfumato.mechanisms.{name}")
    found: type[Mechanism] = getattr(module, "".join(part.title() for part in name.split("_")))
    return found


def subject_of(name: str) -> Subject:
    if name in WAYS:
        usual = subject_of(name.split()[0])
        return Subject(usual.kind, dataclasses.replace(usual.setting, texts=WAYS[name]))
    if name not in SETTINGS:
        pytest.fail(f"No settings for the mechanism {name!r}: add a line for it to SETTINGS in {Path(__file__).name}.")
    return Subject(kind_of(name), SETTINGS[name])


# --- the registry ----------------------------------------------------------------------------------------------------


def test_the_registry_holds_every_file() -> None:
    assert set(mechanisms.registry()) == set(NAMES)
    assert {"mondrian", "additive_noise"} <= set(NAMES)


@every_mechanism
def test_card(name: str) -> None:
    checks.check_card(kind_of(name), name)


@every_mechanism
@every_case
def test_settings(name: str, case: Case) -> None:
    checks.check_settings(subject_of(name), case)


@every_way
@every_form
@pytest.mark.parametrize("case", ["gaps", "odd names"])
def test_columns(name: str, form: str, case: str, tmp_path: Path) -> None:
    checks.check_columns(subject_of(name), CASES[case], tmp_path, form)


@every_way
@every_form
def test_seed(name: str, form: str, tmp_path: Path) -> None:
    checks.check_seed(subject_of(name), CASES["gaps"], tmp_path, form)


@every_way
def test_row_order(name: str, tmp_path: Path) -> None:
    checks.check_row_order(subject_of(name), CASES["gaps"], tmp_path)


@every_way
@every_form
def test_input_untouched(name: str, form: str, tmp_path: Path) -> None:
    checks.check_input(subject_of(name), CASES["gaps"], tmp_path, form)


@every_mechanism
@every_case
@every_form
def test_promises(name: str, case: Case, form: str, tmp_path: Path) -> None:
    checks.check_promises(subject_of(name), case, tmp_path, form)


@every_way
def test_shape(name: str, tmp_path: Path) -> None:
    checks.check_shape(subject_of(name), CASES["odd names"], tmp_path)


@every_mechanism
def test_refusals(name: str, tmp_path: Path) -> None:
    checks.check_refusals(subject_of(name), CASES["plain"], tmp_path)


def test_the_cases_hold_what_they_should() -> None:
    """A check on the checks: gaps in every column that may be released, odd names, and equal rows to be dealt out."""
    for name, case in CASES.items():
        columns = case.columns()
        for column in case.released:
            assert (None in columns[column]) == (name != "plain")
    assert len(set(checks.ODD.values()) & set(checks.PLAIN.values())) == 0
    quasi = list(zip(*(CASES["plain"].columns()[column] for column in ("age", "pay", "town")), strict=True))
    assert len(set(quasi)) < len(quasi)
    assert len(CASES["plain"].secrets) == 2 * checks.ROWS


def test_a_mechanism_without_settings_fails_with_what_to_do() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"'brand_new'.*SETTINGS in test_conformance_mechanisms\.py"):
        subject_of("brand_new")


def test_every_line_of_the_settings_is_of_a_mechanism() -> None:
    assert set(SETTINGS) <= set(NAMES)


# --- wrong on purpose ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Wrong(Mechanism):
    """Releases the rows as they are; each of the wrong ones below differs from it in one way, and it is complete."""

    k: int | None = None

    card: ClassVar[MechanismCard] = MechanismCard(
        name="wrong",
        title="Nothing at all",
        promise="nothing",
        against="nobody",
        cost="nothing",
        source="Nobody 2024",
        chance="some",
        parameters={"k": "not used"},
    )

    def released(self, table: Any, roles: sf.Roles) -> Any:
        return table.keep([c for c in table.columns if c in (*roles.quasi, *roles.sensitive, *roles.insensitive)])

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        if self.k == 0:
            raise InputError("wrong: k must not be 0.")
        rows = Rows.of(table, roles, "wrong")
        assert len(rows)
        return Release(
            table=self.released(table, roles), original=table, made_by=self.card.name, parameters=self.settings()
        )


class Unkept(Wrong):
    """Promises what it does not do."""

    @property
    def promises(self) -> tuple[Requirement, ...]:
        return (sf.k_anonymity.at_least(5),)


class Leaky(Wrong):
    """Releases an identifier."""

    def released(self, table: Any, roles: sf.Roles) -> Any:
        return table.keep(table.columns[:3])


class Renamed(Wrong):
    """Releases an identifier under another name."""

    def released(self, table: Any, roles: sf.Roles) -> Any:
        kept = super().released(table, roles)
        names = table.columns
        return dataclasses.replace(
            kept,
            columns=(*kept.columns, "number"),
            types={**kept.types, "number": "VARCHAR"},
            sql=f'SELECT k.*, t."{names[0]}" AS number FROM ({kept.sql}) k POSITIONAL JOIN ({table.sql}) t',
        )


class Ordered(Wrong):
    """Lets the order of the input show: of the rows it releases only the first ones."""

    def released(self, table: Any, roles: sf.Roles) -> Any:
        kept = super().released(table, roles)
        return dataclasses.replace(kept, sql=f"{kept.sql} LIMIT 50")


RUNS = itertools.count()


class Unseeded(Wrong):
    """Makes another release each time, whatever the seed: by a count, since chance would now and then repeat itself."""

    def released(self, table: Any, roles: sf.Roles) -> Any:
        kept = super().released(table, roles)
        return dataclasses.replace(kept, sql=f"{kept.sql} LIMIT {100 + next(RUNS) % 100}")


class Pretending(Wrong):
    """Says that a seed mattered where it did not."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        release = super().sanitize(table, roles, None, progress=progress)
        return dataclasses.replace(release, notes=() if rng is None else (SEEDED,))


class Silent(Wrong):
    """Hides that a seed mattered."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        release = super().sanitize(table, roles, None, progress=progress)
        few = 200 if rng is None else int(rng.integers(50, 200))
        return dataclasses.replace(
            release, table=dataclasses.replace(release.table, sql=f"{release.table.sql} LIMIT {few}")
        )


class Repeating(Silent):
    """Owns up to a seed, and without one draws the same each time."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        release = super().sanitize(table, roles, rng)
        return release if rng is None else dataclasses.replace(release, notes=(SEEDED,))


class Meddling(Wrong):
    """Changes its input."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        path = Path(table.name)
        if path.is_file():
            path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        return super().sanitize(table, roles, None, progress=progress)


class Forgetting(Wrong):
    """Changes what its input remembers of its rows."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        release = super().sanitize(table, roles)
        table.count((roles.quasi[0],)).codes[0][:] = 0
        return release


class Telling(Wrong):
    """Names a value of the table in its refusal."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        if self.k == 0:
            raise Infeasible(f"wrong: nothing can be done about {checks.TOWNS[0]}.")
        return super().sanitize(table, roles, None, progress=progress)


class Crashing(Wrong):
    """Fails without a sentence of ours."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        if self.k == 0:
            raise ValueError("k")
        return super().sanitize(table, roles, None, progress=progress)


class Accepting(Wrong):
    """Refuses nothing."""

    def sanitize(self, table: Any, roles: sf.Roles, rng: Any = None, *, progress: Any = None) -> Release:
        return dataclasses.replace(Wrong()(table, roles), parameters=self.settings())


class Emptying(Wrong):
    """Releases no row."""

    def released(self, table: Any, roles: sf.Roles) -> Any:
        kept = super().released(table, roles)
        return dataclasses.replace(kept, sql=f"{kept.sql} LIMIT 0")


REFUSES = Setting({"k": "3"}, ({"k": "0"},))
Check = Callable[[Subject, Case, Path], None]


def csv_only(check: Callable[[Subject, Case, Path, str], None]) -> Check:
    return lambda subject, case, folder: check(subject, case, folder, ".csv")


EVERY_CHECK: dict[str, Check] = {
    "settings": lambda subject, case, folder: checks.check_settings(subject, case),
    "columns": csv_only(checks.check_columns),
    "seed": csv_only(checks.check_seed),
    "row order": checks.check_row_order,
    "input": csv_only(checks.check_input),
    "promises": csv_only(checks.check_promises),
    "shape": checks.check_shape,
    "refusals": checks.check_refusals,
}


@pytest.mark.parametrize("check", EVERY_CHECK)
def test_where_nothing_is_wrong_every_check_passes(check: str, tmp_path: Path) -> None:
    EVERY_CHECK[check](Subject(Wrong, REFUSES), CASES["plain"], tmp_path)


@pytest.mark.parametrize(
    ("kind", "check", "error", "words"),
    [
        (Unkept, "promises", NotMet, "k_anonymity >= 5"),
        (Leaky, "columns", (AssertionError, NotMet), "id"),
        (Renamed, "columns", NotMet, "'number': .* are alone by it"),
        (Ordered, "row order", AssertionError, "order of the input shows"),
        (Unseeded, "seed", AssertionError, "same seed made other bytes"),
        (Pretending, "seed", AssertionError, "other seeds made the same bytes"),
        (Silent, "seed", AssertionError, "not said"),
        pytest.param(Repeating, "seed", AssertionError, "not left to chance", marks=pytest.mark.full),  # many seeds
        (Meddling, "input", AssertionError, "input was changed"),
        (Forgetting, "input", (AssertionError, ValueError), "other rows|read-only"),
        (Telling, "refusals", AssertionError, "a value of the table"),
        (Crashing, "refusals", ValueError, "k"),
        (Accepting, "refusals", pytest.fail.Exception, "accepts"),
        (Emptying, "shape", (AssertionError, InputError), "no row below|empty release"),
    ],
)
def test_a_wrong_mechanism_does_not_get_through(
    kind: type[Mechanism], check: str, error: Any, words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        EVERY_CHECK[check](Subject(kind, REFUSES), CASES["plain"], tmp_path)


@pytest.mark.parametrize(
    "card",
    [
        {"name": "another"},
        {"promise": " "},
        {"promise": "everybody is safe"},
        {"cost": "an anonymous table"},
        {"source": "somebody"},
        {"parameters": {}},
        {"parameters": {"k": "not used", "m": "not there"}},
    ],
    ids=str,
)
def test_an_incomplete_card(card: dict[str, Any]) -> None:
    checks.check_card(Wrong, "wrong")
    other = type("Other", (Wrong,), {"card": dataclasses.replace(Wrong.card, **card)})
    with pytest.raises(AssertionError):
        checks.check_card(other, "wrong")


def test_settings_that_do_not_read_back() -> None:
    class Forgetful(Wrong):
        def settings(self) -> dict[str, Any]:
            return {}

    with pytest.raises(AssertionError, match="do not make it again"):
        checks.check_settings(Subject(Forgetful, REFUSES), CASES["plain"])


def test_a_promise_about_pairs_is_measured_on_what_was_written(tmp_path: Path) -> None:
    """A release that says it wrote other numbers than it did is not published, though the numbers it says would do."""
    case = CASES["plain"]
    made = kind_of("additive_noise").of({"scale": "0.5"})
    release = made(case.table(), case.roles, np.random.default_rng(1))
    raw = case.table().keep(release.table.columns)
    with pytest.raises(NotMet, match="other values than it says"):
        sf.publish(dataclasses.replace(release, table=raw), case.roles, made.promises, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
