"""`sfumato measure`: the shape that scripts read, metrics keyed as they are written, and what cannot be asked."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from cli_house import House, Outcome, Run

import sfumato as sf
from sfumato.metrics import metric, registry

RELEASE = """age,town,ill,salary
[20-29],*,flu,3
[20-29],*,cold,4
[20-29],*,flu,5
[30-39],Rome,flu,6
[30-39],Rome,flu,11
[30-39],Rome,cold,8
[40-49],,ulcer,7
[40-49],,flu,9
[40-49],,cold,10
"""
ORIGINAL = """age,town,ill,salary
20,Rome,flu,3
21,Oslo,cold,4
29,Rome,flu,5
30,Rome,flu,6
31,Rome,flu,11
39,Rome,cold,8
40,,ulcer,7
41,,flu,9
49,,cold,10
"""
ROLES = '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill", "salary"]\n'


@pytest.fixture
def nine(house: House) -> House:
    house.text("release.csv", RELEASE)
    house.text("original.csv", ORIGINAL)
    house.text("nine.toml", ROLES)
    return house


def measure(run: Run, house: House, *more: object) -> Outcome:
    return run("measure", house / "release.csv", "--roles", house / "nine.toml", *more)


def test_the_shape_of_json(run: Run, nine: House) -> None:
    found = measure(run, nine, "--json", "--original", nine / "original.csv").fine()
    content = found.json
    assert found.err == ""
    assert content["release"] == str(nine / "release.csv")
    assert content["rows"] == 9
    assert content["scores"]["k_anonymity"]["value"] == 3
    assert isinstance(content["scores"]["k_anonymity"]["value"], int)  # 3, not 3.0
    for name, score in content["scores"].items():
        assert str(metric(name)) == name
        assert score["value"] is None or isinstance(score["value"], int | float)  # null: without bound
        assert score["exactness"] in ("exact", "bound", "estimate")
        assert score["unit"]
        assert score["sentence"].endswith(".")
    told = {name.split("[")[0].split("(")[0] for name in (*content["scores"], *content["skipped"])}
    assert told == set(registry()), "every metric is measured, or its absence is explained"
    assert {"k_anonymity", "iloss", "t_closeness[equal]", "t_closeness[ordered](salary)"} <= content["scores"].keys()
    assert {"minimal_distortion", "k_map"} <= content["skipped"].keys()


def test_values_against_plain_python(run: Run, nine: House) -> None:
    with (nine / "release.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        groups[row["age"], row["town"]].append(row["ill"])
    total = Counter(row["ill"] for row in rows)

    def emd(values: list[str]) -> float:
        return sum(abs(values.count(v) / len(values) - n / len(rows)) for v, n in total.items()) / 2

    scores = measure(run, nine, "--json").fine().json["scores"]
    assert scores["k_anonymity"]["value"] == min(map(len, groups.values()))
    assert scores["prosecutor_risk"]["value"] == pytest.approx(1 / min(map(len, groups.values())))
    assert scores["marketer_risk"]["value"] == pytest.approx(len(groups) / len(rows))
    assert scores["distinct_l_diversity(ill)"]["value"] == min(len(set(g)) for g in groups.values())
    assert scores["t_closeness[equal](ill)"]["value"] == pytest.approx(max(map(emd, groups.values())))
    assert scores["discernibility"]["value"] == sum(len(g) ** 2 for g in groups.values())
    assert scores["average_class_size"]["value"] == len(rows) / len(groups)


@pytest.mark.parametrize(
    "name",
    [
        "k_anonymity",
        "t_closeness[ordered](salary)",
        "t_closeness[equal](ill)",
        "entropy_l_diversity(ill)",
        "journalist_risk",
    ],
)
def test_a_metric_is_keyed_as_it_was_asked_for(run: Run, nine: House, name: str) -> None:
    content = measure(run, nine, "--json", "--metric", name).fine().json
    assert list(content["scores"]) == [name]
    assert content["skipped"] == {}


def test_several_metrics(run: Run, nine: House) -> None:
    asked = ["prosecutor_risk", "t_closeness[ordered](salary)", "k_anonymity"]
    options = [word for name in asked for word in ("--metric", name)]
    assert list(measure(run, nine, "--json", *options).fine().json["scores"]) == asked


def test_the_worst_of_several_sensitive_columns_counts(run: Run, nine: House) -> None:
    scores = measure(run, nine, "--json").fine().json["scores"]
    both = [scores[f"distinct_l_diversity({column})"]["value"] for column in ("ill", "salary")]
    assert scores["distinct_l_diversity"]["value"] == min(both)
    both = [scores[f"t_closeness[equal]({column})"]["value"] for column in ("ill", "salary")]
    assert scores["t_closeness[equal]"]["value"] == max(both)


def test_a_table_for_people_has_every_sentence(run: Run, nine: House) -> None:
    found = measure(run, nine, "--all", "--original", nine / "original.csv").fine()
    words = " ".join(found.out.split())
    assert "Who can be found" in words
    assert "What it is worth" in words
    assert "Not measured" in words
    assert "k_anonymity 3 rows" in words


def test_ten_metrics_are_printed_unless_all_are_wanted(run: Run, nine: House) -> None:
    both = measure(run, nine, "--original", nine / "original.csv").fine().out
    alone = measure(run, nine).fine().out
    every = measure(run, nine, "--all").fine().out
    printed = [
        {re.split(r"[\[( ]", line)[0] for line in text.splitlines()} & set(registry()) for text in (both, alone, every)
    ]
    assert len(printed[0]) == 10
    assert printed[1] < printed[0], "without the original, nothing that compares with it"
    assert len(printed[2]) > 30
    assert "--all" in both
    assert "Not measured: iloss" in alone
    words = " ".join(both.split())
    assert "k_anonymity 3 rows" in words


def test_rows_are_paired_if_asked(run: Run, nine: House) -> None:
    content = measure(run, nine, "--json", "--original", nine / "original.csv", "--pair", "position").fine().json
    # nine ages are coarser, three towns too
    assert content["scores"]["minimal_distortion"]["value"] == pytest.approx(12 / 18)


def test_rows_are_paired_by_a_key(run: Run, nine: House) -> None:
    with (nine / "original.csv").open(newline="") as file:
        lines = file.read().splitlines()
    nine.text("original.csv", "\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    arguments = (
        "--json",
        "--original",
        nine / "original.csv",
        "--pair",
        "key:salary",
        "--metric",
        "minimal_distortion",
    )
    assert measure(run, nine, *arguments).fine().json["scores"]["minimal_distortion"]["value"] == pytest.approx(12 / 18)


def test_a_population_makes_the_journalist_s_risk_exact(run: Run, nine: House) -> None:
    bound = measure(run, nine, "--json", "--metric", "journalist_risk").fine().json["scores"]["journalist_risk"]
    assert (bound["value"], bound["exactness"]) == (pytest.approx(1 / 3), "bound")
    people = "age,town\n" + "".join(f"{age},Rome\n" for age in range(20, 50)) + ",\n45,\n46,\n47,\n48,\n"
    nine.text("population.csv", people)
    more = ("--json", "--metric", "journalist_risk", "--population", nine / "population.csv")
    exact = measure(run, nine, *more).fine().json["scores"]["journalist_risk"]
    assert (exact["value"], exact["exactness"]) == (pytest.approx(1 / 4), "exact")  # four of no town in their forties


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--metric", "k_anonimity"], ["No metric 'k_anonimity'", "did you mean 'k_anonymity'?"]),
        (["--metric", "zzz"], ["No metric 'zzz'", "k_anonymity"]),
        (["--metric", "k_anonymity >= 5"], ["is a requirement"]),
        (["--metric", "iloss"], ["iloss needs the original", "--original"]),
        (["--metric", "t_closeness[ordered](ill)"], ["order of the values of 'ill'"]),
        (["--metric", "t_closeness[equal](town)"], ["'town' is a quasi-identifier"]),
        (["--metric", "t_closeness[equal](nowhere)"], ["'nowhere'"]),
        (["--metric", "minimal_distortion"], ["--pair"]),
        (["--pair", "sideways"], ["Pairing 'sideways'", "position"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_asked(run: Run, nine: House, more: list[str], words: list[str]) -> None:
    measure(run, nine, *more).refused(2, *words)


def test_a_release_of_another_length_cannot_be_paired_by_position(run: Run, nine: House) -> None:
    nine.text("original.csv", ORIGINAL.rsplit("\n", 2)[0] + "\n")
    more = ("--original", nine / "original.csv", "--pair", "position", "--metric", "minimal_distortion")
    measure(run, nine, *more).refused(2, "9 rows", "8")


def test_our_own_release_measures_as_its_mechanism_said(run: Run, house: House) -> None:
    """The file alone gives the numbers that the release in memory has."""
    roles = sf.Roles.read(house.roles)
    table = sf.read(house.people)
    release = sf.Mondrian(k=4)(table, roles)
    release.table.write(house / "out.csv")
    content = (
        run("measure", house / "out.csv", "--roles", house.roles, "--original", house.people, "--json").fine().json
    )
    for name, (found, score) in sf.measure(release, roles)[0].items():
        if "pairs" not in found.card.needs:  # which the file alone does not tell
            said = content["scores"][name]["value"]
            assert said == pytest.approx(score.value) if math.isfinite(score.value) else said is None, name


def test_one_symbol_measures_average_to_the_information(run: Run, nine: House) -> None:
    """Bezzi: weighted by class size, I1 averages to I(W;C), so its worst class is at least that."""
    scores = measure(run, nine, "--json").fine().json["scores"]
    assert scores["one_symbol_i1(ill)"]["value"] >= scores["mutual_information(ill)"]["value"] - 1e-12
    entropy = -sum(p * math.log2(p) for p in (5 / 9, 3 / 9, 1 / 9))
    assert scores["mutual_information(ill)"]["value"] <= entropy


def test_explain_tells_the_card_of_every_metric(run: Run) -> None:
    listed = run("explain").fine().out
    for name, found in registry().items():
        assert name in listed
        card = run("explain", name, "--json").fine().json
        assert card["name"] == name
        assert card["better"] == found.card.better
        assert card["asks"] == found.card.question
        assert card["source"] == found.card.source
    assert {card["name"] for card in run("explain", "--json").fine().json["metrics"]} == set(registry())
    run("explain", "k_anonimity").refused(2, "did you mean 'k_anonymity'?")


def test_mechanisms_tells_the_card_of_every_sanitizer(run: Run) -> None:
    listed, text = run("mechanisms").fine().out, run("mechanisms", "mondrian").fine().out
    assert run("explain", "mondrian").fine().out == text
    (card,) = [c for c in run("mechanisms", "--json").fine().json["mechanisms"] if c["name"] == "mondrian"]
    assert run("mechanisms", "mondrian", "--json").fine().json == card
    assert "mondrian  " in listed
    assert card["title"] in listed
    assert card["promise"] in text
    for parameter in card["parameters"]:
        assert f"--set {parameter}=" in text


def test_the_release_is_untouched(run: Run, nine: House) -> None:
    before = {path.name: path.read_bytes() for path in Path(nine.folder).iterdir()}
    measure(run, nine, "--original", nine / "original.csv").fine()
    assert {path.name: path.read_bytes() for path in Path(nine.folder).iterdir()} == before
