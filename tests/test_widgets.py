"""What papermill stores where a person at a front end gets sliders and bars."""

import nbformat
import papermill
import pytest


@pytest.mark.parametrize(("batch", "session"), [(False, False), (True, True)])
def test_papermill_stores_no_widget_and_no_bar(batch, session, tmp_path, monkeypatch):
    """Not by itself, nor as the batch command calls it, even from a notebook in JupyterLab."""
    code = "def line(height=1.0):\n    return draw.subplots()[0]\n\n"
    code += "if has_front_end():\n    interact(line, height=[0.5, 1.0])\nelse:\n    display(line())"
    bar = "for _ in progress(range(3), 3):\n    time.sleep(0.6)"
    head = (
        "import time\nfrom ipywidgets import interact\nfrom privregret.press import draw\n"
        "from privregret.core.progress import has_front_end, progress\n\n"
    )
    cells = [nbformat.v4.new_code_cell(source) for source in (head + code, bar)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "in.ipynb")
    for name, value, wanted in (
        ("PRIVREGRET_OUTPUT", tmp_path, batch),
        ("JPY_SESSION_NAME", "a.ipynb", session),
    ):
        monkeypatch.setenv(name, str(value)) if wanted else monkeypatch.delenv(name, raising=False)
    papermill.execute_notebook(
        tmp_path / "in.ipynb", tmp_path / "out.ipynb", kernel_name="python3", progress_bar=False
    )
    done = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert "widgets" not in done.metadata
    (picture,) = done.cells[0].outputs
    assert set(picture.data) == {"image/png", "text/plain"}
    assert done.cells[1].outputs == []
