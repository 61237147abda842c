"""What `profile --risk` says of a raw table besides its grids, each sentence true of any table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.words import counted, up

if TYPE_CHECKING:
    from .raw_risk import RawRisk


def risk_sentences(found: RawRisk) -> list[str]:
    """Minimal uniques, the population, and values far from the others."""
    said = [found.suda.sentence]
    if found.people < found.rows:
        said.append(
            f"Here {counted(found.people, 'person', 'people')} have {found.rows:,} rows: rows of a person that are alike count once, and a row "
            "is alone where nobody else has its values."
        )
    alone = found.suda.alone
    if found.alone_in_population is not None:
        there = found.alone_in_population
        said.append(
            f"Of {counted(alone, 'row')} alone here, {there:,} {'fits' if there == 1 else 'fit'} one person of the population table at most (counted)."
        )
    elif found.population is not None:
        said.append(found.population.sentence)
    if found.journalist is not None:
        said.append(f"Journalist's risk against the population table: at most {up(found.journalist)} for any row.")
    return said + [each.sentence for each in found.outliers if each.far]
