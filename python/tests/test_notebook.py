"""The notebook runs from its beginning to its end."""

import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[1] / "examples" / "tables.ipynb"


def test_the_notebook_runs_from_beginning_to_end():
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for module in ["ipykernel", "matplotlib", "pandas"]:
        pytest.importorskip(module)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output["text"] for output in shown if output["output_type"] == "stream"]
    assert any("208 of 220 times are as printed" in text for text in texts), texts
    assert any("220 of 220 published times recomputed" in text for text in texts), texts
    pictures = [output for output in shown if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) == 1
    assert any("image/png" in output.get("data", {}) for output in shown)
