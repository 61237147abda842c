"""Runs in .venv-bench: call a peer on a CSV file and print seconds, peak memory and answers as JSON.

`_peer.py NAME CSV OUT QUASI SENSITIVE [K] [FOLDER]`: quasi-identifiers as JSON, k (5), the folder of the hierarchies (the CSV's).
"""

import json
import resource
import sys
import time
from pathlib import Path

import pandas as pd

name, source, out = sys.argv[1:4]
frame = pd.read_csv(source, sep=None, engine="python", dtype=str, keep_default_na=False)
quasi, sensitive = json.loads(sys.argv[4]), sys.argv[5]
k = int(sys.argv[6]) if len(sys.argv) > 6 else 5
ladders_in = Path(sys.argv[7]) if len(sys.argv) > 7 else Path(source).parent


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if name == "pycanon":
    from pycanon.report.base import get_report_values

    started = time.perf_counter()
    values = get_report_values(frame, quasi, [sensitive])
    print(json.dumps({"seconds": time.perf_counter() - started, "k": int(values[0]), "t": float(values[-1])}))
elif name == "anonypy":
    import anonypy

    for column in [*quasi, sensitive]:
        frame[column] = pd.to_numeric(frame[column]) if column == "age" else frame[column].astype("category")
    started, busy = time.perf_counter(), time.process_time()
    rows = anonypy.Preserver(frame[[*quasi, sensitive]], quasi, sensitive).anonymize_k_anonymity(k=k)
    seconds, cpu, held = time.perf_counter() - started, time.process_time() - busy, peak()
    made = pd.DataFrame(rows)
    made = made.loc[made.index.repeat(made["count"])].drop(columns="count")
    for column in quasi:  # a value comes as a list of one text, and a set is written a,b; ours {a, b}
        texts = [value[0] for value in made[column]]
        made[column] = ["{" + text.replace(",", ", ") + "}" if "," in text else text for text in texts]
    made.to_csv(Path(out), index=False)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": held, "rows": len(made)}))
elif name == "anjana":
    from anjana.anonymity import k_anonymity

    ladders = {}
    for column in quasi:
        lines = [line.split(";") for line in (ladders_in / f"hierarchy_{column}.csv").read_text().splitlines()]
        ladders[column] = {level: [line[level] for line in lines] for level in range(len(lines[0]))}
    started, busy = time.perf_counter(), time.process_time()
    made = k_anonymity(frame[[*quasi, sensitive]], [], quasi, k, 5, ladders)  # at most 5% suppressed
    seconds, cpu, held = time.perf_counter() - started, time.process_time() - busy, peak()
    made.to_csv(Path(out), index=False)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": held, "rows": len(made)}))
elif name in (
    "dpmm-mst",
    "dpmm-aim",
):  # columns of codes; their sizes and [epsilon, delta] stand for quasi and sensitive
    from dpmm.pipelines import AIMPipeline, MSTPipeline

    epsilon, delta = json.loads(sensitive)
    frame = frame.astype(int)
    kind = MSTPipeline if name == "dpmm-mst" else AIMPipeline
    made_by = kind(epsilon=epsilon, delta=delta, disable_processing=True, n_jobs=1, max_model_size=80, compress=True)
    busy = time.process_time()
    made_by.fit(frame, dict(zip(frame.columns, quasi, strict=True)), random_state=0)
    made = made_by.generate(n_records=len(frame), random_state=0)
    cpu = time.process_time() - busy
    made[list(frame.columns)].to_csv(Path(out), index=False)
    print(json.dumps({"cpu": cpu, "mb": peak()}))
