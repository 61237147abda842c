"""Record linkage: who of an external table can be found in the release (Sweeney 2002; Manta 3.1)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import Counts, pack
from ..core.cover import BoolArray
from ..core.errors import InputError, Unavailable
from ..core.metric import Exactness
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.linkage_distance_risk import linked
from ._known import Facts, by_identity, by_people, by_row, check_columns, distinct, spread, tuples_of
from ._match import Axis, Match
from .attack import Attack, Rate

How = Literal["auto", "cover", "exact", "distance"]
OUTCOMES = ("correct", "ambiguous", "wrong", "none")
_CATEGORIES = 200


def linkage(
    release: Release,
    roles: Roles,
    *,
    external: Table | None = None,
    identity: str | None = None,
    known: Sequence[str] | None = None,
    how: How = "auto",
    control: Table | None = None,
    sample: int = 5000,
    seed: int = 0,
    reveal: bool = False,
) -> Attack:
    """Look every external person up in the release, and count how often the right row is found.

    A person's candidates are the m released rows that cover what is known of them: an interval, taxonomy node, set, mask or `*` covers
    what it stands for. The outcome is *correct* if there is one candidate and it is theirs; *ambiguous* if there are several and theirs is
    among them (a guess is right once in m); *wrong* if theirs is not among them; *none* if there is no candidate. `fell` is the expected
    number of right guesses. With related tables, or where the release carries the person column, candidates are people, and a person is
    a candidate if they are one in every table that has a known column.

    `external`  the adversary's table; by default the original itself, row by row
    `identity`  the column that names people in `external` and in the original (or in the release, if it carries people)
    `known`     the columns that the adversary knows; by default all quasi-identifiers
    `how`       cover: as above. exact: values must be spelled alike. distance: the nearest row is taken, numbers by standardized
                Euclidean distance, perturbed categories by agreement, others must be covered; of more than `sample` people so many are
                drawn, and the result is an estimate. auto: distance where a known column was perturbed, or has numbers that are other
                ones in most people's own rows (as after microaggregation), else cover
    `control`   people who are not in the release. Without it those external people count who are not, if there are any; rate 1/m each,
                what such a link seems worth to an adversary who cannot know better. By distance there is none: somebody is nearest
    `reveal`    name the people who were found (needs `identity`)

    Extremes: 1 if everybody is alone in what is known and it is released as it is; 1/rows, the baseline, if nothing of it is released.
    """
    _check(release, how, sample)
    tables = (release.table, *release.related)
    known = tuple(roles.quasi if known is None else known)
    check_columns(tables, known, roles, external)
    evidence = release.evidence(roles)
    facts = _facts(evidence, external, _identity(release, roles, external, identity, reveal), known)
    if reveal and facts.who is None:
        raise InputError("linkage can only name people with a column that does; give identity (--identity).")
    noisy = [name for name in known if name in release.perturbed]
    if how == "distance" or (how == "auto" and noisy):
        return _nearest(facts, release, roles, control, sample, seed, reveal)
    match = _match(facts.released, facts.known, facts.names, roles, literal=how == "exact" or _same(facts))
    if how == "auto" and _moved(facts, match):
        with contextlib.suppress(Unavailable):
            return _nearest(facts, release, roles, control, sample, seed, reveal)
    m, right = candidates(facts, match), _right(facts, match)
    return _looked_up(evidence, facts, match, m, right, control, reveal, "exact" if how == "exact" else "cover")


def _moved(facts: Facts, match: Match) -> bool:
    """Whether a column has numbers on both sides and most people's own released number is another one."""
    people = facts.n[facts.entry]
    for j, axis in enumerate(match.axes):
        a, b = facts.known.columns[j], facts.released.columns[j]
        if a.numbers is not None and b.numbers is not None:
            place = axis.place[facts.known.codes[j][facts.member[facts.entry]]]
            same = axis.covers(facts.released.codes[j][facts.own], place)
            if int(people[same].sum()) * 2 < int(people.sum()):
                return True
    return False


