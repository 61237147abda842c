"""Candidates as a study file writes them, so that the command line makes the same ones."""

from __future__ import annotations

from typing import Any

from ..core.chain import Chain
from ..study.candidate import Candidate


def entry(candidate: Candidate) -> dict[str, Any]:
    """A `[[candidate]]`: what a mechanism was told stands in it, so that nothing is to be steered again."""
    made = candidate.mechanism
    assert made is not None  # a file made elsewhere stands in the study file as its owner wrote it
    named = {} if candidate.label is None else {"name": candidate.label}
    if isinstance(made, Chain):
        return {"mechanism": Candidate.by(made).text, **named, "steer": False}
    settings = made.settings()
    required = {"require": settings.pop("require")} if "require" in settings else {}
    plain = {key: value if isinstance(value, bool | int | float) else str(value) for key, value in settings.items()}
    return {"mechanism": made.card.name, **named, **plain, **required, "steer": False}
