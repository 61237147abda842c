"""The points of a run in a file, so that the page draws what the child measured and measures nothing again."""

from __future__ import annotations

import json
from pathlib import Path

from ..core.errors import InputError
from ..core.files import write_whole
from ..study.candidate import Candidate
from ..study.point import Measurement, Point
from ..study.result import Result
from ..study.study import Study


def write_points(path: Path, result: Result, of: str) -> None:
    """Write what was measured of each candidate, in the order of the result, and `of` which state of the work."""
    points = [
        {
            "candidate": point.candidate.text,
            "label": point.candidate.label,
            "elsewhere": point.candidate.mechanism is None,
            "found": point.found,
            "measured": Measurement(
                point.scores, point.skipped, point.failure, point.seconds, rows=point.rows
            ).to_dict(),
        }
        for point in result.points
    ]
    content = {"of": of, "seed": result.seed, "looked": result.looked, "points": points}
    write_whole(path, json.dumps(content, ensure_ascii=False))


def read_points(path: Path, study: Study) -> tuple[Result, str]:
    """The result again, held against the study's requirements as they are now, and of which state of the work it is."""
    try:
        content = json.loads(path.read_bytes())
        elsewhere = {each.text: each for each in study.candidates if each.mechanism is None}
        points: list[Point] = []
        for each in content["points"]:
            text = each["candidate"]
            candidate = elsewhere[text] if each["elsewhere"] else Candidate.of(text, label=each["label"])
            points.append(study.point(candidate, Measurement.of(each["measured"]), looked_for=each["found"]))
        return Result(study, tuple(points), content["seed"], looked=content["looked"]), str(content["of"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError("The last run is damaged, or is of another study; run it again.") from None
