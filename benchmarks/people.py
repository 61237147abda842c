"""People with several rows: what counting people costs, as a multiple of the same job on one row a person.

`python benchmarks/people.py [ROWS] [PEOPLE]`; 1,000,000 rows of 200,000 people unless told.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf

ROWS, PEOPLE = (int(text) for text in (*sys.argv[1:3], *("1000000", "200000")[len(sys.argv) - 1 :]))
HIERARCHIES = {"age": {"widths": [5, 10, 20, 40]}, "zip": {"prefix": [1, 2, 3, 4]}, "month": {"widths": [3, 6]}}
ROLES = {"quasi": ("age", "sex", "zip", "month"), "sensitive": ("diagnosis",), "hierarchies": HIERARCHIES}
ONE = sf.Roles(**ROLES, person="person", people={"rows": "one", "keep": "latest", "by": "month"})
AGGREGATES = {"visits": "count", "diagnosis": "most", "month": "max"}
MADE = sf.Roles(
    **ROLES, person="person", people={"rows": "one", "keep": "latest", "by": "month", "aggregates": AGGREGATES}
)
UNLINKED = sf.Roles(**ROLES, person="person", people={"rows": "unlinked"})
LINKED = sf.Roles(**ROLES, person="person", people={"rows": "linked"})
BY_ROWS = sf.Roles(**ROLES, one_row_per_person=True)
REQUIRE = (sf.require("entropy_l_diversity(diagnosis) >= 3"),)
MECHANISMS = {
    "mondrian": sf.Mondrian(k=10),
    "mondrian, l = 3": sf.Mondrian(k=10, require=REQUIRE),
    "local_suppression": sf.LocalSuppression(k=10),
    "top_down_specialization": sf.TopDownSpecialization(k=10),
    "generalize_full_domain": sf.GeneralizeFullDomain(k=10, suppression=0.05),
    "generalize_full_domain, l = 3": sf.GeneralizeFullDomain(k=10, suppression=0.05, require=REQUIRE),
}
JOINED = {
    "mondrian": sf.Mondrian(k=10),
    "mondrian, l = 3": sf.Mondrian(k=10, require=REQUIRE),
    "generalize_full_domain": sf.GeneralizeFullDomain(k=10, suppression=0.05),
}
"""The mechanisms that keep the rows of a person joined."""


def visits(folder: Path) -> Path:
    """Visits of people: age, sex and place are a person's, month and diagnosis a visit's."""
    rng = np.random.default_rng(0)
    who = np.sort(np.append(np.arange(PEOPLE), rng.integers(0, PEOPLE, ROWS - PEOPLE)))
    table = {
        "person": who,
        "age": rng.integers(0, 90, PEOPLE)[who],
        "sex": np.array(["f", "m"])[rng.integers(0, 2, PEOPLE)[who]],
        "zip": 10_000 + rng.integers(0, 400, PEOPLE)[who],
        "month": rng.integers(1, 13, ROWS),
        "diagnosis": np.array([f"d{i:02d}" for i in range(40)])[np.minimum(rng.geometric(0.1, ROWS) - 1, 39)],
    }
    path = folder / "visits.parquet"
    pq.write_table(pa.table(table), path)
    return path


def job(mechanism: sf.Mechanism, path: Path, roles: sf.Roles, out: Path) -> tuple[float, float, int]:
    """Seconds to sanitize, and to write, measure and verify; and the smallest class."""
    begun = time.perf_counter()
    release = mechanism(sf.read(path), roles)
    made = time.perf_counter()
    found = sf.publish(release, roles, mechanism.promises, out)
    return made - begun, time.perf_counter() - made, int(found.verdicts[0].score.value)


def once(path: Path, folder: Path) -> Path:
    """The same people with a row each."""
    table = pq.read_table(path)
    first = np.unique(table.column("person").to_numpy(), return_index=True)[1]
    out = folder / "once.parquet"
    pq.write_table(table.take(first), out)
    return out


def main() -> None:
    """Print both jobs for every mechanism."""
    with tempfile.TemporaryDirectory() as folder:
        path = visits(Path(folder))
        print("people")
        for title, mechanisms, roles in (
            ("(a) unlinked", MECHANISMS, UNLINKED),
            ("(b) linked", JOINED, LINKED),
        ):
            print(f"{title}: {ROWS:,} rows of {PEOPLE:,} people, against the same rows as if each were another person")
            for name, mechanism in mechanisms.items():
                plain = job(mechanism, path, BY_ROWS, Path(folder) / "rows.parquet")
                people = job(mechanism, path, roles, Path(folder) / "people.parquet")
                print(
                    f"    {name}: rows {plain[0]:.2f} s + {plain[1]:.2f} s, people {people[0]:.2f} s + {people[1]:.2f} s: "
                    f"{sum(people[:2]) / sum(plain[:2]):.1f}x; smallest class {people[2]} people",
                    flush=True,
                )
        single = once(path, Path(folder))
        for title, roles in (("(c) one, the latest", ONE), ("(d) one, with aggregates", MADE)):
            print(f"{title}: {ROWS:,} rows of {PEOPLE:,} people, against a table of one row each")
            plain = job(MECHANISMS["mondrian"], single, BY_ROWS, Path(folder) / "rows.parquet")
            people = job(MECHANISMS["mondrian"], path, roles, Path(folder) / "people.parquet")
            print(
                f"    mondrian: one row each {plain[0]:.2f} s + {plain[1]:.2f} s, of visits {people[0]:.2f} s + {people[1]:.2f} s: "
                f"{sum(people[:2]) / sum(plain[:2]):.1f}x; smallest class {people[2]} people",
                flush=True,
            )


if __name__ == "__main__":
    main()
