"""Everything that publishes: figures, findings, the manifest of both, the batch command."""

from importlib.util import find_spec

for package in ("matplotlib", "seaborn"):
    if not find_spec(package):
        text = f"privregret.press needs {package}: pip install '.[notebooks]'"
        raise ModuleNotFoundError(text, name=package)
