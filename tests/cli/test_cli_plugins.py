"""A metric, a mechanism and an attack from another package: one file and an entry point each, and every verb and document knows them."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_house import House, Run

import sfumato as sf
from sfumato import attacks, mechanisms, metrics
from sfumato.core.errors import InputError

METRIC = '''
from sfumato.core.classes import Classes
from sfumato.core.column import FloatArray
from sfumato.core.metric import Usual, measure


@measure(
    title="odd rows of a class",
    question="Is there a class with an odd number of rows?",
    about="privacy",
    better="lower",
    unit="rows",
    bounds=(0, 1),
    monotone=False,
    source="a test",
    sentence=lambda value: "Some class has an odd number of rows." if value else "Every class has an even number of rows.",
    misleads="Odd numbers harm nobody.",
    family="What can be mined",
    knows="whether the rows of a class are even",
    usual=Usual(15),
)
def odd_rows(classes: Classes) -> FloatArray:
    """`n mod 2` of each class."""
    return (classes.size % 2).astype(float)
'''
MECHANISM = '''
from typing import Any, ClassVar

from sfumato.core.mechanism import Mechanism, MechanismCard, Offer
from sfumato.core.noun import dataclass
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table


@dataclass(frozen=True)
class LeaveAsIs(Mechanism):
    """Everything but the identifiers."""

    times: int = 1
    card: ClassVar[MechanismCard] = MechanismCard(
        name="leave_as_is", title="The table as it is", promise="nothing", against="nobody", cost="nothing", source="a test",
        chance="none", parameters={"times": "how many times nothing is done"}, offer=Offer(5, lambda trial: [{"times": trial.ks}]),
    )

    def sanitize(self, table: Table, roles: Roles, rng: Any = None, *, progress: Any = None) -> Release:
        kept = [name for name in table.columns if name in (*roles.quasi, *roles.sensitive, *roles.insensitive)]
        return Release(table=table.keep(kept), original=table, pairing="position", made_by="leave_as_is")
'''
ATTACK = '''
from sfumato.core.attack import attack
from sfumato.core.outcome import Outcome, Rate
from sfumato.core.release import Evidence, Release
from sfumato.core.roles import Roles


@attack(
    title="a coin",
    question="Whom does a coin find?",
    how="The adversary tosses a coin.",
    knows="how to toss a coin",
    effort="a coin",
    source="a test",
    sentence=lambda value: f"A coin finds {value:.0%} of the people.",
    misleads="Always.",
    parameters={"heads": "How many of ten tosses show heads."},
)
def coin(release: Release, roles: Roles, *, heads: int = 5) -> Outcome:
    """Extremes: nobody without heads."""
    fell = heads * release.table.rows / 10
    rate = Rate.of(fell, release.table.rows)
    return Outcome(attacked=release.table.rows, fell=fell, success=rate, baseline=rate, sentence="A coin was tossed.")


@coin.metric(title="found by a coin")
def found_by_a_coin(evidence: Evidence, column: None) -> Outcome:
    """Half."""
    return coin(evidence.release, evidence.roles)
'''
STUDY = """table = "people.csv"
roles = "roles.toml"
measures = ["k_anonymity", "odd_rows"]
require = ["odd_rows <= 1"]

