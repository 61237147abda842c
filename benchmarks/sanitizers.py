"""The sanitizers: `./run bench sanitizers`; one part of it alone: `python benchmarks/sanitizers.py nt`.

nt    (n,t)-closeness against t-closeness on the same data (the survey's planned experiment): same target t, same k, the loss of
      each, on Adult with three and with seven quasi-identifiers, occupation sensitive, both by Mondrian; every release published
      and its promise measured again from the file
speed Mondrian, full-domain search, k-member, microaggregation (MDAV), anatomy and local noise on Adult and on Adult resampled to
      300,000 and 1,000,000 rows: seconds to make, seconds to publish, peak memory, loss; at each size anonypy's Mondrian and
      anjana's full-domain generalization with the same k, once, stopped after 300 CPU seconds; then how many times our CPU seconds
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _bench import ADULT, QUASI, adult_roles, child, hierarchy, need_adult, peak, peer, serve, timed

FEW = ["age", "education", "marital-status"]
TARGETS = (0.1, 0.15, 0.2, 0.3)
SIZES = (1000, 3000)


# --- nt: (n,t)-closeness against t-closeness --------------------------------------------------------------------------


def closeness(columns: str, text: str) -> dict[str, Any]:
    """A task: Mondrian with k = 5 and one requirement on Adult; its loss, measured on the published file."""
    import sfumato as sf

    quasi = json.loads(columns)
    files = {name: hierarchy(name) for name in (*quasi, "occupation") if name != "age"}
    roles = sf.Roles(quasi=tuple(quasi), sensitive=("occupation",), hierarchies=files)
    table, mechanism = sf.read(ADULT), sf.Mondrian(k=5, require=(sf.require(text),))
    made: dict[str, Any] = {}
    wall, _ = timed(lambda: made.update(release=mechanism(table, roles)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        found = sf.publish(made["release"], roles, mechanism.promises, path)
        measured = sf.Release(table=sf.read(path), original=table)
        return {
            "wall": wall,
            "mb": peak(),
            "classes": len(measured.table.count(roles.quasi)),
            "reached": found.verdicts[-1].score.value,
            "exactness": found.verdicts[-1].score.exactness,
            "t": sf.t_closeness(ground="equal")(measured, roles).value,
            "iloss": sf.iloss(measured, roles).value,
            "discernibility": sf.metric("discernibility")(measured, roles).value,
            "query": sf.metric("query_error")(measured, roles).value,
        }


def nt() -> None:
    print(
        "nt: (n,t)-closeness against t-closeness, Adult's 30,162 rows, Mondrian with k = 5, distance equal, occupation"
    )
    head = f"    {'requirement':36} {'ILoss':>7} {'query err.':>10} {'classes':>8} {'reached':>8} {'t reached':>9} {'seconds':>8}"
    for columns in (FEW, QUASI):
        print(f"  {len(columns)} quasi-identifiers: {', '.join(columns)}")
        print(head)
        for t in TARGETS:
            texts = [f"t_closeness[equal] <= {t}", *(f"n_t_closeness[equal,n={n}] <= {t}" for n in SIZES)]
            for text in texts:
                got = child(__file__, "closeness", json.dumps(columns), text)
                sign = " " if got["exactness"] == "exact" else "≤"
                print(
                    f"    {text:36} {got['iloss']:7.4f} {got['query']:10.4f} {got['classes']:8,d} {sign}{got['reached']:7.4f} "
                    f"{got['t']:9.4f} {got['wall']:8.2f}"
                )


# --- speed: six sanitizers at three sizes -------------------------------------------------------------------------------

MADE = {
    "mondrian k=10": ("Mondrian", {"k": 10}),
    "mondrian k=10, no trees": ("Mondrian", {"k": 10}),
    "full-domain k=10, 5%": ("GeneralizeFullDomain", {"k": 10, "suppression": 0.05}),
    "k-member k=10": ("KMember", {"k": 10}),
    "MDAV k=10 (age)": ("Microaggregation", {"k": 10, "columns": "age"}),
    "MDAV k=10 (all)": ("Microaggregation", {"k": 10}),
    "anatomy l=5": ("Anatomy", {"l": 5}),
    "local noise eps=1 (age)": ("LocalNoise", {"epsilon": 1.0, "bounds": "age=17:90"}),
}


def make(path: str, name: str) -> dict[str, Any]:
    """A task: one sanitizer on one file, published and measured again."""
    import sfumato as sf

    roles = adult_roles(QUASI, trees=not name.endswith("no trees"))  # without, values in sets, as anonypy releases them
    kind, settings = MADE[name]
    mechanism, table = getattr(sf, kind)(**settings), sf.read(path)
    made: dict[str, Any] = {}
    wall, cpu = timed(lambda: made.update(release=mechanism(table, roles)))
    release = made["release"]
    with tempfile.TemporaryDirectory() as folder:
        published, _ = timed(lambda: sf.publish(release, roles, mechanism.promises, Path(folder) / "release.csv"))
    try:
        loss = float(sf.iloss(release, roles).value)
    except sf.SfumatoError:
        loss = None
    return {"wall": wall, "cpu": cpu, "published": published, "mb": peak(), "iloss": loss}


def speed() -> None:
    from search import resample

    print(
        "speed: seven quasi-identifiers of Adult, occupation sensitive; seconds to make (CPU), to publish, peak MB, ILoss"
    )
    given = set(PEERS)  # a peer that does not finish is not asked for more rows
    with tempfile.TemporaryDirectory() as folder:
        for rows in (30_162, 300_000, 1_000_000):
            path = ADULT if rows == 30_162 else Path(folder) / f"adult{rows}.csv"
            if rows != 30_162:
                resample(path, rows)
            print(f"  {rows:,} rows")
            used = {}
            for name in MADE:
                try:
                    got = child(__file__, "make", str(path), name)
                except SystemExit as refused:
                    print(f"    {name:26} {str(refused).strip().splitlines()[-1][:120]}")
                    continue
                used[name] = got["cpu"]
                loss = "      -" if got["iloss"] is None else f"{got['iloss']:7.4f}"
                print(
                    f"    {name:26} {got['wall']:8.2f} s ({got['cpu']:6.2f}) {got['published']:7.2f} s {got['mb']:7.0f} MB {loss}",
                    flush=True,
                )
            for rival, (title, ours) in PEERS.items():
                if rival not in given:
                    print(f"    {title:26} not asked, since it did not finish with fewer rows")
                    continue
                seconds, told = _peer(rival, path, Path(folder))
                if seconds is None:
                    given.discard(rival)
                ratio = f"; {seconds / used[ours]:.0f}x {ours}" if seconds is not None and ours in used else ""
                print(f"    {title:26} {told}{ratio}", flush=True)


PEERS = {
    "anonypy": ("anonypy k=10", "mondrian k=10, no trees"),
    "anjana": ("anjana k=10, 5%", "full-domain k=10, 5%"),
}
CAP = 300
"""CPU seconds that a peer is given for one table, reading it included: other work on the machine does not shorten them."""


def _peer(name: str, source: Path, folder: Path) -> tuple[float | None, str]:
    """A peer on one table: its CPU seconds, if it finishes, and a line: seconds, peak memory, and the ILoss of its file by our metric."""
    out = folder / f"{name}.csv"
    given = str(source), str(out), json.dumps(QUASI), "occupation", "10", str(ADULT.parent)
    try:
        done = peer(name, *given, seconds=CAP)
    except FileNotFoundError:
        return None, "not measured; `./run bench` sets its environment up"
    if done.returncode < 0:
        return None, f"not finished after {CAP} CPU seconds"
    if done.returncode:
        return None, "failed: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1][:100]
    got = json.loads(done.stdout.splitlines()[-1])
    try:
        loss = f"{child(__file__, 'lost', str(out), str(source))['iloss']:7.4f}"
    except SystemExit as refused:
        loss = "ILoss not measured: " + str(refused).strip().splitlines()[-1][:100]
    line = f"{got['seconds']:8.2f} s ({got['cpu']:6.2f}) {'':9} {got['mb']:7.0f} MB {loss} ({got['rows']:,} rows left)"
    return got["cpu"], line


def lost(path: str, original: str) -> dict[str, Any]:
    """A task: the ILoss of a peer's file."""
    import sfumato as sf

    release = sf.Release(table=sf.read(path), original=sf.read(original))
    return {"iloss": sf.iloss(release, adult_roles(QUASI)).value}


PARTS = {"nt": nt, "speed": speed}


def main() -> None:
    need_adult()
    asked = sys.argv[1:] or list(PARTS)
    for part in asked:
        if part not in PARTS:
            raise SystemExit(f"There is no part {part!r}; there are {', '.join(PARTS)}.")
        PARTS[part]()


if __name__ == "__main__":
    serve({"closeness": closeness, "make": make, "lost": lost}, main)
