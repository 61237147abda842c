import pytest

from sfumato.core.errors import InputError
from sfumato.publishing.waivers import check_waivers, read_waivers


def test_a_waiver_is_a_column_and_a_reason() -> None:
    assert read_waivers(["weight: the office publishes it", "b: c: d"], ["weight", "b"]) == {
        "weight": "the office publishes it",
        "b": "c: d",
    }


def test_a_name_with_colons_is_found_by_the_columns() -> None:
    assert read_waivers(["a:b: why"], ["a", "a:b"]) == {"a:b": "why"}


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["weight"], "write 'COLUMN: reason'"),
        (["weight:  "], "say why"),
        (["wieght: x"], "did you mean 'weight'"),
        (["weight: x", "weight: y"], "already"),
    ],
)
def test_what_is_no_waiver_is_said(texts: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_waivers(texts, ["weight", "age"])


def test_a_table_of_waivers_is_checked() -> None:
    assert check_waivers({"weight": " a \n b "}, ["weight"], where="study.toml, [waive]") == {"weight": "a b"}
    with pytest.raises(InputError, match="one line a column"):
        check_waivers(["weight"], ["weight"], where="study.toml, [waive]")
    with pytest.raises(InputError, match="say why"):
        check_waivers({"weight": 3}, ["weight"], where="study.toml, [waive]")
