"""The child process: a study or a package, made as the command line makes it; what happens is told in its files.

python -m sfumato.studio.job study FOLDER
python -m sfumato.studio.job package FOLDER [xlsx parquet ...]
python -m sfumato.studio.job compare FOLDER 3 7       two candidates by their places in the last run
python -m sfumato.studio.job check FOLDER             somebody's release, which lies in the folder
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from ..core.errors import InputError, NotMet, SfumatoError
from ..core.files import write_whole
from ..profile.free_release import check_free
from ..publishing import publish
from ..report.documents import write_all
from ..report.package import write_package
from ..study.decision import decision
from ..study.events import FILE, EventLog, Stage
from ..study.result import Result
from ..study.study_file import StudyFile, read_study
from .checked_release import checked
from .job_log import Journal
from .kept_points import read_points, write_points
from .side_by_side import side_by_side
from .work_folder import ENDINGS, WorkFolder


def run_study(folder: WorkFolder, log: EventLog) -> dict[str, Any]:
    """Make and measure every candidate, then write the documents: `sfumato study study.toml --out study`."""
    state, file = folder.state, read_study(folder.study_file)
    result = _result(folder, file, log)
    log(Stage("documents"))
    write_all(result, folder.documents, formats=("html", "md"), numbers=_finite(result.to_dict()))
    write_whole(folder.decided, json.dumps(_finite(decision(result).to_dict()), ensure_ascii=False))
    write_points(folder.points, result, state)
    return {"points": len(result.points)}


def make_package(folder: WorkFolder, log: EventLog, *endings: str) -> dict[str, Any]:
    """Write the package of what was decided, `sfumato study FILE --out study --package package`, and the release in other formats.

    What is drawn at random is drawn anew for the package. Another format would be another draw, so there is none then.
    """
    path = folder.decision_file if folder.decision_file.exists() else folder.study_file
    file = read_study(path)
    check_free(file.study.table, file.study.roles, file.study.waive)
    result = _result(folder, file, log)
    if result.recommended[0] is None:
        raise NotMet(f"The package is not written. {result.recommended[1]}")
    log(Stage("package"))
    with replaced_package(folder):
        packaged = write_package(
            result, folder.package, allow_seeded=file.allow_seeded, neutralise_formulas=file.neutralise_formulas
        )
        if packaged.redrawn:
            return {"redrawn": bool(endings)}
        chosen, study = result.recommended[0], file.study
        made = result.points[chosen].candidate.mechanism
        require = list(dict.fromkeys([*(made.promises if made else ()), *study.require]))
        for ending in endings:
            publish(result.release(chosen), study.roles, require, folder.release(ending), waive=study.waive)
    return {"redrawn": False}


def compare(folder: WorkFolder, log: EventLog, a: str, b: str) -> dict[str, Any]:
    """Make two candidates of the last run again and hold them beside each other and the table."""
    result, _ = read_points(folder.points, read_study(folder.study_file).study)
    write_whole(folder.comparison, json.dumps(_finite(side_by_side(result, int(a), int(b))), ensure_ascii=False))
    return {}


def check(folder: WorkFolder, log: EventLog) -> dict[str, Any]:
    """Verify somebody's release against the limits of this study, and attack it."""
    path = folder.brought()
    if path is None:
        raise InputError("There is no release to check; bring one first.")
    study = read_study(folder.study_file).study
    write_whole(folder.checked, json.dumps(_finite(checked(path, study)), ensure_ascii=False))
    return {}


@contextmanager
def replaced_package(folder: WorkFolder) -> Iterator[None]:
    """Set an earlier package aside, which its owner agreed to, until the new one is whole; if none comes, it is back in its place.

    After a kill the next package begins by putting back what still stands aside. What is no package is left alone.
    """
    house = folder.package.with_name(folder.package.name + ".house")
    for old, mark in ((folder.package, "SHA256SUMS"), (house, "study.json")):
        if old.exists() and (old.is_symlink() or not (old / mark).is_file()):
            raise InputError(f"{old}: this is no package, so it is left alone; move it away, or choose another folder.")
    places = (folder.package, house, *(folder.release(ending) for ending in ENDINGS))
    aside = {place: place.with_name(f"{place.name}.before") for place in places}
    begun = folder.private / "package-begun"
    _put_back(aside, begun)
    for place, before in aside.items():
        if place.exists():
            place.rename(before)
    begun.touch()
    try:
        yield
    except BaseException:
        _put_back(aside, begun)
        raise
    begun.unlink()
    for before in aside.values():
        _remove(before)


def _put_back(aside: Mapping[Path, Path], begun: Path) -> None:
    """What stands aside takes its place again, also that of a new package which was begun; what is whole stays."""
    for place, before in aside.items():
        if begun.exists():
            _remove(place)
        if before.exists() and not place.exists():
            before.rename(place)
        _remove(before)
    begun.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _result(folder: WorkFolder, file: StudyFile, log: EventLog) -> Result:
    return file.study.run(
        seed=file.seed,
        cache=folder.kept,
        workers=os.cpu_count() or 1,
        refine=file.refine,
        listen=log,
    )


def _finite(value: Any) -> Any:
    """The same content with null for every number that JSON cannot hold."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


WORK: Mapping[str, Callable[..., dict[str, Any]]] = {
    "study": run_study,
    "package": make_package,
    "compare": compare,
    "check": check,
}


def main(kind: str, place: str, *words: str) -> int:
    """Do the job; whatever goes wrong is told as one sentence."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a studio that runs in the background ignores
    folder = WorkFolder.at(Path(place))
    journal = Journal(folder.private / f"{kind}.jsonl")
    journal.tell("began", process=os.getpid())
    log = EventLog(folder.kept / FILE)
    try:
        journal.tell("done", **WORK[kind](folder, log, *words))
        return 0
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        journal.tell("stopped")
        return 130
    except SfumatoError as error:
        journal.tell("failed", error=str(error))
        return error.exit_code
    except Exception as error:  # the text of a foreign error may quote the table, so only its kind and place are told
        place_of = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place_of.filename)}:{place_of.lineno}"
        kinds = {each.__name__ for each in type(error).__mro__}
        sentence = (
            "The machine refused memory or room on the disk; free some, and go on."
            if kinds & {"MemoryError", "OSError", "OutOfMemoryException"}
            else f"A mistake of ours ({type(error).__name__} at {where}); please report it."
        )
        journal.tell("failed", error=sentence)
        return 3


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
