"""A study file: every key, every grid, and one clear sentence for every mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, RequirementError, SfumatoError
from sfumato.metrics import metric, require
from sfumato.search.frontier import policy_frontier
from sfumato.study.study import GRID, SPLIT_GRID
from sfumato.study.study_file import StudyFile
from sfumato.study.study_file import read_study as read
from study_house import CANARY, columns, memory

HEAD = 'table = "people.csv"\nroles = "roles.toml"\n'
ROLES = """[roles]
quasi = ["age", "zip"]
sensitive = ["ill"]
insensitive = ["note"]

[hierarchies]
age = { widths = [5, 10, 40] }
zip = { prefix = [3] }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A house with a table, roles, a release made elsewhere and a population."""
    found = tmp_path_factory.mktemp("house")
    memory().write(found / "people.csv")
    memory(160).write(found / "everybody.csv")
    sf.Mondrian(k=4)(memory(), sf.Roles(quasi=("age", "zip"), sensitive=("ill",), insensitive=("note",))).table.write(
        found / "theirs.csv"
    )
    (found / "roles.toml").write_text(ROLES)
    return found


@pytest.fixture
def asked(folder: Path, tmp_path: Path) -> Callable[[str], StudyFile]:
    """Read a study file with these lines after the table and the roles; it stands in a folder of its own."""

    def call(text: str, head: str = HEAD) -> StudyFile:
        path = folder / f"{tmp_path.name}.toml"
        path.write_text(head + text, encoding="utf-8")
        return read(path)

    return call


Call = Callable[..., StudyFile]


def texts(found: StudyFile) -> list[str]:
    return [candidate.text for candidate in found.study.candidates]


# --- what it can say -------------------------------------------------------------------------------------------------


def test_the_least(asked: Call) -> None:
    found = asked("")
    study = found.study
    assert study.table.rows == 80
    assert study.roles.quasi == ("age", "zip")
    assert (str(study.risk), str(study.utility)) == ("prosecutor_risk", "query_error[ranges]")
    assert study.require == ()
    assert study.measures is None
    assert texts(found) == [*GRID, *SPLIT_GRID]
    assert (found.seed, found.refine, study.context, study.maps, study.population) == (None, 4, None, (), None)


def test_every_key(asked: Call) -> None:
    found = asked(
        """
title = "Illnesses"
risk = "k_anonymity"
utility = "query_error[ranges]"
measures = ["discernibility", "t_closeness[equal]"]
maps = [["singling_out_risk[size=2]", "iloss"]]
require = ["k_anonymity >= 3"]
population = "everybody.csv"
delimiter = ","
header = true
missing = ["?", "NA"]
seed = 7
refine = 2

[context]
to = "agreement"
impact = "low"
controls = "high"
motives = "low"
known = 0.001
breach = 0.01

