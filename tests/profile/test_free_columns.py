"""Columns that nothing limits, held against what a release protects: each way of telling is planted, and so is innocence."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.profile.free_columns import SAMPLE, Finding, FreeColumns
from sfumato.profile.free_release import free_of_release, free_of_table

ROWS = 3_000


def town(rows: int = ROWS, seed: int = 5) -> dict[str, Any]:
    """People with quasi-identifiers that are fine enough to need covering, and columns that tell nothing of them."""
    rng = np.random.default_rng(seed)
    return {
        "name": [f"N{i:06d}" for i in rng.permutation(rows)],
        "age": rng.integers(18, 90, rows),
        "zip": [f"{z:05d}" for z in rng.integers(10_000, 10_400, rows)],
        "income": rng.integers(15_000, 90_000, rows),
        "born": np.datetime64("1950-01-01") + rng.integers(0, 18_000, rows),
        "diagnosis": rng.choice(["flu", "asthma", "none", "cough"], rows),
        "rooms": rng.integers(1, 7, rows),
        "ward": rng.choice(["A", "B", "C"], rows),
    }


ROLES = sf.Roles(
    identifiers=("name",),
    quasi=("age", "zip", "income", "born"),
    sensitive=("diagnosis",),
    insensitive=("rooms", "ward"),
)


def asked(columns: dict[str, Any], *more: str, waived: frozenset[str] = frozenset()) -> FreeColumns:
    roles = sf.Roles(
        identifiers=ROLES.identifiers,
        quasi=ROLES.quasi,
        sensitive=ROLES.sensitive,
        insensitive=(*ROLES.insensitive, *more),
    )
    return free_of_table(sf.read(pa.table(columns)), roles, waived)


def about(findings: tuple[Finding, ...], column: str, kind: str) -> Finding:
    return next(finding for finding in findings if finding.column == column and finding.kind == kind)


def test_columns_that_tell_nothing_are_left_alone() -> None:
    assert asked(town()).findings == ()


@pytest.mark.parametrize("rows", [12, 40, 150])
@pytest.mark.parametrize("seed", range(6))
def test_small_tables_do_not_tell_by_coincidence(rows: int, seed: int) -> None:
    told = [finding for finding in asked(town(rows, seed)).findings if finding.kind in ("tells", "known", "order")]
    assert told == []


def test_a_weight_sets_rows_apart() -> None:
    table = town()
    table["weight"] = np.random.default_rng(0).integers(1, 5_000, ROWS) / 100
    finding = about(asked(table, "weight").findings, "weight", "alone")
    _, times = np.unique(table["weight"], return_counts=True)
    assert finding.rows == (times == 1).sum()
    assert finding.of == ROWS
    assert f"{finding.rows:,} of 3,000 rows" in finding.sentence


def test_two_columns_set_rows_apart_together() -> None:
    table = town()
    rng = np.random.default_rng(1)
    table["shift"], table["bed"] = rng.integers(0, 90, ROWS), rng.integers(0, 90, ROWS)
    finding = next(f for f in asked(table, "shift", "bed").findings if f.kind == "alone")
    assert set(finding.columns) == {"shift", "bed"}
    pairs = np.unique(np.stack([table["shift"], table["bed"]]), axis=1, return_counts=True)[1]
    assert finding.rows == (pairs == 1).sum()


def test_a_secret_alone_links_to_nothing_else() -> None:
    table = {"age": list(range(30)), "salary": [1000 + 7 * i for i in range(30)]}
    roles = sf.Roles(quasi=("age",), sensitive=("salary",))
    assert not [f for f in free_of_table(sf.read(pa.table(table)), roles).findings if f.kind == "alone"]
    with_more = {**table, "diagnosis": ["flu", "none"] * 15}
    both = sf.Roles(quasi=("age",), sensitive=("salary", "diagnosis"))
    assert about(free_of_table(sf.read(pa.table(with_more)), both).findings, "salary", "alone").rows == 30


PLANTED: dict[str, Any] = {
    "a copy": lambda t: {"x": t["income"]},
    "a copy with a few slips": lambda t: {"x": np.where(np.arange(ROWS) % 40 == 0, 7, t["income"])},
    "an offset": lambda t: {"x": np.asarray(t["income"]) + 1234},
    "a multiple": lambda t: {"x": np.round(np.asarray(t["income"]) * 0.0254, 4)},
    "a rounded multiple": lambda t: {"x": np.round(np.asarray(t["income"]) / 1.95583, 2)},
    "a negative": lambda t: {"x": 2024 - np.asarray(t["age"])},
    "a birth year, some a year off": lambda t: {"x": 2024 - np.asarray(t["age"]) - np.arange(ROWS) % 2},
    "a map": lambda t: {"x": [f"area {int(z) * 7919 % 10_007}" for z in t["zip"]]},
    "a code that holds the postal code": lambda t: {"x": [f"{i % 7}-{z}" for i, z in enumerate(t["zip"])]},
    "a code that holds the day of birth": lambda t: {
        "x": [str(d).replace("-", "")[2:] + str(i % 3) for i, d in enumerate(t["born"])]
    },
    "a code that holds the birth year": lambda t: {
        "x": [f"K{i % 10}{(2024 - a) % 100:02d}{i % 7}Z" for i, a in enumerate(t["age"])]
    },
    "a code that holds two digits of the birth year": lambda t: {
        "x": [f"K{str(d)[2:4]}-{i % 9}" for i, d in enumerate(t["born"] + 6_000)]  # 1966 to 2015
    },
    "a code that holds the first digits of the postal code": lambda t: {
        "x": [f"{i % 7}-{z[:4]}" for i, z in enumerate(t["zip"])]
    },
    "a later date at a fixed distance": lambda t: {"x": t["born"] + 6570},
    "the name in another spelling": lambda t: {"x": [f"<{name}>" for name in t["name"]]},
}


@pytest.mark.parametrize("way", PLANTED)
def test_a_planted_column_tells(way: str) -> None:
    table = town()
    finding = about(asked({**table, **PLANTED[way](table)}, "x").findings, "x", "tells")
    assert finding.share >= 0.95
    assert finding.protected[0] in finding.sentence


def test_a_part_is_told_as_a_part() -> None:
    table = town()
    table["x"] = [f"{z[:4]}-B" for z in table["zip"]]
    finding = about(asked(table, "x").findings, "x", "tells")
    assert "can work out the beginning of the quasi-identifier 'zip'" in finding.sentence
    table["x"] = table["x"][::-1]  # of somebody else
    assert asked(table, "x").findings == ()
    table["zip"] = ["10" + z[2:4] + z[2] for z in table["zip"]]
    table["x"] = [f"{i // 3 % 2}-10" for i in range(ROWS)]  # what all have in common
    assert asked(table, "x").findings == ()


def test_a_difference_of_two_columns_tells() -> None:
    table = town()
    rng = np.random.default_rng(3)
    tax = rng.integers(0, 9_000, ROWS)
    gross = np.asarray(table["income"]) + tax
    gross = np.where(rng.random(ROWS) < 0.002, gross + 7, gross)
    finding = about(asked({**table, "gross": gross, "tax": tax}, "gross", "tax").findings, "gross", "tells")
    assert finding.others == ("tax",)
    assert finding.rows == (gross - tax == table["income"]).sum()
    assert "'gross' - 'tax' equals 'income'" in finding.sentence


@pytest.mark.parametrize(
    ("sign", "said"), [(1, "'gross' - 'tax' + a constant equals 'income'"), (-1, "a constant - 'gross' - 'tax' equals 'income'")]
)  # fmt: skip
def test_a_constant_is_said_where_a_reader_expects_it(sign: int, said: str) -> None:
    table = town()
    tax = np.random.default_rng(3).integers(0, 9_000, ROWS)
    gross = 150_000 + sign * (np.asarray(table["income"]) + tax)
    assert (
        said in about(asked({**table, "gross": gross, "tax": tax}, "gross", "tax").findings, "gross", "tells").sentence
    )


def test_a_sum_of_three_columns_tells() -> None:
    table = town()
    rng = np.random.default_rng(4)
    wage = rng.integers(0, 9_000, ROWS)
    rent = rng.integers(0, 5_000, ROWS)
    rest = np.asarray(table["income"]) - wage - rent
    finding = next(
        f
        for f in asked({**table, "wage": wage, "rent": rent, "rest": rest}, "wage", "rent", "rest").findings
        if f.kind == "tells"
    )
    assert set(finding.columns) == {"wage", "rent", "rest"}
    assert finding.rows == ROWS


def test_what_the_quasi_identifiers_determine_is_known() -> None:
    table = town()
    table["region"] = [int(z) // 40 for z in table["zip"]]
    finding = about(asked(table, "region").findings, "region", "known")
    assert finding.protected == ("zip",)
    two = town()
    two["key"] = [f"{int(z) % 5}{'y' if a < 40 else 'o'}" for z, a in zip(two["zip"], two["age"], strict=True)]
    assert set(about(asked(two, "key").findings, "key", "known").protected) == {"zip", "age"}


def test_a_serial_number_tells_the_order() -> None:
    table = town()
    table["case"] = np.arange(ROWS) // 3
    assert about(asked(table, "case").findings, "case", "order").rows == ROWS
    shuffled = {**table, "case": np.random.default_rng(0).permutation(table["case"])}
    assert not [f for f in asked(shuffled, "case").findings if f.kind == "order"]


def test_what_the_release_tells_anyway_is_not_held_against_a_column() -> None:
    table = town()
    table["postal"] = table["zip"]
    roles = sf.Roles(quasi=("age", "zip"), sensitive=("diagnosis",), insensitive=("postal",))
    read = sf.read(pa.table({name: table[name] for name in ("age", "zip", "diagnosis", "postal")}))
    exact = sf.GeneralizeToLevels(levels="1,0")(read, sf.Roles(**{**_plain(roles), "hierarchies": RULES}))
    coarse = sf.GeneralizeToLevels(levels="0,1")(read, sf.Roles(**{**_plain(roles), "hierarchies": RULES}))
    assert not [f for f in free_of_release(exact, roles).findings if f.kind != "alone"]
    assert about(free_of_release(coarse, roles).findings, "postal", "tells").protected == ("zip",)


def test_a_copy_tells_the_few_rows_that_were_covered() -> None:
    rng = np.random.default_rng(9)
    rows = [("a", "x")] * 140 + [("b", "x")] * 3 + [("c", "x")] * 3
    table = {"q": [q for q, _ in rows], "s": rng.choice(["u", "v"], len(rows)), "copy": [f"<{q}>" for q, _ in rows]}
    roles = sf.Roles(quasi=("q",), sensitive=("s",), insensitive=("copy",))
    release = sf.Mondrian(k=5)(sf.read(pa.table(table)), roles)
    assert {f.column for f in free_of_release(release, roles).open} == {"copy"}


def test_a_table_without_free_columns_has_no_findings() -> None:
    assert free_of_table(sf.read(pa.table({"q": [1, 2, 3]})), sf.Roles(quasi=("q",))).findings == ()


def test_a_copy_in_a_table_of_few_rows_is_seen() -> None:
    table = {"q": ["north", "south", "north", "north", "south"], "copy": ["north", "south", "north", "north", "south"]}
    roles = sf.Roles(quasi=("q",), insensitive=("copy",))
    assert about(free_of_table(sf.read(pa.table(table)), roles).findings, "copy", "tells").rows == 5


RULES = {"age": {"widths": [10, 30]}, "zip": {"prefix": [2, 3]}}


def _plain(roles: sf.Roles) -> dict[str, Any]:
    return {"quasi": roles.quasi, "sensitive": roles.sensitive, "insensitive": roles.insensitive}


def test_a_waiver_hides_only_what_takes_its_column() -> None:
    table = town()
    rng = np.random.default_rng(2)
    table["weight"] = rng.permutation(ROWS)
    table["shift"], table["bed"] = rng.integers(0, 90, ROWS), rng.integers(0, 90, ROWS)
    free = asked(table, "weight", "shift", "bed", waived=frozenset({"weight"}))
    assert [f.columns for f in free.open] in ([("shift", "bed")], [("bed", "shift")])
    assert about(free.findings, "weight", "alone").rows == ROWS


def test_a_large_table_is_screened_by_a_sample_and_counted_whole() -> None:
    rows = 3 * SAMPLE
    rng = np.random.default_rng(6)
    table = town(rows)
    table["weight"] = rng.integers(0, 2 * rows, rows)
    tax = rng.integers(0, 9_000, rows)
    table["gross"], table["tax"] = np.asarray(table["income"]) + tax, tax
    table["region"] = [int(z) // 40 for z in table["zip"]]
    findings = asked(table, "weight", "gross", "tax", "region").findings
    _, times = np.unique(table["weight"], return_counts=True)
    assert about(findings, "weight", "alone").rows == (times == 1).sum()
    assert about(findings, "gross", "tells").rows == rows
    assert about(findings, "region", "known").rows == rows


def test_row_order_and_relabelling_do_not_matter() -> None:
    table = town()
    table["weight"] = np.random.default_rng(0).integers(1, 5_000, ROWS)
    table["region"] = [int(z) // 40 for z in table["zip"]]
    order = np.random.default_rng(1).permutation(ROWS)
    moved = {name: np.asarray(values)[order] for name, values in table.items()}
    first = [f.to_dict() for f in asked(table, "weight", "region").findings]
    second = [f.to_dict() for f in asked(moved, "weight", "region").findings]
    assert first == second


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_metric_is_the_worst_set_by_brute_force(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    free = [f"c{i}" for i in range(4)]
    table = {"q": rng.integers(0, 3, 40), **{name: rng.integers(0, rng.integers(2, 12), 40) for name in free}}
    roles = sf.Roles(quasi=("q",), insensitive=tuple(free))
    metric = sf.metric("rows_alone_by_free_columns").set(columns=most)
    worst = 0
    for size in range(1, most + 1):
        for names in combinations(free, size):
            times = Counter(zip(*(table[name].tolist() for name in names), strict=True))
            worst = max(worst, sum(n == 1 for n in times.values()))
    assert metric(sf.Release(table=sf.read(pa.table(table))), roles).value == worst / 40


def test_the_metric_of_what_is_told_counts_the_rows_that_keep_it() -> None:
    table = town()
    table["copy"] = np.where(np.arange(ROWS) % 50 == 0, 1, table["income"])
    read = sf.read(pa.table({name: table[name] for name in ("age", "income", "ward", "copy")}))
    metric = sf.metric("values_told_by_free_columns")
    for free, share in ((("ward", "copy"), 1 - 60 / ROWS), (("ward",), 0.0)):
        roles = sf.Roles(quasi=("age", "income"), insensitive=free)
        release = sf.Release(table=read.keep(("age", "income", *free)), original=read)
        assert metric(release, roles).value == pytest.approx(share)
