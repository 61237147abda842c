"""The engine in a notebook, where DuckDB looks for ipywidgets to draw a progress bar."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

WITHOUT = """
import sys
sys.modules["ipywidgets"] = None  # as if it were not installed
"""
WITH = """
import importlib.machinery, sys, types
stand_in = types.ModuleType("ipywidgets")
stand_in.__spec__ = importlib.machinery.ModuleSpec("ipywidgets", None)
sys.modules["ipywidgets"] = stand_in
"""
FIRST_CELL = """
import pyarrow as pa
import sfumato as sf
table = sf.read(pa.table({"age": [31, 32, 33, 34], "ill": ["a", "b", "a", "b"]}))
release = sf.Mondrian(k=2)(table, sf.Roles(quasi=["age"], sensitive=["ill"]))
print(sf.k_anonymity(release, sf.Roles(quasi=["age"], sensitive=["ill"])).value)
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(
    "setup",
    [pytest.param(WITHOUT, id="without ipywidgets", marks=pytest.mark.full), pytest.param(WITH, id="with ipywidgets")],
)
def test_the_first_cell_of_a_notebook_runs(setup: str, tmp_path) -> None:
    kernel = {"name": "python3", "display_name": "Python", "language": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(setup), nbformat.v4.new_code_cell(FIRST_CELL)],
        metadata={"kernelspec": kernel},
    )
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (printed,) = notebook.cells[1].outputs
    assert printed["text"] == "2.0\n"
