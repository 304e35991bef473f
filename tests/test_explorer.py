"""What a person at a front end gets, and what papermill gets in its place."""

import inspect

import matplotlib.pyplot as plt
import nbformat
import papermill
import pytest
from conftest import refused
from IPython.display import Image

from privregret.press import explorer


def line(height=1.0, kind="b"):
    """A line."""
    fig, ax = plt.subplots()
    ax.plot([0, height], label=kind)
    return fig


@pytest.fixture
def shown(monkeypatch):
    """What is displayed; no figure is open before."""
    plt.close("all")
    found = []
    monkeypatch.setattr(explorer, "display", found.append)
    return found


def test_at_a_front_end_every_parameter_has_a_slider(monkeypatch, shown):
    def interact(show, **sliders):
        assert {name: (s.description, s.value) for name, s in sliders.items()} == {
            "height": ("height", 1.0),
            "kind": ("kind", "b"),
        }
        assert sliders["height"].options == (("0.001", 0.001), ("1", 1.0), ("1e+06", 1e6))
        show(height=1.0, kind="b"), show(height=1e6, kind="b")

    monkeypatch.setattr(explorer, "answers", lambda: True)
    monkeypatch.setattr(explorer, "interact", interact)
    explorer.explorer(line, height=[0.001, 1.0, 1e6], kind=["a", "b"])
    one, other = shown
    assert type(one) is Image and one.data != other.data
    assert one.alt == "A line." and not plt.get_fignums()


def test_elsewhere_it_is_one_picture_at_the_defaults(shown):
    assert not explorer.answers()
    explorer.explorer(line, height=[0.5, 1.0], kind=["a", "b"])
    assert len(shown) == 1 and shown[0].data.startswith(b"\x89PNG") and not plt.get_fignums()


def test_a_slider_has_its_default(shown):
    refused(lambda: explorer.explorer(line, height=[0.5, 2.0]), "height", "1.0", error=ValueError)
    assert not shown


@pytest.mark.parametrize(("batch", "session"), [(False, False), (True, True)])
def test_papermill_stores_no_widget_and_no_bar(batch, session, tmp_path, monkeypatch):
    """Not by itself, nor as the batch command calls it, even from a notebook in JupyterLab."""
    code = inspect.getsource(line) + "explorer.explorer(line, height=[0.5, 1.0], kind=['a', 'b'])\n"
    bar = "for _ in progress(range(3), 3):\n    time.sleep(0.6)"
    head = (
        "import time\nimport matplotlib.pyplot as plt\n"
        "from privregret.core.progress import progress\nfrom privregret.press import explorer\n\n"
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
