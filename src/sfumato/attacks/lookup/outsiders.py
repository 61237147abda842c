"""People who are not in the release, known as those are who are in it: the control group of linkage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.counts import Counts
from ...core.release import Evidence
from ...core.table import Table
from .external import External


def outsiders(
    evidence: Evidence, facts: External, control: Table | None, person: str | None = None
) -> tuple[External | None, str]:
    """From `control`, else from the external table, else those whom the release left out; and from which of these they come.

    `person` is a column of the control that says whose its rows are. What is known of outsiders stands in a table of its own, or in that
    of the others; no released row is theirs.
    """
    names = list(dict.fromkeys(facts.names))
    none = facts.entry[:0]
    alone = replace(facts, entry=none, own=none, rows=none, who=None, mine=None)
    who = None
    left: Counts
    if control is not None:
        control.require_columns(names, "which is known of people; give a control that has it")
        where = "control"
        if person is not None and person in control.columns:
            left = control.count((person, *names))
            who = left.columns[0], left.codes[0]
            left = Counts(left.columns[1:], left.codes[1:], left.n)
        else:
            left = control.count(names)
    elif facts.who is not None:
        out = facts.inside == 0
        if facts.who[0].has_missing:  # whoever has no identity may be in the release
            out &= facts.who[1] < len(facts.who[0].values)
        if not out.any():
            return None, "external"
        return replace(
            alone, member=facts.member[out], n=facts.n[out], who=(facts.who[0], facts.who[1][out])
        ), "external"
    else:
        original = evidence.original("linkage")
        if original.rows == facts.total:
            return None, ""
        every = original.count(names)
        here = facts.known.places(every.columns, every.codes)
        rest = every.n - np.where(here >= 0, facts.known.n[here], 0)
        left, where = Counts(every.columns, every.codes, rest).only(rest > 0), "left out of the release"
    if not len(left):
        return None, where
    at = [names.index(name) for name in facts.names]
    wide = Counts(tuple(left.columns[i] for i in at), tuple(left.codes[i] for i in at), left.n)
    return replace(alone, known=wide, member=np.arange(len(wide)), n=wide.n, who=who), where
