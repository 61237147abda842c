"""One self-contained HTML page from a policy frontier: it opens without a network and prints."""

from __future__ import annotations

from pathlib import Path

from .. import __version__
from ..core.files import write_whole
from ..core.roles import Roles
from ..metrics import metric
from ..search.frontier import Frontier
from . import figures
from .html import DRAWN
from .page import _javascript, _script_json, spell
from .policy import policy


def write(found: Frontier, roles: Roles, path: Path, *, table: str) -> None:
    """Write the page; complete or absent."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sfumato", "report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(spell=spell)
    scripts = (_javascript(), f'vegaEmbed("#map", {_script_json(figures.policy_map(found).to_dict())}, {DRAWN});')
    html = environment.get_template("frontier.html").render(
        found=found,
        roles=roles,
        table=table,
        turn=None if found.knee is None else found.nodes[found.knee],
        sentence=metric(found.risk.name).sentence,
        version=__version__,
        policy=policy(*scripts),
        scripts=scripts,
    )
    write_whole(path, html)