def _check(release: Release, how: str, sample: int) -> None:
    if how not in ("auto", "cover", "exact", "distance"):
        raise InputError(f"linkage: how is {how!r}; use auto, cover, exact or distance.")
    if sample < 1:
        raise InputError("linkage: sample must be at least 1 person.")
    if release.statistics:
        raise Unavailable("linkage looks for rows of people, and this release holds statistics, not one row a person.")


def _identity(release: Release, roles: Roles, external: Table | None, identity: str | None, reveal: bool) -> str | None:
    """The column that names people; None if the original is looked up row by row."""
    tables = [release.table, *release.related]
    theirs = external if external is not None else release.original
    if release.related:
        name = identity or roles.person
        if name is None:
            raise Unavailable(
                f"linkage joins related tables on the person column; name it in {roles.source} as person."
            )
        for table in tables:
            if name not in table.columns:
                raise Unavailable(f"{table.name}: no person column {name!r}, so its rows cannot be joined to people.")
        return name
    ours = {*release.table.columns, *(() if release.original is None else release.original.columns)}
    if identity is not None:
        if theirs is not None and identity not in theirs.columns:
            raise InputError(f"{theirs.name}: no column {identity!r}; name one that tells people apart with identity.")
        if identity not in ours:
            raise Unavailable(
                f"linkage cannot tell who was found: neither the original nor {release.table.name} has the column "
                f"{identity!r}; give an original that has it."
            )
        return identity
    asked = [name for name in (roles.person, *roles.identifiers) if name is not None and name in ours]
    if external is not None or reveal:
        there = [name for name in asked if theirs is not None and name in theirs.columns]
        if not there:
            raise Unavailable(
                "linkage cannot tell who was found: no person column or identifier is in the external table and in the "
                "original; name one with identity (--identity)."
            )
        return there[0]
    carried = roles.person is not None and roles.person in release.table.columns
    return roles.person if carried else None


def _facts(evidence: Evidence, external: Table | None, identity: str | None, known: tuple[str, ...]) -> Facts:
    release = evidence.release
    if identity is None:
        facts = by_row(evidence, known, "linkage")
    else:
        tables = (release.table, *release.related)
        theirs = external
        if theirs is None and release.original is not None and {identity, *known} <= set(release.original.columns):
            theirs = release.original
        if identity in release.table.columns:
            if theirs is None and not release.related:
                evidence.original("linkage")
            facts = by_people(tables, theirs, identity, known)
        else:
            original = evidence.original("linkage")
            facts = by_identity(evidence, original if theirs is None else theirs, identity, known, "linkage")
    if not facts.total:
        raise Unavailable(f"{release.table.name} has no rows, so nobody can be found in it.")
    if not len(facts.entry):
        raise Unavailable("linkage: nobody of the external table is in the release, going by the identity column.")
    return facts


def _same(facts: Facts) -> bool:
    """Whether what is known is the released values themselves: then they are compared as they are spelled."""
    return facts.known is facts.released


def _match(released: Counts, known: Counts, names: Sequence[str], roles: Roles, *, literal: bool) -> Match:
    return Match.of(released, known, [roles.taxonomy(name) for name in names], literal=literal)


def candidates(facts: Facts, match: Match) -> IntArray:
    """m of each entry: released rows, or people where the release carries them."""
    if facts.people is None:
        return match.candidates()[match.look][facts.member]
    person, own = facts.people
    order = np.argsort(own, kind="stable")
    person, own = person[order], own[order]
    found = np.zeros(match.points, dtype=np.int64)
    for point, box in match.pairs():
        at, pair = spread(*(np.searchsorted(own, box, side=side) for side in ("left", "right")))
        whose = distinct(point[pair] * facts.total + person[at]) // facts.total
        found += np.bincount(whose, minlength=len(found))
    return found[match.look][facts.member]


