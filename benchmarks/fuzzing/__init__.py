"""The parts of benchmarks/fuzz.py: what is tried (tables, roles, parameters), how it is run, and who checks it.

`check`, `cover`, `models` and `written` are the independent checker: plain Python, `csv` and `pyarrow`, and nothing of the package.
"""
