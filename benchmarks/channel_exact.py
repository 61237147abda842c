"""How far the k-anonymity channel is exact: `./run bench channel_exact`; `benchmarks/channel_exact.py quick` leaves the longest out.

Each line: the possible rows, the nodes of the lattice, the rows of a table, k, l and t, the rule, the prior, the tables (inputs), how the error
was found, what kind of number it is, the error, how often the best guess is right as a power of 2, and the seconds (a fresh
process each).

(a) uniform prior: counting alone, whatever the size of the domain; the last lines are the domain of Adult with its hierarchies
(b) rows drawn independently: every table, or one for all that nothing tells apart
(c) a rule that is a function, uniform prior: tables of quasi-identifiers alone, or their orbits
(d) beyond: bounds and an estimate with a 95% interval
"""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

from _bench import ADULT, child, peak, serve

ADULT_COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
PAPER: dict[str, Any] = {"trees": [[2, 2], [2]], "values": 3}
WIDE: dict[str, Any] = {"trees": [[4, 5, 5], [2], [3, 3], [5, 4]], "values": 10}
MIDDLE: dict[str, Any] = {"trees": [[3, 3], [3]], "values": 30}

CASES: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "(a) uniform prior, by counting",
        [
            PAPER | {"rows": 5, "k": 2},
            PAPER | {"rows": 5, "k": 2, "publish": "minimal"},
            PAPER | {"rows": 5, "k": 2, "publish": "deterministic"},
            PAPER | {"rows": 5, "k": 2, "publish": "most general"},
            PAPER | {"rows": 5, "k": 2, "l": 2},
            PAPER | {"rows": 5, "k": 2, "t": 0.3},
            PAPER | {"rows": 100, "k": 5},
            PAPER | {"rows": 1_000, "k": 5},
            PAPER | {"rows": 20, "k": 2, "t": 0.3},
            PAPER | {"rows": 30, "k": 2, "t": 0.3},
            WIDE | {"rows": 100, "k": 5},
            WIDE | {"rows": 1_000, "k": 5},
            {"adult": True, "rows": 100, "k": 5},
            {"adult": True, "rows": 100, "k": 5, "l": 3, "publish": "deterministic"},
            {"adult": True, "rows": 1_000, "k": 5},
        ],
    ),
    (
        "(b) independent rows, uniform attributes",
        [
            PAPER | {"rows": 5, "k": 2, "prior": "rows"},
            PAPER | {"rows": 6, "k": 2, "prior": "rows", "method": "enumerate"},
            PAPER | {"rows": 6, "k": 2, "prior": "rows"},
            PAPER | {"rows": 7, "k": 2, "prior": "rows"},
            PAPER | {"rows": 8, "k": 2, "prior": "rows", "method": "orbits"},
            PAPER | {"rows": 9, "k": 2, "prior": "rows", "method": "orbits", "slow": True},
            PAPER | {"rows": 100, "k": 2, "prior": "rows", "publish": "most general"},
        ],
    ),
    (
        "(c) a function as the rule, uniform prior",
        [
            PAPER | {"rows": 10, "k": 2, "publish": "middle"},
            PAPER | {"rows": 16, "k": 2, "publish": "middle"},
            MIDDLE | {"rows": 6, "k": 2, "publish": "middle"},
            MIDDLE | {"rows": 7, "k": 2, "publish": "middle"},
            MIDDLE | {"rows": 8, "k": 2, "publish": "middle", "method": "orbits", "slow": True},
        ],
    ),
    (
        "(d) beyond what is exact",
        [
            PAPER | {"rows": 12, "k": 2, "prior": "rows", "method": "bound"},
            PAPER | {"rows": 12, "k": 2, "prior": "rows"},
            PAPER | {"rows": 12, "k": 2, "prior": "rows", "publish": "deterministic"},
            PAPER | {"rows": 40, "k": 3, "prior": "rows"},
            WIDE | {"rows": 20, "k": 2, "publish": "middle"},
        ],
    ),
]


def tree(name: str, fans: list[int]) -> Any:
    """A hierarchy in which every value splits alike, with these numbers of children from the top."""
    from sfumato.channel.tables import Attribute

    size, width, levels = math.prod(fans), 1, [tuple(str(i) for i in range(math.prod(fans)))]
    for fan in reversed(fans):
        width *= fan
        levels.append(tuple(f"{width}.{i // width}" for i in range(size)))
    return Attribute(name=name, role="quasi", levels=tuple(levels))


def attributes(case: dict[str, Any]) -> tuple[Any, ...]:
    from sfumato.channel.tables import Attribute

    if "adult" not in case:
        secret = Attribute(name="s", role="sensitive", levels=(tuple(str(i) for i in range(case["values"])),))
        return (*(tree(f"q{i}", fans) for i, fans in enumerate(case["trees"])), secret)
    found = []
    for column in ADULT_COLUMNS:
        lines = ADULT.with_name(f"hierarchy_{column}.csv").read_text(encoding="utf-8").splitlines()
        levels = tuple(zip(*(line.split(";") for line in lines), strict=True))
        found.append(Attribute(name=column, role="quasi", levels=levels))
    lines = ADULT.with_name("hierarchy_occupation.csv").read_text(encoding="utf-8").splitlines()
    found.append(Attribute(name="occupation", role="sensitive", levels=(tuple(line.split(";")[0] for line in lines),)))
    return tuple(found)


def solved(text: str) -> dict[str, Any]:
    from sfumato.channel.k_anonymity import Description, solve

    case = json.loads(text)
    publish = case.get("publish", "uniform")
    d = Description(
        rows=case["rows"],
        k=case["k"],
        l=case.get("l", 1),
        t=case.get("t"),
        publish=(lambda free: free[len(free) // 2]) if publish == "middle" else publish,
        attributes=attributes(case),
    )
    started = time.perf_counter()
    found = solve(d, prior={} if case.get("prior") else None, method=case.get("method", "auto"))
    return found.as_json() | {
        "seconds": time.perf_counter() - started,
        "size": d.domain.size,
        "nodes": len(d.domain.nodes),
        "mb": peak(),
    }


def line(*cells: str) -> None:
    widths = (13, 6, 6, 3, 3, 4, 14, 8, 9, 10, 9, 22, 11, 9, 6)
    print("  " + " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), flush=True)


def main() -> None:
    quick = "quick" in sys.argv[1:]
    for title, cases in CASES:
        print(title)
        line("rows possible", "nodes", "rows", "k", "l", "t", "rule", "prior", "inputs", "method", "number", "error", "log2 right", "seconds", "MB")  # fmt: skip
        for case in cases:
            if quick and (case.get("slow") or case["rows"] > 200):
                continue
            found = child(__file__, "solved", json.dumps(case))
            ends = found.get("ci") or (found["bounds"] if found["exactness"] == "bound" else None)
            error = f"{ends[0]:.6f} .. {ends[1]:.6f}" if ends else f"{found['error']:.12f}"
            inputs = (
                str(found["inputs"])
                if (found["inputs"] or 10**9) < 10**8
                else f"10^{found['log2_inputs'] * math.log10(2):.0f}"
            )
            line(
                f"{found['size']:,}", f"{found['nodes']:,}", f"{case['rows']:,}", str(case["k"]), str(case.get("l", "")),
                str(case.get("t", "")), case.get("publish", "uniform"), case.get("prior", "uniform"), inputs,
                found["method"], found["exactness"], error, "" if ends else f"{found['log2_right']:.1f}",
                f"{found['seconds']:.2f}", f"{found['mb']:.0f}",
            )  # fmt: skip


serve({"solved": solved}, main)
