"""The candidates of a sensible default study: what can meet the limits, in every form that may cost least."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..core.errors import SfumatoError
from ..core.mechanism import Offer, Trial
from ..core.metric import Metric, Requirement
from ..core.roles import Roles
from ..core.spelling import COMMA, DAY, POINT, SHORT
from ..core.table import Table
from ..mechanisms import registry
from ..mechanisms.hipaa import Hipaa
from ..mechanisms.k_member import CLUSTERED, KMember
from ..mechanisms.mondrian import Mondrian
from ..mechanisms.partition.mean_limits import is_mean
from ..metrics.privacy.hipaa_rules import hipaa_rules
from ..search.lattice import Lattice
from ..search.losses import Wanted
from ..search.optimal import LARGEST
from .candidate import Candidate, product, steered
from .context import smallest_k

_LOOKS = (
    (re.compile(f"{COMMA}|{POINT}"), ",", "numbers with commas", "decimal"),
    (re.compile("|".join((*DAY.values(), SHORT))), "", "dates", "dates"),
)
_K, _FITTED, _WEIGHED = re.compile(r"\bk=\d+"), "fit_queries=True", "weigh=use"
_CHECKS = 3_000
"""Generalizations that a search checks where a lattice is too large to settle."""
LARGE = 200_000
"""Distinct tuples times quasi-identifiers beyond which few candidates are tried: there each takes seconds or minutes."""
_KS = (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
_FEW = (3, 5, 10, 20, 50)


def is_large(table: Table, roles: Roles) -> bool:
    """Whether a candidate takes so long that few can be tried. What is tried follows from the table alone, never from the clock."""
    return size_of(table, roles) > LARGE


def size_of(table: Table, roles: Roles) -> int:
    """Distinct tuples times quasi-identifiers: what the work of a candidate follows."""
    return len(table.count(roles.quasi)) * len(roles.quasi)


def overlooked(table: Table, roles: Roles, made: Sequence[Candidate]) -> list[str]:
    """What an owner should know before the candidates are made: columns that are not read as what they look like."""
    said = []
    for name, counts in table.value_counts(roles.quasi).items():
        if name in roles.hierarchies and roles.taxonomy(name) is not None:
            continue
        column = counts.columns[0]
        if column.numbers is not None or column.dates:
            continue
        texts = [text for text in column.texts if text is not None]
        for pattern, sign, what, option in _LOOKS:  # digits alone may be codes, such as postal codes with leading zeros
            like = [text for text in texts if pattern.fullmatch(text)]
            if len(texts) > 2 and len(like) > 0.9 * len(texts) and any(sign in text for text in like):
                said.append(
                    f"{table.name}: column {name!r} looks like {what} but is read as text. Its values are grouped into lists, not "
                    "intervals, and a loss that counts values makes these lists look precise. Correct the values that do not fit, or "
                    f"see --{option}."
                )
                break
    for each in made:
        if isinstance(each.mechanism, Hipaa):
            try:
                each.mechanism.check(table, roles)
            except SfumatoError as refusal:
                said.append(f"{refusal} Otherwise no candidate may meet hipaa_rules <= 0.")
    if len(table.count(roles.quasi)) > CLUSTERED and not any(each.family == KMember.card.name for each in made):
        said.append(
            f"{table.name}: clustering (k_member) is left out, because there are more than {CLUSTERED:,} distinct combinations; add it with "
            "--candidate 'k_member k=10' if you have the time."
        )
    return said


def minimised(utility: Metric) -> str:
    """The utility itself where a search can bound it, else the loss: measuring 1,000 queries at every node takes minutes."""
    try:
        bounded = not Wanted.read(str(utility)).metrics
    except SfumatoError:
        bounded = False
    return str(utility) if bounded else "loss"


def _rules(requirement: Requirement) -> bool:
    """Whether a requirement is about rules that columns keep, one by one."""
    return requirement.metric.card is hipaa_rules.card


def candidates(
    table: Table,
    roles: Roles,
    require: Sequence[Requirement],
    utility: Metric,
    *,
    wide: bool = False,
    quick: bool = False,
) -> tuple[Candidate, ...]:
    """Mechanisms that can meet these requirements, steered by those that they can steer by; `quick` tries few of each.

    Where a requirement is about a mean, which few mechanisms steer by, k runs over a range from which the means follow.
    """
    counts = table.count(roles.quasi)
    nodes = Lattice.of(counts, roles).nodes
    least = smallest_k(require)
    large = is_large(table, roles)
    means = any(not requirement.metric.card.steers for requirement in require) or not require
    if means:
        ks = [k for k in (_FEW if large else _KS) if k >= least]
    elif large:
        ks = sorted({least, round(1.25 * least)})
    else:
        ks = sorted({least, least + 1, least + 2, max(least + 3, round(1.25 * least)), round(1.5 * least), 2 * least})
    ks = [k for k in ks if k <= max(table.rows, 1)] or [min(least, table.rows)]
    few = [k for k in (ks[0], 5, 10, 20) if k >= ks[0]] if means and not large else ks[:1]
    trial = Trial(
        ks=ks,
        few=few,
        minimise=minimised(utility),
        # too many to settle: the best of so many, with a bound on what was missed
        checks=_CHECKS if nodes > LARGEST else None,
        tuples=len(counts),
        numbers=[c.name for c in counts.columns if c.numbers is not None and not set(c.name) & set(',"=')],
        require=tuple(require),
        hierarchies=any(roles.tree(column) is not None for column in counts.columns),
        linked=roles.linked,
        large=large,
        one_secret=len(roles.sensitive) == 1,
    )
    offers = sorted(
        (kind.card.offer.place, name, kind.card.offer)
        for name, kind in registry().items()
        if kind.card.offer is not None
        and (wide or not kind.card.offer.wide)
        and (
            kind.card.links if roles.linked else kind.card.people or not (roles.unlinked and kind.refuses_several_rows)
        )
    )
    texts = _texts(offers, trial)
    if large:  # what is made soonest comes first: whoever stops the study early has an answer
        texts.sort(key=lambda text: text.split()[0] != Mondrian.card.name)
    # where rules about columns are all that is asked, applying them loses least, and no lattice needs to be searched for it
    steering = [] if all(_rules(r) for r in require) else require
    made = _made(texts, steering, linked=roles.linked)
    firsts = _texts([each for each in offers if each[2].first], trial)
    if firsts and steering:  # what the first link has seen to, no other need be steered by
        others = _texts([each for each in offers if not each[2].first], replace(trial, ks=ks[:1], few=ks[:1]))
        rest = [requirement for requirement in steering if not _rules(requirement)]
        chained = [each.text for each in _made(others, rest, linked=roles.linked).values()]
        made |= _made([f"{first} | {text}" for first in firsts for text in chained], ())
    return _quickest(tuple(made.values())) if quick else tuple(made.values())


def _quickest(made: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Of each family the first, the first for the largest k that is otherwise the same, and the first that weighs columns by their use.

    None is fitted to queries, which takes longest and gains least over weights.
    """
    families: dict[str, list[Candidate]] = {}
    for each in made:
        if _FITTED not in each.text:
            families.setdefault(each.family, []).append(each)
    taken = []
    for family in families.values():
        alike = [each for each in family if _plain(each) == _plain(family[0])]
        taken += [family[0], alike[-1], *[each for each in family if _WEIGHED in each.text][:1]]
    return tuple(dict.fromkeys(taken))


def _plain(candidate: Candidate) -> str:
    """What a candidate is apart from its k."""
    return _K.sub("", candidate.text)


def _texts(offers: Sequence[tuple[int, str, Offer]], trial: Trial) -> list[str]:
    """What the offers come to, a text a candidate."""
    return [text for _, name, offer in offers for tried in offer.settings(trial) for text in product(name, tried)]


def _made(texts: Sequence[str], steering: Sequence[Requirement], *, linked: bool = False) -> dict[str, Candidate]:
    """Candidates by their texts, told what to meet; those that a mechanism has no form for are left out.

    Where people are linked Mondrian does not steer by means, which are left to k.
    """
    made: dict[str, Candidate] = {}
    on_classes = [requirement for requirement in steering if not is_mean(requirement)]
    for text in texts:
        asked = on_classes if linked and text.split()[0] == Mondrian.card.name else steering
        try:
            told = steered(text, asked) if asked else text
            made.setdefault(told, Candidate.of(told))
        except SfumatoError:
            continue
    return made
