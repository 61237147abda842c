"""How a noun of ours shows itself in a notebook: a small table of what it is and how large, never a value of the data."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .noun import dataclass


@dataclass(frozen=True)
class Sheet:
    """A title, rows of texts below an optional header, and notes."""

    title: str
    rows: Sequence[Sequence[str]] = ()
    header: Sequence[str] = ()
    notes: Sequence[str] = ()

    def html(self) -> str:
        """As HTML without styles, scripts or links of its own, so that the notebook's own look applies; texts are escaped."""
        head = "".join(f"<th>{escape(text)}</th>" for text in self.header)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in self.rows)
        table = (
            f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{rows}</tbody></table>" if rows else ""
        )
        notes = "".join(f"<p>{escape(text)}</p>" for text in self.notes)
        return f"<p><b>{escape(self.title)}</b></p>{table}{notes}"
