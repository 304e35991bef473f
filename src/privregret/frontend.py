"""What only somebody at a front end gets: a bar of progress, a picture with knobs.

JupyterLab and VS Code can answer a widget; papermill, nbconvert and the pages made from their notebooks cannot, and
there a bar is left out and an explorer is a plain picture.
"""

import inspect
import io
import os
import sys
from collections.abc import Callable, Sequence

from tqdm.auto import tqdm


def answers() -> bool:
    """Whether somebody's front end is at the other end of this process: it shows widgets, and sends what they say."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or os.environ.get("PRIVREGRET_OUTPUT"):
        return False
    # a Jupyter server names the session of a kernel that it starts for somebody; VS Code leaves a variable
    return "JPY_SESSION_NAME" in os.environ or "__vsc_ipynb_file__" in shell.user_ns


def progress(iterable, total: int) -> tqdm:
    """A bar of progress on a terminal or at a front end; it comes after a second and leaves nothing behind.

    Parameters
    ----------
    iterable : iterable
    total : int
        How many items it has.

    Returns
    -------
    tqdm.tqdm
        Gives the items; `set_description(text, refresh=False)` says what is being done.
    """
    shown = answers() or sys.stderr.isatty()
    return tqdm(iterable, total=total, leave=False, delay=1, disable=not shown)


def explorer(picture: Callable, **knobs: Sequence) -> None:
    """Show a picture with a slider for each of its parameters; without a front end, once and at its defaults.

    Parameters
    ----------
    picture : callable
        Returns a figure, which is closed; its parameters have defaults, and its docstring describes it.
    **knobs : sequence
        Parameter -> the values that its slider takes, the default among them.
    """
    import matplotlib.pyplot as plt  # here, as those who only simulate need none of it
    from IPython.display import Image, display
    from ipywidgets import SelectionSlider, interact

    def show(**values):
        fig, png = picture(**values), io.BytesIO()
        fig.savefig(png, format="png", metadata={"Software": None})
        plt.close(fig)
        display(Image(png.getvalue(), width=int(fig.get_figwidth() * 130), alt=inspect.getdoc(picture)))

    def slider(name):
        options = [(value if isinstance(value, str) else f"{value:g}", value) for value in knobs[name]]
        return SelectionSlider(options=options, value=defaults[name], description=name)

    defaults = {name: inspect.signature(picture).parameters[name].default for name in knobs}
    for name, value in defaults.items():
        if value not in list(knobs[name]):
            raise ValueError(f"{name} starts at {value!r}, which its slider does not have")
    if answers():
        interact(show, **{name: slider(name) for name in knobs})
    else:
        show(**defaults)  # a widget's state in the executed notebook would be of no use there
