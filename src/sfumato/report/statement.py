"""The machine-readable statement of a package: what is published, how it was made, and which limits hold.

Its form is `statement.schema.json` beside this file, and `schema` names the version. Terms are those of DCAT, Dublin Core, PROV and SPDX
where they fit. It says nothing that README.md and the note do not say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from .. import __version__
from ..core.metric import Verdict
from ..core.release import Release
from ..core.roles import Roles
from ..study.decision import limit_in_words

SCHEMA = "urn:sfumato:statement:1"
CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "spdx": "http://spdx.org/rdf/terms#",
}


def schema() -> dict[str, Any]:
    """The JSON schema that a statement keeps."""
    content: dict[str, Any] = json.loads(
        files(__package__).joinpath("statement.schema.json").read_text(encoding="utf-8")
    )
    return content


def statement(
    release: Release,
    roles: Roles,
    treatments: Mapping[str, str],
    limits: Sequence[tuple[Verdict, bool]],
    *,
    title: str | None,
    waived: Sequence[str],
    sha256: str,
) -> dict[str, Any]:
    """The statement on release.csv, whose bytes have this checksum; of each limit, whether a recipient can check it."""
    kinds = {name: kind for kind in ("quasi", "sensitive", "insensitive") for name in getattr(roles, kind)}
    return {
        "@context": CONTEXT,
        "@type": "dcat:Dataset",
        "schema": SCHEMA,
        "dcterms:title": title,
        "dcat:distribution": [
            {
                "dcat:mediaType": "text/csv",
                "file": "release.csv",
                "spdx:checksum": {"algorithm": "sha256", "value": sha256},
            }
        ],
        "rows": release.table.rows,
        "columns": [
            {"name": name, "role": kinds.get(name, "other"), "treatment": treatments.get(name, "not known")}
            for name in release.table.columns
        ],
        "prov:wasGeneratedBy": {"method": release.made_by, "prov:wasAssociatedWith": f"Sfumato {__version__}"},
        "adversary_knows": list(roles.quasi),
        "limits": [
            {
                "requirement": str(verdict.requirement),
                "words": limit_in_words(verdict.requirement),
                "met": verdict.met,
                "checked_again_by": "recipient" if alone else "owner",
            }
            for verdict, alone in limits
        ],
        "waived": list(waived),
    }