def _right(facts: Facts, match: Match) -> IntArray:
    """How many of an entry's candidates are its own rows; of people, whether they are one."""
    fits = match.covers(facts.own, facts.member[facts.entry])
    rows = np.bincount(facts.entry, weights=facts.rows * fits, minlength=len(facts.n)).astype(np.int64)
    return np.minimum(rows, 1) if facts.unit == "people" else rows


def _looked_up(
    evidence: Evidence,
    facts: Facts,
    match: Match,
    m: IntArray,
    right: IntArray,
    control: Table | None,
    reveal: bool,
    how: str,
) -> Attack:
    inside = facts.inside > 0
    kinds = (right > 0) & (right == m), (right > 0) & (right < m), (right == 0) & (m > 0), m == 0
    numbers = {name: int(facts.n[kind & inside].sum()) for name, kind in zip(OUTCOMES, kinds, strict=True)}
    fell = float((facts.n * right / np.maximum(m, 1))[inside].sum())
    attacked = int(facts.n[inside].sum())
    some = inside & (m > 0)
    details: dict[str, Any] = {
        "known": list(dict.fromkeys(facts.names)),
        "how": how,
        "tables": 1 + len(evidence.release.related),
        "unit": facts.unit,
        "released": facts.total,
        **numbers,
        "expected_correct": fell,
        "candidates": _spread(m[some], facts.n[some]),
        "unread_values": sum(axis.unread for axis in match.axes),
    }
    others, where = _others(evidence, facts, m, control, how == "exact" or _same(facts))
    rate = None
    if others is not None:
        strength = float((others[1] / np.maximum(others[0], 1))[others[0] > 0].sum())
        people = int(others[1].sum())
        rate = Rate.of(strength, people)
        linked_to = {"one": others[0] == 1, "several": others[0] > 1, "none": others[0] == 0}
        details["not_in_release"] = {
            "from": where,
            "people": people,
            **{name: int(others[1][kind].sum()) for name, kind in linked_to.items()},
        }
    if reveal and facts.who is not None:
        details["found"] = _names(facts, kinds[0] & inside)
    return _attack(facts, evidence.release, details, attacked, fell, rate, "exact", numbers)


def _names(facts: Facts, which: np.ndarray[Any, np.dtype[np.bool_]]) -> list[str | None]:
    assert facts.who is not None
    column, codes = facts.who
    return [column.texts[c] for c in np.unique(codes[which])]


def _spread(m: IntArray, n: IntArray) -> dict[str, float]:
    if not len(m):
        return {}
    order = np.argsort(m, kind="stable")
    half = np.searchsorted(np.cumsum(n[order]), n.sum() / 2)
    return {
        "least": int(m.min()),
        "median": int(m[order][half]),
        "mean": float(np.average(m, weights=n)),
        "most": int(m.max()),
    }


def _others(
    evidence: Evidence, facts: Facts, m: IntArray, control: Table | None, literal: bool
) -> tuple[tuple[IntArray, IntArray] | None, str]:
    """The candidates of people who are not in the release, and their number; where they come from."""
    names = list(dict.fromkeys(facts.names))
    left: Counts
    if control is not None:
        for name in names:
            if name not in control.columns:
                raise InputError(
                    f"{control.name}: no column {name!r}, which is known of people; give a control that has it."
                )
        left, where = control.count(names), "control"
    elif facts.who is not None:
        out = facts.inside == 0
        if facts.who[0].has_missing:  # whoever has no identity may be in the release
            out &= facts.who[1] < len(facts.who[0].values)
        return ((m[out], facts.n[out]) if out.any() else None), "external"
    else:
        original = evidence.original("linkage")
        if original.rows == facts.total:
            return None, ""
        every = original.count(names)
        here = tuples_of(every, facts.known)
        rest = every.n - np.where(here >= 0, facts.known.n[here], 0)
        left, where = Counts(every.columns, every.codes, rest).only(rest > 0), "left out of the release"
    if not len(left):
        return None, where
    at = [names.index(name) for name in facts.names]
    wide = Counts(tuple(left.columns[i] for i in at), tuple(left.codes[i] for i in at), left.n)
    match = _match(facts.released, wide, facts.names, evidence.roles, literal=literal)
    more = Facts(
        facts.names,
        facts.released,
        wide,
        np.arange(len(wide)),
        wide.n,
        facts.entry[:0],
        facts.own[:0],
        facts.rows[:0],
        facts.total,
        facts.unit,
        people=facts.people,
    )
    return (candidates(more, match), wide.n), where


