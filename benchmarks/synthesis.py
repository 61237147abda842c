"""Synthetic rows with differential privacy: how far their marginals are from the true ones, and what they cost, beside dpmm's MST and AIM.

Error is the mean total variation over all marginals of one, two and three columns, 0 to 1, of one release each: noise makes it differ
from run to run. Adult with age in bins of five years, and the demo's town with age in bins of five years and income in bins of 10,000; delta
is 1e-5 where there is one. `ours` leaves out the peers: AIM takes minutes a line. Numbers are the epsilons, all three unless given.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from _bench import ADULT, hierarchy, need_adult, peak, peer, serve, timed

EPSILONS = (0.1, 1.0, 10.0)
DELTA = 1e-5
WAYS = (
    ("adaptive", True),
    ("tree", True),
    ("adaptive", False),
    ("tree", False),
)
PEERS = ("mst", "aim")
CAP = 3600
"""CPU seconds that a peer may take for one release."""


def adult() -> tuple[Any, Any]:
    """The table and its roles, every domain stated."""
    import sfumato as sf

    taxonomies = [
        "sex",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    ]
    roles = sf.Roles(
        quasi=("age", *taxonomies),
        hierarchies={column: hierarchy(column) for column in taxonomies},
        domains={"age": "15:95:5"},
        reading={"delimiter": ";"},
    )
    return sf.read(ADULT, stated=True).stated(roles.reading), roles


def town(folder: Path) -> tuple[Any, Any]:
    """The same of the demo's people; missing is a value."""
    import sfumato as sf
    from sfumato.cli.demo_table import AREAS, DIAGNOSES, REGIONS, write_town

    write_town(folder)
    roles = sf.Roles(
        quasi=(
            "age",
            "sex",
            "postal_code",
            "birth_country",
            "education",
            "marital_status",
            "occupation",
            "household_size",
        ),
        sensitive=("diagnosis", "income"),
        hierarchies={
            column: str(folder / "hierarchies" / f"{column}.csv")
            for column in ("birth_country", "education", "marital_status", "occupation")
        },
        domains={
            "age": "0:105:5",
            "sex": ["male", "female"],
            "postal_code": [region + area for region in REGIONS for area in AREAS],
            "household_size": "1:9",
            "diagnosis": list(DIAGNOSES),
            "income": "0:200000:10000",
        },
    )
    return sf.read(folder / "people.csv", stated=True).stated(roles.reading), roles


def codes_of(table: Any, domains: Any) -> tuple[list[Any], Any]:
    """The distinct rows of a table as codes of the domains, a released bin by its label, and how many rows each has."""
    counts = table.count([domain.name for domain in domains])
    codes = []
    for domain in domains:
        column, at = counts.column(domain.name), counts.codes[counts.names.index(domain.name)]
        place = {value: i for i, value in enumerate(domain.texts)}
        labels = np.array([place.get(text, -1) for text in column.texts])
        codes.append((labels if (labels >= 0).all() else domain.codes(column, table.reading))[at])
    return codes, counts.n


def errors(one: Any, other: Any, sizes: list[int]) -> list[float]:
    """The mean total variation of all marginals of one, two and three columns."""
    found = []
    for ways in (1, 2, 3):
        apart = []
        for columns in itertools.combinations(range(len(sizes)), ways):
            shares = []
            for codes, n in (one, other):
                at = np.zeros(len(n), dtype=np.int64)
                for i in columns:
                    at = at * sizes[i] + codes[i]
                counted = np.bincount(at, weights=n, minlength=math.prod(sizes[i] for i in columns))
                shares.append(counted / counted.sum())
            apart.append(float(np.abs(shares[0] - shares[1]).sum() / 2))
        found.append(float(np.mean(apart)))
    return found


def opened(which: str, folder: Path) -> tuple[Any, Any, Any, str]:
    from sfumato.mechanisms.parameters.stated_domains import domains_of

    table, roles = adult() if which == "Adult" else town(folder)
    outside = "drop" if which == "Adult" else "missing"  # Adult has no missing values
    return table, roles, domains_of(table, roles, "benchmark", "", missing=outside == "missing"), outside


def ours(which: str, structure: str, epsilon: str, delta: str) -> dict[str, Any]:
    """A task: one release, its error and its cost."""
    import sfumato as sf

    with tempfile.TemporaryDirectory() as folder:
        table, roles, domains, outside = opened(which, Path(folder))
        settings = {"structure": structure, "epsilon": epsilon, "outside": outside}
        made_by = sf.DpSynthesis.of(settings | ({"delta": delta} if delta else {}))
        made: list[Any] = []
        _, cpu = timed(lambda: made.append(made_by(table, roles)))
        sizes = [len(domain) for domain in domains]
        error = errors(codes_of(table, domains), codes_of(made[0].table, domains), sizes)
    return {"error": error, "cpu": cpu, "mb": peak()}


def theirs(which: str, name: str, epsilon: float) -> dict[str, Any] | str:
    """The same of dpmm, in its own environment; or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        table, _, domains, _ = opened(which, Path(folder))
        codes, n = codes_of(table, domains)
        sizes = [len(domain) for domain in domains]
        source, out = Path(folder) / "codes.csv", Path(folder) / "made.csv"
        lines = np.repeat(np.stack(codes, axis=1), n, axis=0)
        names = [f"c{i}" for i in range(len(sizes))]
        np.savetxt(source, lines, fmt="%d", delimiter=",", header=",".join(names), comments="")
        try:
            done = peer(
                f"dpmm-{name}", str(source), str(out), json.dumps(sizes), json.dumps([epsilon, DELTA]), seconds=CAP
            )
        except FileNotFoundError:
            return "not there: ./run bench sets it up"
        if done.returncode:
            return f"did not end within {CAP} CPU s" if done.returncode < 0 else done.stderr.strip().splitlines()[-1]
        made = np.loadtxt(out, delimiter=",", skiprows=1, dtype=np.int64)
        told = json.loads(done.stdout.splitlines()[-1])
        return {**told, "error": errors((codes, n), (list(made.T), np.ones(len(made))), sizes)}


def show(label: str, told: dict[str, Any] | str) -> None:
    if isinstance(told, str):
        print(f"    {label:28} {told}", flush=True)
        return
    one, two, three = told["error"]
    print(
        f"    {label:28} {one:.4f} / {two:.4f} / {three:.4f}   {told['cpu']:6.1f} CPU s, {told['mb']:5.0f} MB",
        flush=True,
    )


def main() -> None:
    from _bench import child

    need_adult()
    peers = () if "ours" in sys.argv else PEERS
    epsilons = [float(word) for word in sys.argv[1:] if word != "ours"] or EPSILONS
    print("mean total variation over all marginals of 1 / 2 / 3 columns")
    for which in ("Adult", "town"):
        for epsilon in epsilons:
            print(f"{which}, epsilon {epsilon:g}")
            for structure, gaussian in WAYS:
                delta = str(DELTA) if gaussian else ""
                label = f"{structure}, {f'delta {DELTA:g}' if gaussian else 'pure'}"
                show(label, child(__file__, "release", which, structure, str(epsilon), delta))
    for name in peers:
        for which, epsilon in itertools.product(("Adult", "town"), epsilons):
            show(f"dpmm {name}, {which}, epsilon {epsilon:g}", theirs(which, name, epsilon))


if __name__ == "__main__":
    serve({"release": ours}, main)
