"""A picture with knobs; where no front end answers, as under papermill, the picture alone."""

import inspect
import io
from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
from IPython.display import Image, display
from ipywidgets import SelectionSlider, interact

from privregret.core.progress import answers


def explorer(picture: Callable, **knobs: Sequence) -> None:
    """Show the figure that `picture` returns: at a front end with sliders, else at its defaults.

    `knobs` has each slider's values, the default among them; the picture's docstring describes it.
    """
    defaults = {name: inspect.signature(picture).parameters[name].default for name in knobs}
    for name, value in defaults.items():
        if value not in list(knobs[name]):
            raise ValueError(f"{name} starts at {value!r}, which its slider does not have")

    def show(**values):
        fig, png = picture(**values), io.BytesIO()
        fig.savefig(png, format="png", metadata={"Software": None})
        plt.close(fig)
        width = int(fig.get_figwidth() * 130)
        display(Image(png.getvalue(), width=width, alt=inspect.getdoc(picture)))

    def slider(name):
        named = [(v if isinstance(v, str) else f"{v:g}", v) for v in knobs[name]]
        return SelectionSlider(options=named, value=defaults[name], description=name)

    if answers():
        interact(show, **{name: slider(name) for name in knobs})
    else:
        show(**defaults)
