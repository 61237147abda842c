"""The challengers of benchmarks/decision.py: they know nothing of the package, count right, and their releases are what they say."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from decisions.challengers import challenge
from decisions.measures import Domain, Problem, Release, Workload
from decisions.tables import AGREEMENT, DIVERSE, PUBLIC, TABLES, Limits, MadeUp, complete

import sfumato as sf
from sfumato.core.roles import Roles

FOLDER = Path(__file__).parents[2] / "benchmarks" / "decisions"


def _made(limits: Limits) -> MadeUp:
    """Ages of ten rows in two halves, each with both illnesses."""
    return MadeUp(
        columns={"age": [20, 21, 22, 23, 24, 60, 61, 62, 63, 64], "ill": list("ababa") + list("babab")},
        sensitive=("ill",),
        limits=limits,
    )


def _halves(problem: Problem, first: int) -> Release:
    """The first so many ages as one label, the others as another."""
    low = np.arange(10) < first
    return problem.own({"age": (np.where(low, 0, 1), np.array([low, ~low]))})


def test_the_challengers_use_nothing_of_the_package() -> None:
    for path in FOLDER.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        imported += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
        assert imported or path.name == "__init__.py"
        assert not any("sfumato" in module for module in imported), path.name


def test_what_misses_a_limit_is_found() -> None:
    problem = Problem(_made(DIVERSE))
    assert problem.meets(_halves(problem, 5), problem.secrets)
    assert not problem.meets(_halves(problem, 4), problem.secrets)  # four rows
    same = {"ill": np.array([0] * 5 + [0, 1, 0, 1, 0])}
    assert not problem.meets(_halves(problem, 5), same)  # one value in a class
    means = Problem(_made(replace(AGREEMENT, k=2, mean_risk=0.15)))
    assert not means.meets(_halves(means, 5), means.secrets)  # 2 classes of 10 rows: a mean risk of 0.2
    assert means.meets(means.own({"age": (np.zeros(10, dtype=int), np.ones((1, 10), dtype=bool))}), means.secrets)
    shares = Problem(_made(replace(PUBLIC, k=1, share=0.6)))
    assert shares.shares == {
        "ill": 0.75
    }  # half have the more frequent one, and halfway from there to certainty is more than 0.6
    assert shares.meets(_halves(shares, 3), shares.secrets)  # two of three
    assert not shares.meets(_halves(shares, 1), shares.secrets)


def test_iloss_is_counted_as_the_package_counts_it() -> None:
    made = complete(TABLES["census"](150))
    problem = Problem(made)
    table = sf.read(pa.table({name: pa.array(values) for name, values in made.columns.items()}))
    roles = Roles(quasi=made.quasi, sensitive=made.sensitive)
    for release in (sf.Mondrian(k=5)(table, roles), sf.LocalSuppression(k=5)(table, roles)):
        columns = release.to_arrow()
        mine = problem.read({name: columns[name].to_pylist() for name in made.columns})
        assert problem.iloss(mine) == pytest.approx(sf.iloss(release, roles).value)


def test_queries_are_answered_without_error_from_the_table_itself_and_not_from_nothing() -> None:
    problem = Problem(complete(TABLES["few"](600)))
    labels = {
        name: (problem.domains[name].code, np.eye(len(problem.domains[name]), dtype=bool))
        for name in problem.made.quasi
    }
    work = Workload(problem, queries=60, seed=1)
    assert work.error(problem.own(labels)) == 0
    nothing = {
        name: (np.zeros(problem.rows, dtype=int), np.ones((1, len(problem.domains[name])), dtype=bool))
        for name in labels
    }
    assert work.error(problem.own(nothing)) > 0.1


def test_codes_of_digits_have_an_order_and_names_have_none() -> None:
    assert Domain.of(["10", "9", None]).ordered
    assert not Domain.of(["010", "009"]).ordered
    assert not Domain.of(["a", "b"]).ordered


@pytest.mark.parametrize("name", ["few", "staff"])
def test_challengers_release_the_rows_they_were_given(name: str) -> None:
    problem = Problem(complete(TABLES[name](600 if name == "few" else 60)))
    titles = set()
    for title, release in challenge(problem, Workload(problem, queries=40, seed=2)):
        titles.add(title.split(" ")[0].strip(","))
        for column in problem.made.columns:
            code = problem.domains[column].code
            code = code if release.kept is None else code[release.kept]
            assert release.covers[column][release.label[column], code].all(), (title, column)
    assert titles == {"by", "levels", "cuts", "clusters"}
