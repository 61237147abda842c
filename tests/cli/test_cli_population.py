"""`sanitize --population`: steering by whom of a population the classes cover."""

from __future__ import annotations

from pathlib import Path

from cli_house import Run


def test_sanitize_steers_by_a_population(run: Run, tmp_path: Path) -> None:
    people = [f"{20 + i % 40},{'fm'[i % 2]},{'xyz'[i % 3]}" for i in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,ill", *people]) + "\n")
    (tmp_path / "sample.csv").write_text("\n".join(["age,sex,ill", *people[::7]]) + "\n")
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age", "sex"]\nsensitive = ["ill"]\n')
    out = tmp_path / "release.csv"
    verb = ["sanitize", str(tmp_path / "sample.csv"), "--roles", str(tmp_path / "roles.toml")]
    verb += ["--mechanism", "mondrian", "--require", "k_map >= 12", "--out", str(out)]

    alone = run(*verb)
    assert alone.code == 2
    assert "--population" in alone.err
    assert not out.exists()

    against = run(*verb, "--population", str(tmp_path / "people.csv"))
    assert against.code == 0, against.err
    assert "k_map >= 12: met" in against.out
    assert "against a population of 400 people" in against.out
