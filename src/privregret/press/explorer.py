"""A picture with knobs, for somebody at a front end.

JupyterLab and VS Code can answer a widget; papermill, nbconvert and the pages made from their
notebooks cannot, and there an explorer is a plain picture.
"""

import inspect
import io
from collections.abc import Callable, Sequence

from privregret.progress import answers


def explorer(picture: Callable, **knobs: Sequence) -> None:
    """Show a picture with a slider for each of its parameters; without a front end, once and at its
    defaults.

    Parameters
    ----------
    picture : callable
        Returns a figure, which is closed; its parameters have defaults, and its docstring describes
        it.
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
        display(
            Image(png.getvalue(), width=int(fig.get_figwidth() * 130), alt=inspect.getdoc(picture))
        )

    def slider(name):
        options = [
            (value if isinstance(value, str) else f"{value:g}", value) for value in knobs[name]
        ]
        return SelectionSlider(options=options, value=defaults[name], description=name)

    defaults = {name: inspect.signature(picture).parameters[name].default for name in knobs}
    for name, value in defaults.items():
        if value not in list(knobs[name]):
            raise ValueError(f"{name} starts at {value!r}, which its slider does not have")
    if answers():
        interact(show, **{name: slider(name) for name in knobs})
    else:
        show(**defaults)  # a widget's state in the executed notebook would be of no use there
