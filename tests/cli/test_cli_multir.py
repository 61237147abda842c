"""A person table with its event tables, from files to releases that are verified together: every count is made again by pandas."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

K = 5
PEOPLE = 300


@pytest.fixture
def hospital(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of patients and their visits; some have none."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    pid = [f"P{i:04}" for i in range(PEOPLE)]
    who = np.repeat(np.arange(PEOPLE), rng.integers(0, 3, PEOPLE))
    patients = pd.DataFrame(
        {
            "pid": pid,
            "sex": rng.choice(["f", "m"], PEOPLE),
            "age": rng.integers(20, 80, PEOPLE),
            "zip": rng.choice(["1011", "1012", "2011", "2013"], PEOPLE),
        }
    )
    visits = pd.DataFrame(
        {
            "pid": np.array(pid)[who],
            "ward": rng.choice(["surgery", "medicine"], len(who)),
            "month": rng.integers(1, 13, len(who)),
            "dx": rng.choice(list("abcd"), len(who)),
        }
    )
    for name, frame in (("patients", patients), ("visits", visits)):
        frame.to_csv(f"{name}.csv", index=False)
    with duckdb.connect("hospital.duckdb") as base:
        base.execute("CREATE TABLE patients AS SELECT * FROM patients")
        base.execute("CREATE TABLE visits AS SELECT * FROM visits")
    return tmp_path


def roles(path: str, quasi: list[str], sensitive: list[str], more: str = "") -> str:
    Path(path).write_text(
        f'[roles]\nperson = "pid"\nquasi = {quasi}\nsensitive = {sensitive}\n[people]\nrows = "linked"\n{more}\n[hierarchies]\n'
        "zip = { prefix = [1, 2, 3] }\nage = { widths = [10, 20] }\nmonth = { widths = [3, 6] }\n".replace("'", '"'),
        encoding="utf-8",
    )
    return path


def fewest_alike(*tables: tuple[str, list[str]]) -> int:
    """The fewest people of whom all files say the same: in each, the multiset of what their rows hold."""
    said: dict[str, list[object]] = {}
    frames = [pd.read_csv(path, dtype=str, keep_default_na=False) for path, _ in tables]
    for person in {person for frame in frames for person in frame["pid"]}:
        said[person] = [
            tuple(sorted(Counter(map(tuple, frame.loc[frame["pid"] == person, names].to_numpy().tolist())).items()))
            for frame, (_, names) in zip(frames, tables, strict=True)
        ]
    return min(Counter(map(tuple, said.values())).values())


@pytest.mark.usefixtures("hospital")
def test_joined_sanitized_and_divided_again(run) -> None:
    """One pass over both tables: what is constant of a person stays one value, so the release can be divided into a table of each kind."""
    roles("roles.toml", ["sex", "age", "zip", "ward", "month"], ["dx"])
    query = "SELECT * FROM patients LEFT JOIN visits USING (pid)"
    how = ("--query", query, "--roles", "roles.toml", "--mechanism", f"mondrian k={K}", "--out", "linked.csv")
    run("sanitize", "hospital.duckdb", *how, "--require", f"multir_anonymity >= {K}").fine()
    run("verify", "linked.csv", "--roles", "roles.toml", "--require", f"multir_anonymity >= {K}").fine()
    linked = pd.read_csv("linked.csv", dtype=str, keep_default_na=False)
    assert not set(linked["pid"]) & set(pd.read_csv("patients.csv")["pid"])
    people = linked[["pid", "sex", "age", "zip"]].drop_duplicates()
    assert people["pid"].is_unique
    assert 0.8 * PEOPLE < len(people) <= PEOPLE
    people.to_csv("patients_released.csv", index=False)
    linked[linked["ward"] != ""][["pid", "ward", "month", "dx"]].to_csv("visits_released.csv", index=False)
    counted = fewest_alike(("patients_released.csv", ["sex", "age", "zip"]), ("visits_released.csv", ["ward", "month"]))
    assert counted >= K
    told = run(
        "measure", "patients_released.csv", "--roles", "roles.toml", "--related", "visits_released.csv", "--metric", "multir_anonymity", "--json"
    ).fine()  # fmt: skip
    assert f'"value": {counted}' in told.out


@pytest.mark.usefixtures("hospital")
def test_released_one_by_one_under_a_key(run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table has its own release, joined by keyed pseudonyms; the second is written only if both together keep the limit."""
    monkeypatch.setenv("HOSPITAL_KEY", "a key of the hospital, long enough")
    key = 'pseudonyms = "env:HOSPITAL_KEY"'
    roles("patients.toml", ["sex"], [], key)
    roles("coarse.toml", ["sex", "ward"], ["dx"], key)
    roles("fine.toml", ["sex", "ward", "month"], ["dx"], key)

    def sanitize(table: str, given: str, *more: str):
        return run(
            "sanitize",
            table,
            "--roles",
            given,
            "--mechanism",
            "generalize_to_levels",
            "--set",
            f"k={K}",
            "--set",
            "levels=sex=0",
            *more,
        )

    sanitize("patients.csv", "patients.toml", "--out", "patients_released.csv").fine()
    together = ("--related", "patients_released.csv", "--require", f"multir_anonymity >= {K}")
    coarse = ("--roles", "coarse.toml", "--mechanism", f"generalize_full_domain k={K} suppression=0.1")
    refused = run(
        "sanitize", "visits.csv", "--roles", "fine.toml", "--mechanism", f"mondrian k={K}", "--out", "no.csv", *together
    )
    assert refused.code == 1, refused.err
    assert "multir_anonymity >= 5: not met" in refused.err
    assert not Path("no.csv").exists()
    run("sanitize", "visits.csv", *coarse, "--out", "visits_released.csv", *together).fine()
    assert fewest_alike(("patients_released.csv", ["sex"]), ("visits_released.csv", ["ward"])) >= K
