"""The roles file: read, refused with a sentence, written and read back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.core.column import encode
from sfumato.core.errors import InputError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.roles import Roles

FULL = """
[roles]
identifiers = ["name"]
quasi = ["age", "zip code", "birth"]
sensitive = ["salary"]
insensitive = ["hobby"]
person = "id"

[hierarchies]
age = { widths = [5, 10, 20], origin = 1 }
"zip code" = { prefix = [1, 2] }
birth = "birth.csv"

[orders]
salary = ["low", "high"]

[weights]
age = 2
birth = 0.5
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def make(text: str) -> Path:
        path = tmp_path / "roles.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def test_everything_is_read(write: Callable[[str], Path], tmp_path: Path) -> None:
    roles = Roles.read(write(FULL))
    assert roles.identifiers == ("name",)
    assert roles.quasi == ("age", "zip code", "birth")
    assert roles.sensitive == ("salary",)
    assert roles.insensitive == ("hobby",)
    assert roles.person == "id"
    assert roles.hierarchies["age"] == {"widths": [5, 10, 20], "origin": 1}
    assert roles.orders == {"salary": ("low", "high")}
    assert roles.weights == {"age": 2, "birth": 0.5}
    assert (roles.source, roles.folder) == (str(tmp_path / "roles.toml"), tmp_path)
    assert Roles.read(str(tmp_path / "roles.toml")) == roles


def test_one_name_need_not_stand_in_a_list(write: Callable[[str], Path]) -> None:
    assert Roles.read(write('[roles]\nquasi = "age"\n')).quasi == ("age",)


def test_lists_become_tuples_in_python() -> None:
    assert Roles(quasi=["a", "b"]).quasi == ("a", "b")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["[roles]"]),
        ("roles = 3\n", ["[roles]"]),
        ("[role]\nquasi = []\n", ["'role'", "'roles'"]),
        ('[roles]\nqasi = ["a"]\n', ["'qasi'", "'quasi'"]),
        ('[roles]\nelephants = ["a"]\n', ["'elephants'", "sensitive"]),
        ('[roles]\nquasi = ["a", "a"]\n', ["'a'", "twice"]),
        ('[roles]\nquasi = ["a"]\nsensitive = ["a"]\n', ["'a'", "quasi and sensitive"]),
        ('[roles]\nidentifiers = ["a"]\ninsensitive = ["a"]\n', ["'a'", "identifiers and insensitive"]),
        ("[roles]\nquasi = 3\n", ["quasi"]),
        ("[roles]\nquasi = [3]\n", ["quasi"]),
        ('[roles]\nperson = ["a"]\n', ["person"]),
        ("[roles]\n[hierarchies]\na = 3\n", ["hierarchies", "a"]),
        ("[roles]\n[hierarchies]\na = { width = [3] }\n", ["'width'", "'widths'"]),
        ("[roles]\n[weights]\na = -1\n", ["weights", "a"]),
        ('[roles]\n[weights]\na = "heavy"\n', ["weights", "a"]),
        ("[roles]\n[weights]\na = true\n", ["weights", "a"]),
        ("[roles]\n[weights]\na = nan\n", ["weights", "a"]),
        ("[roles\n", ["TOML"]),
        ("[roles]\nquasi = [\n", ["TOML"]),
        # a section that is no table, an order that is no list
        ("hierarchies = 3\n[roles]\n", ["hierarchies"]),
        ('orders = ["a"]\n[roles]\n', ["orders"]),
        ("weights = 3\n[roles]\n", ["weights"]),
        ("[roles]\n[orders]\na = 5\n", ["orders", "a"]),
        ('[roles]\n[orders]\na = "low"\n', ["orders", "a"]),
    ],
)
def test_what_cannot_be_used_is_refused(
    write: Callable[[str], Path], refusal: Callable[..., str], text: str, names: list[str]
) -> None:
    path = write(text)
    refusal(InputError, lambda: Roles.read(path), path, *names)