[[candidate]]
mechanism = "leave_as_is"
times = [1, 2]
"""

Install = Callable[..., None]


def _forget() -> None:
    metrics.registry.cache_clear()
    mechanisms.registry.cache_clear()
    attacks.registry.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put modules with their entry points where Python finds packages."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)

    def put(points: str, **modules: str) -> None:
        known = site / "outside-1.0.dist-info"
        known.mkdir(parents=True)
        (known / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n", "utf-8")
        (known / "entry_points.txt").write_text(points, "utf-8")
        for name, text in modules.items():
            (site / f"{name}.py").write_text(text, "utf-8")
        _forget()

    yield put
    for name in [path.stem for path in site.glob("*.py")]:
        sys.modules.pop(name, None)
    monkeypatch.undo()
    _forget()


@pytest.fixture
def outside(install: Install) -> None:
    install(
        "[sfumato.metrics]\nodd_rows = outside_metric:odd_rows\n"
        "[sfumato.mechanisms]\nleave_as_is = outside_mechanism:LeaveAsIs\n"
        "[sfumato.attacks]\ncoin = outside_attack:coin\n",
        outside_metric=METRIC,
        outside_mechanism=MECHANISM,
        outside_attack=ATTACK,
    )


@pytest.mark.usefixtures("outside")
def test_measure_and_require_know_a_metric_of_another_package(run: Run, house: House) -> None:
    release = house.text("release.csv", "age,town,ill\n" + "30,here,flu\n" * 4 + "40,there,flu\n" * 3)
    asked = (
        "measure",
        release,
        "--roles",
        house.text("r.toml", '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\n'),
    )
    assert run(*asked, "--json").fine().json["scores"]["odd_rows"]["value"] == 1
    assert "Some class has an odd number of rows." in " ".join(run(*asked, "--metric", "odd_rows").fine().out.split())
    assert run("verify", *asked[1:], "--require", "odd_rows <= 0").code == 1
    assert run("verify", *asked[1:], "--require", "odd_rows <= 1").code == 0
    assert sf.odd_rows is metrics.registry()["odd_rows"]


@pytest.mark.usefixtures("outside")
def test_an_attack_of_another_package_is_played_measured_and_explained(run: Run, house: House) -> None:
    release = house.text("release.csv", "age,ill\n" + "30,flu\n" * 10)
    given = (release, "--roles", house.text("r.toml", '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n'))
    assert "coin" in {one["name"] for one in run("attack", *given, "--json").fine().json["attacks"]}
    assert run("attack", *given, "--attack", "coin[heads=3]", "--json").fine().json["attacks"][0]["fell"] == 3
    assert (
        run("measure", *given, "--metric", "found_by_a_coin", "--json")
        .fine()
        .json["scores"]["found_by_a_coin"]["value"]
        == 0.5
    )
    assert run("verify", *given, "--require", "found_by_a_coin <= 0.4").code == 1
    assert "How many of ten tosses" in run("explain", "coin").fine().out
    assert sf.coin is attacks.registry()["coin"]


def test_the_page_on_extending_is_a_package_that_works(
    install: Install, run: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three files and the entry points of docs/extend.md, as they stand there; its command, too."""
    page = (Path(__file__).parents[2] / "docs" / "extend.md").read_text("utf-8")
    files = dict(re.findall(r"```python\n# my_package/(\w+)\.py\n(.*?)```", page, flags=re.DOTALL))
    (declared,) = re.findall(r"```toml\n# pyproject.toml\n(.*?)```", page, flags=re.DOTALL)
    groups = tomllib.loads(declared)["project"]["entry-points"]
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {where.removeprefix('my_package.')}\n" for name, where in entries.items())
        for group, entries in groups.items()
    )
    install(points, **files)
    house.text("people.csv", "age,town,ill\n" + "".join(f"{30 + i % 7},t{i % 3},flu\n" for i in range(40)))
    roles = house.text("roles.toml", '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\ninsensitive = ["town"]\n')
    (command,) = re.findall(r"```sh\nsfumato (sanitize .*?)\n```", page)
    monkeypatch.chdir(house.folder)
    run(*shlex.split(command)).fine()
    released = (house / "release.csv").read_text("utf-8")
    assert released.splitlines()[0] == "age,ill"
    scores = run(
        "measure", "release.csv", "--roles", house.text("r.toml", '[roles]\nquasi = ["age"]\n'), "--all", "--json"
    ).fine()
    rows = [line.rpartition(",")[0] for line in released.splitlines()[1:]]
    classes = [rows.count(text) for text in set(rows)]
    assert scores.json["scores"]["largest_class"]["value"] == max(classes)
    assert scores.json["scores"]["found_by_lots"]["value"] == pytest.approx(len(classes) / 40)
    assert run("verify", "release.csv", "--roles", roles, "--require", "found_by_lots <= 0.01").code != 0
    assert "picks one of its rows" in run("explain", "drawing_lots").fine().out