[[candidate]]
mechanism = "mondrian"
k = 5
"""
    )
    study = found.study
    assert (found.seed, found.refine, study.title) == (7, 2, "Illnesses")
    assert (str(study.risk), str(study.utility)) == ("k_anonymity", "query_error[ranges]")
    assert study.measures == (metric("discernibility"), metric("t_closeness[equal]"))
    assert study.maps == ((metric("singling_out_risk[size=2]"), metric("iloss")),)
    assert study.population is not None
    assert study.population.rows == 160
    assert study.context is not None
    assert study.context.breach == 0.01
    assert set(map(str, study.require)) == {"k_anonymity >= 3", *(limit.text for limit in study.context.limits)}
    assert len(set(study.require)) == len(study.require)
    assert study.arguments == ("--delimiter", ",", "--header", "--missing", "?", "--missing", "NA")


def test_the_context_gives_the_axis_unless_one_is_named(asked: Call) -> None:
    context = '[context]\nto = "agreement"\nimpact = "high"\n'
    assert str(asked(context).study.risk) == "marketer_risk"
    assert str(asked('risk = "k_anonymity"\n' + context).study.risk) == "k_anonymity"
    preset = asked('[context]\npreset = "public-use"\n').study
    assert [str(r) for r in preset.require] == ["k_anonymity >= 5"]


def test_texts_where_a_list_of_one_is_meant(asked: Call) -> None:
    found = asked('require = "k_anonymity >= 3"\nmeasures = "discernibility"\n').study
    assert found.require == (require("k_anonymity >= 3"),)
    assert found.measures == (metric("discernibility"),)


def test_a_list_is_a_grid(asked: Call) -> None:
    found = asked('[[candidate]]\nmechanism = "mondrian"\nk = [2, 5, 2]\nmode = ["strict", "relaxed"]\n')
    made = [c.mechanism for c in found.study.candidates]
    assert [(m.k, m.mode) for m in made if isinstance(m, sf.Mondrian)] == [
        (2, "strict"), (2, "relaxed"), (5, "strict"), (5, "relaxed"),
    ]  # fmt: skip


def test_candidates_are_steered_unless_they_are_told_not_to(asked: Call) -> None:
    text = 'require = ["t_closeness[equal] <= 0.4", "k_anonymity >= 3", "marketer_risk <= 0.5"]\n[[candidate]]\nmechanism = "mondrian"\nk = [2, 5]\n'
    steered = [c.mechanism for c in asked(text).study.candidates]
    assert [set(map(str, m.promises)) for m in steered if m] == [
        {"k_anonymity >= 2", "t_closeness[equal] <= 0.4", "k_anonymity >= 3", "marketer_risk <= 0.5"},
        {"k_anonymity >= 5", "t_closeness[equal] <= 0.4", "marketer_risk <= 0.5"},
    ]
    assert texts(asked(text + "steer = false\n")) == ["mondrian k=2", "mondrian k=5"]


def test_own_requirements_and_a_name(asked: Call) -> None:
    found = asked(
        '[[candidate]]\nmechanism = "mondrian"\nk = 5\nname = "ours"\nrequire = ["distinct_l_diversity >= 2"]\n'
    )
    (candidate,) = found.study.candidates
    assert candidate.name == "ours"
    assert candidate.mechanism is not None
    assert "distinct_l_diversity >= 2" in map(str, candidate.mechanism.promises)


def test_kinds_of_parameters(asked: Call) -> None:
    found = asked(
        """
[[candidate]]
mechanism = "generalize_full_domain"
k = 3
suppression = [0.0, 0.05, 1]
minimise = "iloss"

[[candidate]]
mechanism = "generalize_to_levels"
levels = ["1,1", "age=2"]
"""
    )
    assert len(texts(found)) == 5
    assert found.study.run().made


def test_a_file_with_pair_and_perturbed(asked: Call) -> None:
    found = asked(
        """
measures = ["minimal_distortion"]
[[candidate]]
file = "theirs.csv"
name = "theirs"