def test_a_missing_file_a_folder_and_another_encoding(tmp_path: Path, refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: Roles.read(tmp_path / "none.toml"), tmp_path / "none.toml", "--write-roles")
    refusal(InputError, lambda: Roles.read(tmp_path), tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes("[roles]\nquasi = ['né']\n".encode("latin-1"))
    refusal(InputError, lambda: Roles.read(latin), latin)


ROLES = [
    Roles(),
    Roles(quasi=("age",), sensitive=("salary",)),
    Roles(
        identifiers=("full name", 'the "quoted"', "back\\slash", "tab\there", "new\nline", "bell\x07", "del\x7f"),
        quasi=("naïve", "中文", "a.b", "a-b_c", "select", "", "#hash", "[x]", "1"),
        sensitive=("e=mc²",),
        insensitive=("🙂",),
        person='the "id"',
        hierarchies={"naïve": "a file.csv", "a.b": {"widths": [5, 10], "origin": 0.5}, "中文": {"file": "x.csv", "unknown": "*"}},
        orders={"e=mc²": ("low", 'mid "x"', "high")},
        weights={"naïve": 2.0, "a.b": 0, "": 1e-7},
    ),
]  # fmt: skip


@pytest.mark.parametrize("roles", ROLES, ids=["none", "two", "odd"])
def test_toml_reads_back(tmp_path: Path, roles: Roles) -> None:
    path = tmp_path / "roles.toml"
    path.write_text(roles.toml(), encoding="utf-8", newline="")
    back = Roles.read(path)
    for name in ("identifiers", "quasi", "sensitive", "insensitive", "person", "hierarchies", "orders", "weights"):
        assert getattr(back, name) == getattr(roles, name), name
    assert back.toml() == roles.toml()


def test_comments_stand_behind_their_columns(tmp_path: Path) -> None:
    roles = Roles(quasi=("age", "sex"), sensitive=("salary",))
    text = roles.toml({"age": "74 values", "salary": "asked of nobody"})
    lines = text.splitlines()
    assert any("age" in line and line.endswith("# 74 values") for line in lines)
    assert any("salary" in line and line.endswith("# asked of nobody") for line in lines)
    (tmp_path / "roles.toml").write_text(text, encoding="utf-8")
    assert Roles.read(tmp_path / "roles.toml").quasi == ("age", "sex")


def test_a_column_that_the_table_lacks(refusal: Callable[..., str]) -> None:
    roles = Roles(quasi=("agee", "sex"), sensitive=("salary",), source="my roles")
    refusal(InputError, lambda: roles.check(("age", "sex", "salary"), where="people.csv"), "people.csv", "'agee'", "'age'", "my roles")  # fmt: skip
    refusal(InputError, lambda: roles.check(("agee", "sex"), where="people.csv"), "'salary'", "sensitive")
    roles.check(("agee", "sex"), where="people.csv", need=("quasi",))


# --- where hierarchies come from -------------------------------------------------------------------------------------


def column(name: str, values: list[Any]) -> Any:
    return encode(name, pa.array(values))[0]


def test_a_rule_is_built_over_the_values(write: Callable[[str], Path]) -> None:
    roles = Roles.read(write(FULL))
    age = roles.hierarchy(column("age", [1, 6, 23, None]))
    assert age is not None
    assert age.levels[:2] == (("1", "6", "23"), ("[1,6)", "[6,11)", "[21,26)"))
    assert roles.taxonomy("age") is None
    assert roles.hierarchy(column("salary", ["low"])) is None


def test_a_file_is_found_beside_the_roles_file(write: Callable[[str], Path], tmp_path: Path) -> None:
    roles = Roles.read(write(FULL))
    (tmp_path / "birth.csv").write_text("NL;Europe;*\nUS;America;*\n", encoding="utf-8")
    fitted = roles.hierarchy(column("birth", ["US"]))
    assert fitted is not None
    assert fitted.levels == (("US",), ("America",), ("*",))
    taxonomy = roles.taxonomy("birth")
    assert taxonomy is not None
    assert taxonomy.levels[0] == ("NL", "US")


def test_a_hierarchy_file_that_is_not_there(
    write: Callable[[str], Path], tmp_path: Path, refusal: Callable[..., str]
) -> None:
    roles = Roles.read(write(FULL))
    refusal(InputError, lambda: roles.hierarchy(column("birth", ["US"])), tmp_path / "birth.csv", "'birth'")


def test_values_without_a_line(tmp_path: Path, refusal: Callable[..., str], canary: str) -> None:
    (tmp_path / "h.csv").write_text("a;x;*\n", encoding="utf-8")
    strict = Roles(hierarchies={"c": "h.csv"}, folder=tmp_path)
    refusal(InputError, lambda: strict.hierarchy(column("c", ["a", canary])), tmp_path / "h.csv", "'c'", "unknown")
    lenient = Roles(hierarchies={"c": {"file": "h.csv", "unknown": "*"}}, folder=tmp_path)
    fitted = lenient.hierarchy(column("c", ["a", "z"]))
    assert fitted is not None
    assert fitted.levels == (("a", "z"), ("x", "*"), ("*", "*"))


def test_a_hierarchy_object() -> None:
    given = Hierarchy.of("c", [("a", "x", "*"), ("b", "x", "*")])
    roles = Roles(hierarchies={"c": given})
    assert roles.taxonomy("c") is given
    fitted = roles.hierarchy(column("c", ["b"]))
    assert fitted is not None
    assert fitted.levels == (("b",), ("x",), ("*",))


def test_a_hierarchy_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "birth.csv").write_text("1980;80s;*\n1991;90s;*\n", encoding="utf-8")
    (tmp_path / "roles.toml").write_text(
        '[roles]\nquasi = ["birth"]\n[hierarchies]\nbirth = "birth.csv"\n', encoding="utf-8"
    )
    roles = Roles.read(tmp_path / "roles.toml")
    taxonomy = roles.taxonomy("birth")
    assert taxonomy is not None
    (tmp_path / "birth.csv").unlink()
    assert roles.taxonomy("birth") is taxonomy
    with pytest.raises(InputError, match="no such hierarchy file"):
        Roles.read(tmp_path / "roles.toml").taxonomy("birth")