@pytest.mark.usefixtures("outside")
def test_explain_and_mechanisms_show_their_cards(run: Run) -> None:
    assert "whether the rows of a class are even" in run("explain", "odd_rows").fine().out
    assert "leave_as_is" in {card["name"] for card in run("mechanisms", "--json").fine().json["mechanisms"]}


@pytest.mark.usefixtures("outside")
def test_a_study_and_its_report_know_both(run: Run, house: House) -> None:
    study = house.text("study.toml", STUDY)
    result = run("study", study, "--out", house / "out", "--workers", "1", "--formats", "md", "--json").fine().json
    assert {each["candidate"] for each in result["candidates"]} == {"leave_as_is times=1", "leave_as_is times=2"}
    assert all("odd_rows" in each["scores"] for each in result["candidates"])
    report = "\n".join(path.read_text("utf-8") for path in (house / "out").rglob("*.md"))
    for words in (
        "odd rows of a class",
        "whether the rows of a class are even",
        "The table as it is",
        "What can be mined",
    ):
        assert words in report, words


@pytest.mark.usefixtures("outside")
def test_advise_tries_a_mechanism_that_offers_itself(house: House) -> None:
    from sfumato.study.default_candidates import candidates

    table, roles = sf.read(house.people), sf.Roles.read(house.roles)
    tried = candidates(table, roles, [metrics.require("k_anonymity >= 3")], metrics.metric("iloss"))
    assert tried[0].name == "leave_as_is times=3"


@pytest.mark.usefixtures("outside")
def test_the_usual_metrics_and_the_pages_hold_them() -> None:
    from sfumato.inspect.default_metrics import usual_metrics

    assert [str(metric) for metric in usual_metrics(sf.Roles(quasi=("age",)))][:2] == ["k_anonymity", "odd_rows"]
    spec = importlib.util.spec_from_file_location("docs_build", Path(__file__).parents[2] / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    pages: dict[str, Any] = build.card_pages()
    assert "# odd rows of a class" in pages["metrics/odd_rows.md"]
    assert "--mechanism leave_as_is" in pages["mechanisms/leave_as_is.md"]


@pytest.mark.parametrize(
    ("points", "modules", "words"),
    [
        ("[sfumato.metrics]\nk_anonymity = outside_metric:odd_rows\n", {"outside_metric": METRIC}, "that another item has"),
        ("[sfumato.metrics]\neven_rows = outside_metric:odd_rows\n", {"outside_metric": METRIC}, "'odd_rows' on its card"),
        ("[sfumato.metrics]\nodd_rows = outside_metric:nothing\n", {"outside_metric": METRIC}, "AttributeError"),
        ("[sfumato.metrics]\nodd_rows = outside_metric:Usual\n", {"outside_metric": METRIC}, "is no Metric"),
        ("[sfumato.metrics]\nodd_rows = outside_metric:odd_rows\n", {"outside_metric": "1/0"}, "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_a_package_that_cannot_be_used_is_named(
    install: Install, points: str, modules: dict[str, str], words: str
) -> None:
    install(points, **modules)
    with pytest.raises(InputError, match="outside: the entry point") as refusal:
        metrics.registry()
    assert words in str(refusal.value)


def test_a_package_that_cannot_be_used_ends_a_verb_with_a_sentence(install: Install, run: Run, house: House) -> None:
    install("[sfumato.metrics]\nodd_rows = nowhere_at_all:odd_rows\n")
    run("measure", house.people, "--roles", house.roles).refused(2, "outside", "odd_rows", "uninstall")
