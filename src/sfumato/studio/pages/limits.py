"""Step 4, Limits: two questions or a named guidance, the limits that follow with their sources, and the owner's own."""

from __future__ import annotations

from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError
from ...core.people import one_row_each
from ...metrics import everything, metric, require
from ...study.context import OVERALL, PRESETS, QUESTIONS, WP29, Context
from ...study.inference import with_inference
from ..body import sent
from ..desk import Desk
from ..numbers import limit_number, moved_limit, typed_number
from ..rendering import go, page

GRADES = ("low", "medium", "high")
GUIDANCE = (*PRESETS, *OVERALL, WP29)


class SentAnswers(msgspec.Struct, forbid_unknown_fields=True):
    """The answers, the bounds of the limits that followed from the last ones, and the owner's own limits."""

    guidance: str
    to: str
    impact: str
    controls: str
    motives: str
    known: str = ""
    breach: str = ""
    limits: list[str] = []
    bounds: list[str] = []
    own_metrics: list[str] = []
    own_bounds: list[str] = []


def show(request: Request) -> Response:
    """The questions, and what follows from the answers so far."""
    desk: Desk = request.app.state.desk
    study = desk.folder.study()
    given = dict(study.get("context", {}))
    answered = bool({"context", "require"} & study.keys())
    context = desk.study.context if answered else None
    guidance = given.get("preset") or ("questions" if given or not answered else "own")
    content: dict[str, Any] = {
        "given": given,
        "guidance": guidance,
        "answered": answered,
        "questions": QUESTIONS,
        "grades": GRADES,
    }
    return page(
        request, "limits.html", title="Who gets it, and what may they learn?", context=context, every=GUIDANCE,
        limits=() if context is None else context.limits, own=[require(text) for text in study.get("require", ())],
        metrics=[each for each in everything(desk.roles) if each.card.about == "privacy"], **content,
    )  # fmt: skip


async def answer(request: Request) -> Response:
    """Draw the limits from the answers and write them to the study file."""
    desk: Desk = request.app.state.desk
    answers = await sent(request, SentAnswers)
    await to_thread.run_sync(_answer, desk, answers)
    return go("/limits#follow")


def _answer(desk: Desk, answers: SentAnswers) -> None:
    desk.roles.check_quasi()
    desk.roles.check(desk.table.columns, where=desk.table.name)
    one_row_each(desk.table, desk.roles, "a study", counts_people=True)
    own = [
        f"{name} {_sign(name)} {limit_number(text)}"
        for name, text in zip(answers.own_metrics, answers.own_bounds, strict=False)
        if name and text.strip()
    ]
    stated = [str(require(text)) for text in dict.fromkeys(own)]
    if answers.guidance == "own":
        if not stated:
            raise InputError("Name at least one limit of your own, or take a guidance.")
        desk.change_study(context=None, require=stated)
        return
    given = _given(answers)
    context = Context(**given)
    context.check(desk.roles)
    context = with_inference(
        context, desk.table, desk.roles, require=[require(text) for text in stated], waive=desk.waived
    )
    there = {limit.text: limit.requirement for limit in context.limits}
    for text, bound in zip(answers.limits, answers.bounds, strict=False):
        if text not in there or not bound.strip():  # of other answers than these
            continue
        limit = there[text]
        moved = moved_limit(limit, bound)
        if moved == limit or str(moved) == str(limit):
            continue
        if not moved.implies(limit):
            raise InputError(
                f"{text} comes from the guidance, so it can be made stricter here and not looser. To loosen it, answer the questions "
                "otherwise, take another guidance, or take your own limits alone."
            )
        stated.append(str(moved))
    desk.change_study(context=given, require=list(dict.fromkeys(stated)))


def _given(answers: SentAnswers) -> dict[str, Any]:
    """The context as the study file writes it: what a preset does not need is left out."""
    preset = None if answers.guidance == "questions" else answers.guidance
    shares = {
        "known": _share(answers.known, "share of the population"),
        "breach": _share(answers.breach, "chance of a breach"),
    }
    if preset in PRESETS:
        return {"preset": preset}
    graded = {"controls": answers.controls, "motives": answers.motives, **{k: v for k, v in shares.items() if v}}
    if preset in OVERALL:
        return {"preset": preset, **graded}
    return {**({"preset": preset} if preset else {}), "to": answers.to, "impact": answers.impact, **graded}


def _sign(name: str) -> str:
    return ">=" if metric(name).card.better == "higher" else "<="


def _share(text: str, what: str) -> float:
    if not text.strip():
        return 0.0
    share = typed_number(text)
    if share is None or not 0 <= share <= 1:
        raise InputError(f"The {what} must be a number between 0 and 1.")
    return share


routes = (
    Route("/limits", show, methods=["GET"]),
    Route("/limits/answers", answer, methods=["POST"]),
)