[[candidate]]
file = "people.csv"
name = "noisy"
pair = "position"
perturbed = ["age"]
"""
    ).study
    plain, noisy = found.candidates
    assert plain.release is not None
    assert noisy.release is not None
    assert (plain.release.pairing, noisy.release.pairing) == ("none", "position")
    assert noisy.release.perturbed == {"age"}
    assert plain.release.original is found.table
    result = found.run()
    assert [point.candidate.name for point in result.points] == ["theirs", "noisy"]
    assert "minimal_distortion" in result.points[0].skipped
    assert "minimal_distortion" in result.points[1].scores
    assert result.placed == [0]  # classes of perturbed rows are not counted


def test_one_file_in_two_ways_is_two_candidates(asked: Call) -> None:
    found = asked(
        '[[candidate]]\nfile = "theirs.csv"\nname = "A"\n[[candidate]]\nfile = "theirs.csv"\nname = "B"\nperturbed = ["age"]\n'
    )
    assert [c.name for c in found.study.candidates] == ["A", "B"]


def test_a_name_given_to_a_candidate_that_a_grid_has_too_is_not_lost(asked: Call) -> None:
    found = asked(
        '[[candidate]]\nmechanism = "mondrian"\nk = [4, 5]\n[[candidate]]\nmechanism = "mondrian"\nk = 5\nname = "the usual"\n'
    )
    assert "the usual" in [c.name for c in found.study.candidates]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
def test_nodes_of_the_frontier_are_those_of_the_frontier(asked: Call, most: int) -> None:
    found = asked(f"[[candidate]]\nfrontier = {most}\n").study
    nodes = policy_frontier(found.table, found.roles).nodes
    every = [",".join(str(node.levels[name]) for name in found.roles.quasi) for node in nodes]
    made = [c.mechanism.settings()["levels"] for c in found.candidates if c.mechanism]
    assert len(every) > 3
    assert set(made) <= set(every)
    assert made == sorted(made, key=every.index)
    assert len(made) == min(most, len(every)), "so many nodes as are asked for, if there are so many"
    assert made[0] == every[0]
    if most > 1:
        assert made[-1] == every[-1], "from the most useful to the least risky end"
    if most == 100:
        result = found.run()
        assert result.made == list(range(len(every)))


def test_nodes_with_suppression_meet_the_requirements(asked: Call) -> None:
    found = asked('require = ["k_anonymity >= 3"]\n[[candidate]]\nfrontier = 4\nsuppression = 0.3\n').study
    result = found.run()
    assert result.made
    for i in result.made:
        assert result.points[i].met


def test_names_are_relative_to_the_study_file(
    asked: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (folder / "deeper").mkdir(exist_ok=True)
    path = folder / "deeper" / "study.toml"
    path.write_text('table = "../people.csv"\nroles = "../roles.toml"\n[[candidate]]\nfile = "../theirs.csv"\n')
    found = read(path)
    assert found.study.table.rows == 80
    assert found.study.candidates[0].release is not None
    assert read(str(path)).study.table.rows == 80


def test_how_the_table_is_read_does_not_bind_the_population_or_files(folder: Path, tmp_path: Path) -> None:
    """A table in Parquet with a CSV population, and the other way round."""
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns()), tmp_path / "people.parquet")
    memory(160).write(tmp_path / "everybody.csv")
    (tmp_path / "roles.toml").write_text(ROLES)
    path = tmp_path / "study.toml"
    path.write_text('table = "people.parquet"\nroles = "roles.toml"\npopulation = "everybody.csv"\n')
    assert read(path).study.population is not None


# --- mistakes --------------------------------------------------------------------------------------------------------


CANDIDATE = '[[candidate]]\nmechanism = "mondrian"\nk = 3\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tabel = 1\n", "did you mean 'table'"),
        ("requirement = []\n", "did you mean 'require'"),
        ("xyzzy = 1\n", "unknown key 'xyzzy'"),
        ("[contxt]\nto = 'public'\n", "did you mean 'context'"),
        ("[context]\nto = 'public'\n", "answer both questions"),
        ("[context]\nto = 'public'\nimpact = 'high'\ncontrol = 'low'\n", "did you mean 'controls'"),
        ("[context]\nto = 'everyone'\nimpact = 'high'\n", "to must be one of public"),
        ("[context]\nto = 'public'\nimpact = 'high'\nknown = 'x'\n", "known"),
        ("[context]\nto = ['public']\nimpact = 'high'\n", "to must be one of"),
        ("[context]\nto = 'public'\nimpact = 3\n", "impact must be one of"),
        ("[context]\npreset = 'public_use'\n", "Unknown preset"),
        ("[context]\npreset = 5\n", "preset"),
        ("context = 'public'\n", "context must be a section"),
        ("seed = -1\n", "seed must be a whole number"),
        ("seed = 'x'\n", "seed must be a whole number"),
        ("seed = true\n", "seed must be a whole number"),
        ("seed = 1.5\n", "seed must be a whole number"),
        ("refine = 'x'\n", "refine must be a whole number"),
        ("require = 5\n", "require must be a list of texts"),
        ("require = [5]\n", "require must be a list of texts"),
        ("measures = { a = 1 }\n", "measures must be a list of texts"),
        ("maps = ['x']\n", "maps must be a list of pairs"),
        ("maps = [['prosecutor_risk']]\n", "maps must be a list of pairs"),
        ("maps = 3\n", "maps must be a list of pairs"),
        ("maps = [[1, 2]]\n", "maps"),
        ("maps = [['iloss', 'prosecutor_risk']]\n", "privacy metric for risk"),
        ("risk = 5\n", "risk must be a text"),
        ("risk = ['prosecutor_risk']\n", "risk must be a text"),
        ("utility = 5\n", "utility must be a text"),
        ("title = 5\n", "title must be a text"),
        ("population = 5\n", "population must be a text"),
        ("population = 'nowhere.csv'\n", "nowhere.csv"),
        ("candidate = 'mondrian k=5'\n", "[[candidate]]"),
        ("candidate = ['mondrian k=5']\n", "[[candidate]]"),
        ("[candidate]\nmechanism = 'mondrian'\nk = 5\n", "[[candidate]]"),
        ("[[candidate]]\nk = 5\n", "name one of mechanism, file or frontier"),
        ("[[candidate]]\nmechanism = 'mondrian'\nfile = 'theirs.csv'\n", "name one of"),
        ("[[candidate]]\nmechanism = 5\n", "mechanism must be a text"),
        ("[[candidate]]\nmechanism = 'mondrain'\n", "did you mean 'mondrian'"),
        ("[[candidate]]\nmechanism = 'mondrian'\nkk = 5\n", "no parameter 'kk'"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 'x'\n", "k must be a whole number"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 0\n", "k must be at least 1"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 2.5\n", "whole"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = []\n", "k"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = { a = 1 }\n", "k"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = [[2, 3]]\n", "k"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 5\nrequire = 5\n", "require must be a list of texts"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 5\nrequire = ['iloss <= 0.3']\n", "cannot steer by iloss"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 5\nsteer = 'no'\n", "steer must be true or false"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 5\nname = 5\n", "name must be a text"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = [5, 6]\nname = 'x'\n", "grid of 2 candidates"),
        ("[[candidate]]\nfile = 5\n", "file must be a text"),
        ("[[candidate]]\nfile = 'nowhere.csv'\n", "nowhere.csv"),
        ("[[candidate]]\nfile = 'theirs.csv'\npar = 'position'\n", "did you mean 'pair'"),
        ("[[candidate]]\nfile = 'theirs.csv'\npair = 'rows'\n", "position, none or key:COLUMN"),
        ("[[candidate]]\nfile = 'theirs.csv'\npair = 5\n", "pair must be a text"),
        ("[[candidate]]\nfile = 'theirs.csv'\nname = 5\n", "name must be a text"),
        ("[[candidate]]\nfile = 'theirs.csv'\njoined_by = 5\n", "joined_by must be a text"),
        ("[[candidate]]\nfile = 'theirs.csv'\nperturbed = 5\n", "perturbed must be a list of texts"),
        ("[[candidate]]\nfile = 'theirs.csv'\nperturbed = ['nowhere']\n", "'nowhere'"),
        ("[[candidate]]\nfile = 'theirs.csv'\ncompanions = ['x']\n", "companions must be"),
        ("[[candidate]]\nfile = 'theirs.csv'\ncompanions = { s = 'nowhere.csv' }\n", "nowhere.csv"),
        ("[[candidate]]\nfrontier = 0\n", "at least 1"),
        ("[[candidate]]\nfrontier = 'x'\n", "whole number"),
        ("[[candidate]]\nfrontier = true\n", "whole number"),
        ("[[candidate]]\nfrontier = 3\nsuppresion = 0.1\n", "did you mean 'suppression'"),
        ("[[candidate]]\nfrontier = 3\nsuppression = 'x'\n", "suppression must be a share"),
        ("[[candidate]]\nfrontier = 3\nsuppression = true\n", "suppression must be a share"),
        ("[[candidate]]\nfrontier = 3\nsuppression = 2\n", "suppression"),
        ("delimiter = 5\n", "delimiter"),
        ("header = 'yes'\n", "header"),
        ("missing = 5\n", "missing"),
        ("missing = [5]\n", "missing"),
        ("encoding = 'klingon'\n", "klingon"),
        ("sheet = 'x'\n", "sheet"),
        (CANDIDATE + "[[candidate]]\nmechanism = 'mondrian'\nk = 'y'\n", "candidate 2"),
    ],
    ids=lambda text: text.strip().replace("\n", " ") if "=" in text else "",
)
def test_one_clear_sentence_for_every_mistake(asked: Call, refusal: Callable[..., str], text: str, words: str) -> None:
    said = refusal(InputError, lambda: asked(text), words)
    assert CANARY not in said
    assert said.count("study.toml") + said.count(".toml") >= 1 or ".csv" in said, "it names no file"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("require = ['k_anonimity >= 3']\n", "did you mean 'k_anonymity'"),
        ("require = ['k_anonymity']\n", "no limit"),
        ("risk = 'prosecutor'\n", "No metric"),
        ("utility = 'k_anonymity >= 3'\n", "is a requirement"),
        ("measures = ['iloss <= 1']\n", "is a requirement"),
        ("[[candidate]]\nmechanism = 'mondrian'\nk = 5\nrequire = ['k_anonymity <= 5']\n", "better higher"),
    ],
)
def test_a_wrong_metric_is_said_with_the_file(asked: Call, refusal: Callable[..., str], text: str, words: str) -> None:
    said = refusal(RequirementError, lambda: asked(text), words)
    assert ".toml" in said, "in a folder of study files one must know which"


@pytest.mark.parametrize("missing", ["table", "roles"])
def test_table_and_roles_are_needed(asked: Call, missing: str) -> None:
    head = "".join(line + "\n" for line in HEAD.splitlines() if not line.startswith(missing))
    with pytest.raises(InputError, match=f"{missing} is missing; it must be a text"):
        asked("", head=head)
    with pytest.raises(InputError, match=f"{missing} must be a text"):
        asked(f"{missing} = 5\n", head=head)


def test_files_that_are_not_there_or_not_toml(folder: Path, tmp_path: Path, refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: read(tmp_path / "nowhere.toml"), "nowhere.toml", "no such study file")
    refusal(InputError, lambda: read(tmp_path), str(tmp_path))
    path = tmp_path / "bad.toml"
    for content in (b"table = \n", b"\xff\xfe", b"a = 1\na = 2\n"):
        path.write_bytes(content)
        refusal(InputError, lambda: read(path), "bad.toml")
    path.write_text('table = "nowhere.csv"\nroles = "roles.toml"\n')
    refusal(InputError, lambda: read(path), "roles.toml")
    (tmp_path / "roles.toml").write_text(ROLES)
    refusal(InputError, lambda: read(path), "nowhere.csv")


def test_roles_that_do_not_fit_the_table(asked: Call, folder: Path) -> None:
    (folder / "other.toml").write_text('[roles]\nquasi = ["nowhere"]\n')
    with pytest.raises(SfumatoError, match="'nowhere'"):
        asked(CANDIDATE, head=HEAD.replace("roles.toml", "other.toml")).study.run()
    with pytest.raises(SfumatoError, match="'nowhere'"):
        asked("[[candidate]]\nfrontier = 3\n", head=HEAD.replace("roles.toml", "other.toml"))


def test_values_of_the_table_are_in_no_message(asked: Call, folder: Path, refusal: Callable[..., str]) -> None:
    """A hierarchy that lacks a value, a level that does not exist, requirements that cannot be met."""
    (folder / "zip.csv").write_text("00501;*\n")
    (folder / "short.toml").write_text(ROLES.replace("{ prefix = [3] }", '"zip.csv"'))
    head = HEAD.replace("roles.toml", "short.toml")
    for text in ("[[candidate]]\nfrontier = 3\n", "[[candidate]]\nmechanism = 'generalize_full_domain'\nk = 3\n"):
        with pytest.raises(SfumatoError) as caught:
            asked(text, head=head).study.run()
        assert CANARY not in str(caught.value)
    with pytest.raises(Infeasible) as gone:
        asked("[[candidate]]\nmechanism = 'generalize_to_levels'\nlevels = '0,0'\nk = 40\n").study.run()
    assert CANARY not in str(gone.value)


def test_an_owners_checks_stand_in_the_findings(tmp_path: Path) -> None:
    """What the owner lists is asked of the recommended release, and the report tells how it came out."""
    from sfumato.study.findings import findings

    (tmp_path / "people.csv").write_text(
        "age,sex,ill\n" + "".join(f"{30 + i % 4},f,{'ab'[i % 2]}\n" for i in range(12))
    )
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age", "sex"]\nsensitive = ["ill"]\n')
    (tmp_path / "audit.toml").write_text("[[aggregate]]\nquery = \"count where ill = 'a'\"\nvalue = 99\n")
    (tmp_path / "study.toml").write_text(
        'table = "people.csv"\nroles = "roles.toml"\naudit = "audit.toml"\nmeasures = []\nrefine = 0\n'
        'require = ["k_anonymity >= 3"]\n[[candidate]]\nmechanism = "mondrian"\nk = 3\n'
    )
    asked = read(tmp_path / "study.toml")
    found = findings(asked.study.run(refine=0)).release.audit
    assert found.met is False
    plain = findings(replace(asked.study, checks={}).run(refine=0)).release.audit
    assert plain.met is True
    assert len(plain.checks) == len(found.checks) - 1
