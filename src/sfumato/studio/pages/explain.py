"""Step 9, Learn: what a measure, a mechanism, an attack or a word means, a click away from where it stands."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ... import attacks, mechanisms, metrics
from ...report import glossary
from ...report.explanation import explanation
from ..rendering import page


def show(request: Request) -> Response:
    """One explanation."""
    heading, said = explanation(request.path_params["name"])
    return page(request, "explain.html", title=heading, said=said)


def words(request: Request) -> Response:
    """Everything that is explained."""
    named = {
        "Words": {word: word for word in glossary.WORDS},
        "Measures of risk": {n: m.card.title for n, m in metrics.registry().items() if m.card.about == "privacy"},
        "Measures of use": {n: m.card.title for n, m in metrics.registry().items() if m.card.about == "utility"},
        "Ways to make a release": {name: each.card.title for name, each in mechanisms.registry().items()},
        "Attacks": {name: each.as_dict()["title"] for name, each in attacks.registry().items()},
    }
    return page(request, "words.html", title="What the words mean", named=named)


routes = (
    Route("/words", words, methods=["GET"]),
    Route("/explain/{name}", show, methods=["GET"]),
)