# --- by distance -----------------------------------------------------------------------------------------------------


def _nearest(
    facts: Facts, release: Release, roles: Roles, control: Table | None, sample: int, seed: int, reveal: bool
) -> Attack:
    """Domingo-Ferrer and Torra 2001, from the external person's side: the nearest released row is taken, one of them if several are."""
    if facts.people is not None or (facts.inside > 1).any() or (facts.rows > 1).any():
        raise Unavailable(
            "linkage by distance takes one released row a person, and some people have several; attack by cover instead."
        )
    entry = facts.entry
    places, blocks = _space(facts, release, roles)
    weight = facts.n[entry]
    exactness: Exactness = "exact"
    chosen = np.arange(len(entry))
    if len(entry) > sample:
        chosen = np.random.default_rng(seed).choice(len(entry), sample, p=weight / weight.sum())
        weight, exactness = np.ones(sample, dtype=np.int64), "estimate"
    risk, alone = _risk(facts.member[entry[chosen]], facts.own[chosen], facts.released.n, places, blocks)
    kinds = risk > 0.999999, (risk > 0) & (risk <= 0.999999), (risk == 0) & ~alone, alone
    numbers = {name: int(weight[kind].sum()) for name, kind in zip(OUTCOMES, kinds, strict=True)}
    fell, attacked = float((risk * weight).sum()), int(weight.sum())
    details: dict[str, Any] = {
        "known": list(facts.names),
        "how": "distance",
        "tables": 1,
        "unit": facts.unit,
        "released": facts.total,
        **numbers,
        "expected_correct": fell,
    }
    if exactness == "estimate":
        details["sample"] = sample
    if control is not None:
        details["no_control"] = (
            "by distance somebody is nearest to everyone, so people who are not in the release tell nothing"
        )
    if reveal:
        hit = np.zeros(len(facts.n), dtype=bool)
        hit[entry[chosen[kinds[0]]]] = True
        details["found"] = _names(facts, hit)
    return _attack(facts, release, details, attacked, fell, None, exactness, numbers)


Pair = tuple[FloatArray, FloatArray]


def _space(facts: Facts, release: Release, roles: Roles) -> tuple[Pair, tuple[IntArray, IntArray]]:
    """Of known and released tuples: the points between which distances are taken, and the block that other columns put them into."""
    axes: list[Pair] = [(np.zeros(len(facts.known)), np.zeros(len(facts.released)))]
    keys: tuple[list[IntArray], list[IntArray]] = [], []
    sizes = []
    for j, name in enumerate(facts.names):
        a, b = facts.known.columns[j], facts.released.columns[j]
        x, y = facts.known.codes[j], facts.released.codes[j]
        if a.numbers is not None and b.numbers is not None:
            axes.append(_standardized(a.numbers[x], facts.known.n, b.numbers[y]))
            continue
        noisy = name in release.perturbed
        axis = Axis.of(b, a, roles.taxonomy(name), literal=noisy)
        if axis.home is None:
            raise Unavailable(
                f"linkage cannot take distances in {name!r}, whose released values overlap; leave it out with known, or attack "
                "by cover."
            )
        mine = axis.home[axis.place[x]]
        if not noisy:
            keys[0].append(mine + 1)
            keys[1].append(y + 1)
            sizes.append(len(b) + 1)
            continue
        if len(b) > _CATEGORIES:
            raise Unavailable(
                f"linkage cannot take distances in {name!r}: its values are no numbers, and more than {_CATEGORIES}; leave it "
                "out with known."
            )
        side = np.sqrt(0.5)  # two values that differ are 1 apart
        axes += [(np.where(mine == v, side, 0.0), np.where(y == v, side, 0.0)) for v in range(len(b))]
    known, released = (np.column_stack([axis[i] for axis in axes]) for i in range(2))
    both = [np.append(ours, theirs) for ours, theirs in zip(*keys, strict=True)]
    key = pack(both, sizes, len(known) + len(released))
    return (known, released), (key[: len(known)], key[len(known) :])


