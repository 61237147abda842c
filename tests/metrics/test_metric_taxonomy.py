"""t-closeness over a taxonomy: Li et al.'s hierarchical distance against POT, their closed form and a few hand-made trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import Make, rows
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import encode
from sfumato.core.errors import Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.roles import Roles

TAXONOMY = sf.t_closeness(ground="taxonomy")
TREE = Hierarchy.of(
    "s",
    [
        ("ulcer", "stomach", "digestive", "*"),
        ("gastritis", "stomach", "digestive", "*"),
        ("colitis", "colon", "digestive", "*"),
        ("flu", "infection", "respiratory", "*"),
        ("pneumonia", "infection", "respiratory", "*"),
        ("bronchitis", "chronic", "respiratory", "*"),
    ],
)
ROLES = Roles(quasi=("q",), sensitive=("s",), hierarchies={"s": TREE})


# --- extremes and by hand --------------------------------------------------------------------------------------------


def test_a_class_like_the_table_is_at_0(release: Make) -> None:
    values: list[str | None] = ["flu", "ulcer", "colitis"]
    assert TAXONOMY(release(rows(a=values, b=values * 3, c=values * 7)), ROLES).value == 0
    assert TAXONOMY(release(rows(a=["flu"], b=["flu", "flu"])), ROLES).value == 0
    assert TAXONOMY(release(rows(a=[None, None])), ROLES).value == 0


@pytest.mark.parametrize(
    ("other", "level"), [("gastritis", 1 / 3), ("colitis", 2 / 3), ("flu", 1.0), ("bronchitis", 1.0), (None, 1.0)]
)
def test_half_the_table_moved_by_the_level_of_the_common_ancestor(
    release: Make, other: str | None, level: float
) -> None:
    score = TAXONOMY(release(rows(a=["ulcer"] * 5, b=[other] * 5)), ROLES)
    assert score.per_class == pytest.approx([level / 2, level / 2], abs=1e-15)


def test_one_against_a_table_of_the_farthest_is_nearly_1(release: Make) -> None:
    assert TAXONOMY(release(rows(a=["ulcer"], b=["flu"] * 999)), ROLES).value == pytest.approx(0.999)


def test_a_flat_taxonomy_is_the_equal_distance(release: Make) -> None:
    rng = np.random.default_rng(0)
    published = release({"q": rng.integers(0, 6, 90), "s": rng.choice(list("vwxyz"), 90)})
    flat = Roles(quasi=("q",), sensitive=("s",), hierarchies={"s": Hierarchy.of("s", [(v, "*") for v in "vwxyz"])})
    equal = sf.t_closeness(ground="equal")(published, flat)
    assert TAXONOMY(published, flat).per_class.tolist() == equal.per_class.tolist()


def test_it_is_never_more_than_the_equal_distance(release: Make) -> None:
    rng = np.random.default_rng(1)
    published = release({"q": rng.integers(0, 9, 200), "s": rng.choice(TREE.levels[0], 200)})
    equal = sf.t_closeness(ground="equal")(published, ROLES).per_class
    assert (TAXONOMY(published, ROLES).per_class <= equal + 1e-12).all()


# --- parity ----------------------------------------------------------------------------------------------------------


def random_tree(rng: np.random.Generator, leaves: int, height: int) -> list[list[int]]:
    """Labels level by level, from the leaves up to one root; each level merges the one below at random."""
    levels = [list(range(leaves))]
    for _ in range(height - 1):
        parents = rng.integers(0, max(1, len(set(levels[-1])) - 1), leaves)
        levels.append([int(parents[label]) for label in levels[-1]])
    return [*levels, [0] * leaves]


def lca(levels: list[list[int]], i: int, j: int) -> int:
    return next(h for h, level in enumerate(levels) if level[i] == level[j])


def closed_form(levels: list[list[int]], extra: np.ndarray) -> float:
    """Li et al.: each node pays its height by the total, times what flows between its children."""
    height = len(levels) - 1
    cost = 0.0
    for h in range(1, height + 1):
        for node in set(levels[h]):
            children: dict[int, float] = {}
            for i, label in enumerate(levels[h]):
                if label == node:
                    children[levels[h - 1][i]] = children.get(levels[h - 1][i], 0.0) + extra[i]
            up = sum(x for x in children.values() if x > 0)
            down = -sum(x for x in children.values() if x < 0)
            cost += h / height * min(up, down)
    return cost


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_random_trees_against_pot_and_the_closed_form(ot: Any, seed: int, missing: bool) -> None:
    rng = np.random.default_rng(seed)
    leaves, height, many = int(rng.integers(1, 15)), int(rng.integers(1, 6)), 7
    levels = random_tree(rng, leaves, height)
    texts = [f"v{i:02}" for i in range(leaves)]
    tree = Hierarchy.of("s", [[t, *(f"h{h}n{level[i]}" for h, level in enumerate(levels[1:-1])), "*"] for i, t in enumerate(texts)])  # fmt: skip
    if missing:  # a leaf directly under the root
        levels = [[*level, -1] for level in levels[:-1]] + [[0] * (leaves + 1)]
    width = leaves + missing
    counts = rng.integers(0, 12, (many, width)) * (rng.random((many, width)) < 0.6)
    counts[:, rng.integers(0, width)] += 1
    counts[0] += 1
    column, _ = encode("s", pa.array([*texts, *([None] if missing else [])]))
    member, value = np.nonzero(counts)
    attribute = Sensitive(column, counts.sum(0), hierarchy=tree)
    classes = Classes.of(member, counts[member, value], count=many, value=value, sensitive=attribute)
    prior = counts.sum(0) / counts.sum()
    ground = np.array([[lca(levels, i, j) / height for j in range(width)] for i in range(width)], dtype=float)
    found = TAXONOMY.per_class(classes)
    shares = counts / counts.sum(1, keepdims=True)
    assert found == pytest.approx([ot.emd2(p, prior, ground) for p in shares], abs=1e-9)
    assert found == pytest.approx([closed_form(levels, p - prior) for p in shares], abs=1e-12)


# --- refusals and files ----------------------------------------------------------------------------------------------


def test_it_needs_a_taxonomy_with_every_value(release: Make, refusal: Callable[..., str], canary: str) -> None:
    published = release(rows(a=["flu", canary], b=["ulcer", "flu"]))
    refusal(Unavailable, lambda: TAXONOMY(published, Roles(quasi=("q",), sensitive=("s",))), "[hierarchies]", "'s'")
    refusal(Unavailable, lambda: TAXONOMY(published, ROLES), "lacks 1 of its values", "'s'")


def test_a_taxonomy_from_a_file_of_the_roles(release: Make, tmp_path: Path) -> None:
    TREE.write(tmp_path / "disease.csv")
    (tmp_path / "roles.toml").write_text(
        '[roles]\nquasi = ["q"]\nsensitive = ["s"]\n[hierarchies]\ns = "disease.csv"\n', encoding="utf-8"
    )
    roles = Roles.read(tmp_path / "roles.toml")
    published = release(rows(a=["ulcer", "gastritis"], b=["colitis", None]))
    expected = TAXONOMY(published, ROLES).per_class
    assert TAXONOMY(published, roles).per_class.tolist() == expected.tolist()
    scores, _ = sf.measure(published, roles)
    assert "t_closeness[taxonomy]" in scores
    _, skipped = sf.measure(published, Roles(quasi=("q",), sensitive=("s",)))
    assert "t_closeness[taxonomy]" in skipped


def test_a_sanitizer_honours_it(table: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    source = table({"q": rng.integers(0, 40, 300), "s": rng.choice(TREE.levels[0], 300)})
    limit = TAXONOMY.at_most(0.2)
    made = sf.Mondrian(k=2, require=(limit,))(source, ROLES)
    assert limit.check(made, ROLES).met
    assert len(made.evidence(ROLES).tuples) > 3
