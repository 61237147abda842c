"""`sfumato audit`: exit codes, the file of checks, JSON, and nothing of the table in what is printed."""

from __future__ import annotations

import pytest
from cli_house import House, Run

CHECKS = """
[[never]]
where = "age < 20"
[[aggregate]]
query = "count where town = 'Rome'"
value = 10
"""


def test_a_release_that_makes_sense(run: Run, house: House, canary: str) -> None:
    run("sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian", "--set", "k=4", "--out", house / "r.csv").fine()  # fmt: skip
    checks = house.text("audit.toml", CHECKS.replace("value = 10", "value = 10\ntolerance = 0.5"))
    found = run("audit", house / "r.csv", "--original", house.people, "--roles", house.roles, "--checks", checks).fine()
    assert "✓ All 40 rows are there. (exact)" in found.out
    assert "none fails" in found.out
    assert canary not in found.out
    json = (
        run("audit", house / "r.csv", "--original", house.people, "--roles", house.roles, "--checks", checks, "--json")
        .fine()
        .json
    )
    assert json["met"] is True
    assert [check["kind"] for check in json["checks"]][-2:] == ["never", "aggregate"]
    assert all(check["exactness"] in ("exact", "bound", "estimate") for check in json["checks"])


def test_a_release_that_does_not_exits_1_and_says_why(run: Run, house: House, canary: str) -> None:
    lines = house.people.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",")[1:] for line in lines]
    rows[1][0] = "12"
    rows[2][1] = f"{canary}?"
    broken = house.text("broken.csv", "\n".join(",".join(row) for row in rows) + "\n")
    checks = house.text("audit.toml", CHECKS)
    found = run("audit", broken, "--original", house.people, "--roles", house.roles, "--checks", checks)
    assert found.code == 1
    assert "✗ Values that the original does not have" in found.out
    assert "✗ Numbers out of the original's range: age (1 row)." in found.out
    assert "1 released row has it" in found.out
    assert canary not in found.out + found.err
    json = run("audit", broken, "--original", house.people, "--roles", house.roles, "--json")
    assert json.code == 1
    assert json.json["met"] is False
    assert run("audit", broken, "--original", house.people, "--roles", house.roles, "--share", "0.05").code == 0


@pytest.mark.parametrize(
    ("content", "word"),
    [("[[nevr]]\n", "never"), ('[[never]]\nwhere = "height > 2"\n', "names no column"), ("[[", "TOML")],
)
def test_checks_that_cannot_be_read(run: Run, house: House, content: str, word: str) -> None:
    checks = house.text("audit.toml", content)
    run("audit", house.people, "--original", house.people, "--roles", house.roles, "--checks", checks).refused(2, word)
