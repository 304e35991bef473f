"""What a person at a front end gets, and what papermill gets in its place."""

import ast
import inspect
import io
import itertools
import sys
import time
import tomllib

import IPython.display
import ipywidgets
import matplotlib.pyplot as plt
import nbformat
import papermill
import pytest
from conftest import ROOT, refused

from privregret.press import batch, explorer, notebook, publish
from privregret.progress import progress

SMOKE = tomllib.loads((ROOT / "notebooks" / "smoke.toml").read_text())
EXPLORERS = [name for name in batch.notebooks() if "explorer.explorer(" in batch.read(name)[0]]


def turn(picture, **knobs):
    """Turns every knob of an explorer from end to end."""
    defaults = [inspect.signature(picture).parameters[name].default for name in knobs]
    assert all(
        value in list(values) for value, values in zip(defaults, knobs.values(), strict=True)
    )
    pictures = set()
    corners = [
        defaults,
        *itertools.product(*({values[0]: 0, values[-1]: 0} for values in knobs.values())),
    ]
    corners = list(dict.fromkeys(map(tuple, corners)))
    for values in corners:
        fig, png = picture(**dict(zip(knobs, values, strict=True))), io.BytesIO()
        fig.savefig(png, format="png", dpi=50)
        plt.close(fig)
        pictures.add(png.getvalue())
    assert len(pictures) == len(corners) > 2, "a knob that changes nothing"


def test_some_notebooks_have_explorers():
    assert len(EXPLORERS) >= 3


def needed(cells):
    """The cells that make what the last one uses, and itself: [(tags, source)]."""
    result, names = [], {"notebook"}
    for tags, source in reversed(cells):
        nodes = list(ast.walk(ast.parse(source)))
        made = {
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        made |= {
            node.name.split(".")[0]
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.alias)
        }
        made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        made |= {node.asname for node in nodes if isinstance(node, ast.alias) and node.asname}
        if names & made or not result:
            result.insert(0, (tags, source))
            names |= {node.id for node in nodes if isinstance(node, ast.Name)} - made
    return result


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_knob_changes_the_picture(name, tmp_path, monkeypatch):
    cells = [
        (c.metadata.get("tags", []), c.source)
        for c in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4).cells
        if c.cell_type == "code"
    ]
    last = next(i for i, (_, source) in enumerate(cells) if "explorer.explorer(" in source)
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    monkeypatch.setattr(notebook, "current", notebook.Running())
    for said in (
        "figure",
        "table",
        "number",
        "finding",
    ):  # verdicts and their figures have tests of their own
        monkeypatch.setattr(publish, said, lambda *args, **kwargs: None)
    turned = []
    monkeypatch.setattr(
        explorer, "explorer", lambda *args, **knobs: turned.append(turn(*args, **knobs))
    )
    namespace = {"In": []}
    for tags, source in needed(cells[: last + 1]):
        exec(compile(source, f"<{name}>", "exec"), namespace)
        namespace.update(SMOKE[name] if "parameters" in tags else {})
    assert turned
    plt.close("all")


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
    monkeypatch.setattr(IPython.display, "display", found.append)
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
    monkeypatch.setattr(ipywidgets, "interact", interact)
    explorer.explorer(line, height=[0.001, 1.0, 1e6], kind=["a", "b"])
    assert [type(x) for x in shown] == [IPython.display.Image] * 2 and shown[0].data != shown[
        1
    ].data
    assert shown[0].alt == "A line." and not plt.get_fignums()


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
        "from privregret.progress import progress\nfrom privregret.press import explorer\n\n"
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


def test_a_bar_on_a_terminal_says_what_is_done(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = progress(range(8), 8)
    for _ in bar:
        bar.set_description("DP-IMED, easy", refresh=False)
        time.sleep(0.2)
    shown = capsys.readouterr().err
    assert (
        "DP-IMED, easy: " in shown
        and shown.endswith("\r")
        and "DP-IMED" not in shown.split("\r")[-2]
    )