def _standardized(known: FloatArray, n: IntArray, released: FloatArray) -> Pair:
    """Numbers in deviations of the known ones; missing stands beyond the largest, by the range."""
    there = ~np.isnan(known)
    mean = float(np.average(known[there], weights=n[there]))
    deviation = float(np.average((known[there] - mean) ** 2, weights=n[there])) ** 0.5 or 1.0
    both = np.concatenate([known, released])
    both = both[~np.isnan(both)]
    beyond = float(both.max() + (np.ptp(both) or 1.0))
    return np.where(np.isnan(known), beyond, known) / deviation, np.where(
        np.isnan(released), beyond, released
    ) / deviation


def _risk(
    member: IntArray, own: IntArray, n: IntArray, places: Pair, blocks: tuple[IntArray, IntArray]
) -> tuple[FloatArray, BoolArray]:
    """How likely the nearest row of the block is the person's own, and whose block holds no row at all."""
    known, released = places
    wanted, there = blocks[0][member], blocks[1]
    risk = np.zeros(len(member))
    order, turn = np.argsort(wanted, kind="stable"), np.argsort(there, kind="stable")
    there = there[turn]
    first, last = (np.searchsorted(there, wanted, side=side) for side in ("left", "right"))
    for some in np.split(order, np.flatnonzero(np.diff(wanted[order])) + 1):
        hit = some[blocks[1][own[some]] == wanted[some]]  # else another's row is nearest
        if len(hit):
            rows = turn[first[hit[0]] : last[hit[0]]]
            risk[hit] = linked(known[member[hit]], released[own[hit]], released[rows], n[rows])
    return risk, first == last


def _attack(
    facts: Facts,
    release: Release,
    details: dict[str, Any],
    attacked: int,
    fell: float,
    control: Rate | None,
    exactness: Exactness,
    numbers: dict[str, int],
) -> Attack:
    base = 1.0 / facts.total
    columns = ", ".join(details["known"])
    what = "people" if facts.unit == "people" or facts.who is not None else "rows"
    near = details["how"] == "distance"
    drawn = f" of a sample of {attacked:,}" if exactness == "estimate" else f" of {attacked:,}"
    sentence = (
        f"An adversary who knows {columns} finds {numbers['correct']:,}{drawn} {what} "
        + ("as the nearest released row" if near else "without doubt")
        + f", and by guessing among candidates is right for {100 * fell / max(attacked, 1):.3g}% of them; without the release, one guess "
        f"in {facts.total:,} is."
    )
    tables = "" if details["tables"] == 1 else f", and the person column that joins {details['tables']} tables"
    return Attack(
        name="linkage",
        title="record linkage",
        knew=f"{columns} of {attacked:,} {what}{tables}",
        effort=(
            "a table with these columns, and for each person the distance to released rows"
            if near
            else "a table with these columns and one look-up a person"
        ),
        attacked=attacked,
        fell=fell,
        success=Rate.of(fell, attacked),
        baseline=Rate(base, base, base, attacked),
        control=control,
        exactness=exactness,
        sentence=sentence,
        source="Sweeney 2002; Manta 2013, sec. 3.1"
        + ("; Domingo-Ferrer and Torra 2001" if near else "")
        + ("; Nergiz, Clifton, Nergiz 2007" if release.related else ""),
        details=details,
    )
