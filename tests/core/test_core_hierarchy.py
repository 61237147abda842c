"""Hierarchies: ARX's format, nesting, values without a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.core.errors import InputError
from sfumato.core.hierarchy import Hierarchy

ARX = "Bachelors;Undergraduate;Higher;*\nMasters;Graduate;Higher;*\n11th;High School;Secondary;*\n"


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Hierarchy]:
    def make(text: str | bytes) -> Hierarchy:
        path = tmp_path / "h.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Hierarchy.read("education", path)

    return make


def test_arx_s_format(read: Callable[..., Hierarchy]) -> None:
    hierarchy = read(ARX)
    assert hierarchy.levels == (
        ("Bachelors", "Masters", "11th"),
        ("Undergraduate", "Graduate", "High School"),
        ("Higher", "Higher", "Secondary"),
        ("*", "*", "*"),
    )
    assert hierarchy.height == 3
    assert hierarchy.leaves["Higher"] == 2
    assert hierarchy.leaves["*"] == 3
    assert hierarchy.under("Higher") == {"Bachelors", "Masters"}
    assert hierarchy.under("11th") == {"11th"}
    assert hierarchy.under("nowhere") == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        ARX.replace(";", ","),
        ARX.replace(";", "\t"),
        ARX.replace("\n", "\r\n"),
        "\ufeff" + ARX,
        ARX.rstrip("\n"),
        "\n" + ARX + "\n\n",
        ARX.replace(";*", ""),
    ],
    ids=["comma", "tab", "crlf", "bom", "no last newline", "blank lines", "no *"],
)
def test_other_ways_to_write_the_same(read: Callable[..., Hierarchy], text: str) -> None:
    assert read(text).levels == read(ARX).levels


def test_only_values_and_nothing_above(read: Callable[..., Hierarchy]) -> None:
    assert read("a\nb\n").levels == (("a", "b"), ("*", "*"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{v};x;p;*\nb;x;q;*\n", 2),
        ("a;x;p;*\nb;y;p;*\n{v};x;q;*\n", 3),
        ("a;x;*\n{v};x;y\n", 2),
        ("a;x;p;*\n\n\n{v};x;q;*\n", 4),
        ("a;x;*\n{v}\n", 2),
        ("a;x;*\n\n{v};x;y;*\n", 3),
        ("{v};x;*\nb;x;*\n{v};x;*\n", 3),
        ("\n{v};x;*\n{v};x;*\n", 3),
    ],
    ids=["not nested", "not nested, later", "two tops", "not nested behind blank lines", "short", "long behind a blank line", "twice", "twice behind a blank line"],
)  # fmt: skip
def test_the_line_is_named(
    read: Callable[..., Hierarchy], refusal: Callable[..., str], canary: str, tmp_path: Path, text: str, line: int
) -> None:
    refusal(InputError, lambda: read(text.format(v=canary)), f"{tmp_path / 'h.csv'}, line {line}:")


@pytest.mark.parametrize("text", ["", "\n\n", ";;\n"])
def test_an_empty_file(read: Callable[..., Hierarchy], refusal: Callable[..., str], tmp_path: Path, text: str) -> None:
    refusal(InputError, lambda: read(text), tmp_path / "h.csv", "'education'", "empty")


def test_another_encoding_a_folder_no_file(
    read: Callable[..., Hierarchy], refusal: Callable[..., str], tmp_path: Path
) -> None:
    refusal(InputError, lambda: read("né;*\n".encode("latin-1")), tmp_path / "h.csv", "UTF-8")
    refusal(InputError, lambda: Hierarchy.read("c", tmp_path), tmp_path)
    refusal(InputError, lambda: Hierarchy.read("c", tmp_path / "none.csv"), tmp_path / "none.csv", "'c'")


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b"],
        ["semi;colon", "com,ma", 'quo"te', "tab\there", " edge ", "ünï", "中"],
        ["[20,30)", "<5", "{a, b}", "47***"],
        ["two\nlines", "b"],
        ["carriage\rreturn", "b"],
        ["line\u2028separator", "next\x85line", "form\x0cfeed"],
    ],
    ids=["plain", "punctuation", "labels", "newline", "return", "separators"],
)
def test_write_and_read_back(tmp_path: Path, values: list[str]) -> None:
    hierarchy = Hierarchy.of("c", [(v, f"group {i // 2}", "*") for i, v in enumerate(values)])
    hierarchy.write(tmp_path / "out.csv")
    assert Hierarchy.read("c", tmp_path / "out.csv").levels == hierarchy.levels


# --- fit -------------------------------------------------------------------------------------------------------------


def test_fit_keeps_the_order_of_the_values() -> None:
    hierarchy = Hierarchy.of("c", [("a", "x"), ("b", "x"), ("c", "y")])
    assert hierarchy.fit(["c", "a", None]).levels == (("c", "a"), ("y", "x"), ("*", "*"))


def test_fit_refuses_values_without_a_line(refusal: Callable[..., str], canary: str) -> None:
    hierarchy = Hierarchy.of("c", [("a", "x")], source="h.csv")
    refusal(InputError, lambda: hierarchy.fit(["a", canary, "other"]), "h.csv", "2 of the values", "'c'")


def test_fit_sends_values_without_a_line_to_the_top() -> None:
    hierarchy = Hierarchy.of("c", [("a", "x", "p"), ("b", "y", "q")])
    assert hierarchy.fit(["new", "b"], unknown="*").levels == (("new", "b"), ("*", "y"), ("*", "q"), ("*", "*"))


def test_a_last_level_of_one_label_is_the_top_and_gets_no_second_one() -> None:
    hierarchy = Hierarchy.of("c", [("a", "x", "any"), ("b", "x", "any"), ("d", "y", "any")])
    assert hierarchy.levels == (("a", "b", "d"), ("x", "x", "y"), ("*", "*", "*"))
    assert hierarchy.under("any") == hierarchy.under("*") == {"a", "b", "d"}
    assert hierarchy.fit(["a", "any", "*"]).levels[-1] == ("*", "*", "*")  # a release from elsewhere may have the label
    assert Hierarchy.of("c", [("a", "x", "*"), ("d", "y", "*")]).height == 2
    assert Hierarchy.of("c", [("a", "x"), ("d", "y")]).height == 2


def test_fit_of_a_column_that_is_all_missing(refusal: Callable[..., str]) -> None:
    """A quasi-identifier without a single value has a taxonomy all the same: it must not crash."""
    hierarchy = Hierarchy.of("c", [("a", "x")])
    try:
        fitted = hierarchy.fit([None])
    except InputError:
        return  # a clear refusal is one way
    assert fitted.height == hierarchy.height


def test_codes_number_the_labels_of_each_level() -> None:
    hierarchy = Hierarchy.of("c", [("b", "x"), ("a", "y"), ("d", "x")])
    codes = [level.tolist() for level in hierarchy.codes()]
    assert codes == [[1, 0, 2], [0, 1, 0], [0, 0, 0]]


def test_a_label_used_at_several_levels_counts_its_largest_group() -> None:
    hierarchy = Hierarchy.of("c", [("x", "x", "*"), ("y", "x", "*"), ("z", "w", "*")])
    assert hierarchy.leaves["x"] == 2
    assert hierarchy.under("x") == {"x", "y"}


def test_an_empty_label_is_refused_and_a_line_for_missing_is_left_out() -> None:
    with pytest.raises(InputError, match="line 1: level 1 is empty"):
        Hierarchy.of("job", [["a", "", "*"], ["b", "x", "*"]])
    assert Hierarchy.of("job", [["", "x", "*"], ["b", "x", "*"]]).levels[0] == ("b",)
