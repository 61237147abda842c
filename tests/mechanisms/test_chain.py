"""Chains: what the written file holds, read by a checker of its own, and what is refused."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.core import ladders
from sfumato.core.arrow import strings
from sfumato.core.column import encode
from sfumato.core.errors import InputError
from sfumato.report.package import write_package
from sfumato.study.candidate import Candidate
from sfumato.study.study_file import read_study

QUASI = ("age", "zip", "admitted", "sex")


def _people(folder: Path) -> tuple[Path, sf.Roles]:
    draw, path = random.Random(1), folder / "people.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", *QUASI, "diagnosis"])
        for i in range(600):
            day = f"{draw.randint(2019, 2023)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
            age = draw.choice([*range(18, 90)] * 2 + [91, 93, 95, 97] * 3)
            zip_code = draw.choice(["60601", "60614", "03601", "10001"])
            rows.writerow([f"n{i}", age, zip_code, day, draw.choice("FM"), draw.choice(["flu", "cold", "gout"])])
    roles = sf.Roles(
        identifiers=("name",),
        quasi=QUASI,
        sensitive=("diagnosis",),
        hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2, 3, 4]}, "admitted": {"dates": ["year"]}},
    )
    return path, roles


def _holds(label: str, value: str) -> bool:
    """Whether a label covers a value: written for this test alone."""
    if label.startswith("{"):
        return any(_holds(part.strip().strip('"'), value) for part in label[1:-1].split(", "))
    if label in ("*", value):
        return True
    if "*" in label:
        return len(label) == len(value) and all(a in ("*", b) for a, b in zip(label, value, strict=True))
    x = float(value[:4] if "-" in value else value)
    if label.endswith("+"):
        return x >= float(label[:-1])
    if label.startswith(">="):
        return x >= float(label[2:])
    if label.startswith("<"):
        return x < float(label[1:])
    if label.startswith("["):
        low, high = (float(end) for end in label[1:-1].split(","))
        return low <= x and (x <= high if label.endswith("]") else x < high)
    return x == float(label)


@pytest.mark.parametrize(
    "text",
    [
        "hipaa | mondrian k=11",
        "hipaa | k_member k=11",
        "mondrian k=3 | mondrian k=11",
        "top_bottom_coding top=60 | k_member k=11 loss=byun",
    ],
)
def test_the_written_file_keeps_k_and_covers_the_original(tmp_path: Path, text: str) -> None:
    path, roles = _people(tmp_path)
    made = Candidate.of(text).mechanism
    assert made is not None
    release = made(sf.read(path), roles)
    out = tmp_path / "out.csv"
    sf.publish(release, roles, list(made.promises), out)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 600
    assert "name" not in rows[0]
    assert min(Counter(tuple(row[q] for q in QUASI) for row in rows).values()) >= 11
    assert release.recoding is not None
    after = release.recoding.table.to_pylist()
    assert sum(entry["n"] for entry in after) == 600
    for entry in after:
        for name in QUASI:
            value = str(entry[f"by{release.recoding.by.index(name)}"])
            label = entry[f"to{release.recoding.to.index(name)}"]
            assert _holds(label, value), name
    assert 0 < sf.iloss(release, roles).value < 1
    assert [note.split(",")[0] for note in release.notes if note.startswith("Link")][-1] == "Link 2"


def test_python_and_text_make_the_same_chain() -> None:
    chain = sf.Hipaa() | sf.Mondrian(k=11)
    assert Candidate.by(chain).text == "hipaa | mondrian k=11"
    assert Candidate.of("hipaa | mondrian k=11").mechanism == chain
    assert [str(promise) for promise in chain.promises][-1] == "k_anonymity >= 11"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("anatomy l=2 | mondrian k=5", "anatomy"),
        ("mondrian k=5 | personalize", "personalize"),
        ("mondrian k=5 | ", "empty"),
        ("mondrian k=5 | local_noise bounds=age=0:99 epsilon=1", "put local_noise first"),
        ("dp_marginals columns=sex domains=sex=F epsilon=1 | mondrian k=5", "does not release whole rows"),
    ],
)
def test_a_chain_that_cannot_work_is_refused_before_any_work(refusal: Callable[..., str], text: str, word: str) -> None:
    refusal(InputError, lambda: Candidate.of(text), word)


def test_a_study_file_takes_a_chain_to_its_package(tmp_path: Path, refusal: Callable[..., str]) -> None:
    path, roles = _people(tmp_path)
    (tmp_path / "roles.toml").write_text(roles.toml(), encoding="utf-8")
    text = f'table = "{path.name}"\nroles = "roles.toml"\nrequire = ["k_anonymity >= 11"]\n[[candidate]]\n'
    file = tmp_path / "study.toml"
    file.write_text(text + 'mechanism = "hipaa | mondrian k=11"\n', encoding="utf-8")
    result = read_study(file).study.run(refine=0)
    assert result.points[0].failure is None
    made = write_package(result, tmp_path / "package")
    with (made.folder / "release.csv").open(newline="") as lines:
        classes = Counter(tuple(row[q] for q in QUASI) for row in csv.DictReader(lines))
    assert sum(classes.values()) == 600
    assert min(classes.values()) >= 11
    file.write_text(text + 'mechanism = "hipaa | mondrian"\nk = 11\n', encoding="utf-8")
    refusal(InputError, lambda: read_study(file), "parameters in its text")


def test_released_values_climb_where_all_they_cover_does() -> None:
    column, _ = encode("age", strings(["17", "[20,25)", "[18,22)", "90+", "*", "{30, 34}"]))
    levels = ladders.build(column, {"widths": [10]}).levels
    assert dict(zip(levels[0], levels[1], strict=True)) == {
        "17": "[10,20)",
        "[20,25)": "[20,30)",
        "[18,22)": "[18,22)",
        "90+": "90+",
        "*": "*",
        "{30, 34}": "[30,40)",
    }


def test_what_follows_differential_privacy_has_it_too_and_epsilons_add_up(tmp_path: Path) -> None:
    """Post-processing: the promise and its neighbours stay, the sum is spent, and nothing about the rows is told."""
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("age,size\n" + "".join(f"{20 + i % 60},{i % 9}\n" for i in range(600)), encoding="utf-8")
    noise = "local_noise bounds=age=20:80 epsilon=1 | local_noise bounds=size=0:8 epsilon=0.5 | top_bottom_coding columns=age top=60"
    chain = Candidate.of(noise).mechanism
    assert chain is not None
    assert chain.card.private
    roles = sf.Roles(quasi=("age", "size"))
    release = chain(sf.read(numbers), roles)
    assert release.neighbours is not None
    assert release.epsilon == Fraction(3, 2)
    assert release.perturbed == {"age", "size"}
    assert release.recoding is None
    register = sf.Register(tmp_path / "r.sqlite", epsilon=2)
    sf.publish(release, roles, [], tmp_path / "out.csv", register=register)
    assert register.spent == Fraction(3, 2)
    ages = [row["age"] for row in csv.DictReader((tmp_path / "out.csv").read_text("utf-8").splitlines())]
    assert max(int(age) for age in ages if not age.startswith(">=")) < 60
    assert any(age.startswith(">=") for age in ages)


def test_noise_on_several_columns_costs_each(tmp_path: Path) -> None:
    assert sf.LocalNoise(bounds="age=20:80, size=0:8", epsilon=0.5).cost == 1
    assert sf.DpSynthesis(epsilon=0.3).cost == Fraction(3, 10)


def _visits(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The same people, each with one to four visits, two in a flat."""
    path, roles = _people(folder)
    draw = random.Random(2)
    with path.open(newline="") as file:
        people = list(csv.DictReader(file))
    with (visits := folder / "visits.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, ["patient_id", "flat", *people[0]])
        rows.writeheader()
        for i, each in enumerate(people):
            for _ in range(draw.choice([1, 1, 2, 4])):
                day = f"{draw.randint(2019, 2023)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
                rows.writerow({**each, "patient_id": f"P{i}", "flat": f"F{i // 2}", "admitted": day})
    return visits, {field: getattr(roles, field) for field in ("quasi", "sensitive", "identifiers", "hierarchies")}


@pytest.mark.parametrize(("count", "key"), [("people", "patient_id"), ("households", "flat")])
@pytest.mark.parametrize(
    "last", ["mondrian k=7", "generalize_full_domain k=7 suppression=0.1", "local_suppression k=7"]
)
def test_a_chain_counts_people(tmp_path: Path, count: str, key: str, last: str) -> None:
    """What a link releases is handed on with whose each row is; the different people of each class are counted here by what its labels cover."""
    path, given = _visits(tmp_path)
    roles = sf.Roles(**given, person="patient_id", household="flat", people={"rows": "unlinked", "count": count})
    chain = Candidate.of(f"hipaa | {last}").mechanism
    assert chain is not None
    release = chain(sf.read(path), roles)
    sf.publish(release, roles, list(chain.promises), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        released = Counter(tuple(row[q] for q in QUASI) for row in csv.DictReader(file))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert 0.8 * len(rows) <= released.total() <= len(rows)
    for labels in released:
        covered = [
            row
            for row in rows
            if all(
                row[q] == label if label in "FM" else _holds(label, row[q])
                for label, q in zip(labels, QUASI, strict=True)
            )
        ]
        assert len({row[key] for row in covered}) >= 7  # as many could be meant at least;
    assert int(sf.k_anonymity(release, roles).value) >= 7  # and as many are: counted from the pairs
    assert not {"patient_id", "flat"} & {*release.table.columns}


def test_a_link_that_does_not_tell_whose_its_rows_are_is_refused(tmp_path: Path, refusal: Callable[..., str]) -> None:
    path, given = _visits(tmp_path)
    roles = sf.Roles(**given, person="patient_id", people={"rows": "unlinked"})
    refusal(
        InputError,
        lambda: (sf.RankSwapping(columns="age") | sf.Mondrian(k=7))(sf.read(path), roles),
        "count people",
    )


def test_a_chain_keeps_the_rows_of_a_person_joined(tmp_path: Path) -> None:
    """By numbers that are not those of the original, and the people of whom the file says the same are counted here."""
    path, given = _visits(tmp_path)
    roles = sf.Roles(**given, person="patient_id", people={"rows": "linked"})
    chain = sf.Hipaa() | sf.Mondrian(k=7)
    sf.publish(chain(sf.read(path), roles), roles, list(chain.promises), tmp_path / "out.csv")
    histories: dict[str, list[tuple[str, ...]]] = {}
    with (tmp_path / "out.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            histories.setdefault(row["patient_id"], []).append(tuple(row[q] for q in QUASI))
    assert min(Counter(tuple(sorted(rows)) for rows in histories.values()).values()) >= 7
    assert len(histories) > 500
    with path.open(newline="") as file:
        assert not {row["patient_id"] for row in csv.DictReader(file)} & {*histories}
    alone = sf.Hipaa()(sf.read(path), roles)
    assert sf.hipaa_rules(alone, roles).value == 0
    assert (
        sf.hipaa_rules(alone, sf.Roles(**given, person="patient_id")).value == 1
    )  # nobody says there that it is a fresh number
