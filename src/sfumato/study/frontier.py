"""The Pareto frontier and its knee, on two axes of which less is better."""

from __future__ import annotations

from ..core.pareto import frontier, knee

__all__ = ["frontier", "knee"]
