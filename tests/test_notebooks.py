"""The example notebooks run from top to bottom, draw what they promise and say nothing on standard error but progress."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
DRAWS = {"first_release", "which_release"}
PROGRESS = ("mondrian: ", "study: ")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_it_printed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    said = "".join(output["text"] for output in outputs if output.get("name") == "stderr")
    assert all(line.startswith(PROGRESS) for line in said.replace("\r", "\n").splitlines() if line), said
    shown = {kind for output in outputs for kind in output.get("data", {})}
    assert "text/html" in shown or path.stem == "channel_laboratory"
    assert (path.stem in DRAWS) == ("image/svg+xml" in shown)
