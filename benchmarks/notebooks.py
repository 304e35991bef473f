"""What each notebook took in its last full run, in `notebooks.csv`.

Run it after `make`: it reads the stamps that the batch command leaves in build/. Memory is the peak
of the kernel.
"""

import json
import os
import platform
from pathlib import Path

import pandas as pd

from privregret.core import files
from privregret.press import batch
from privregret.press.notebook import BUILD

HERE = Path(__file__).parent


def hardware() -> str:
    """The processor and its number of cores, as the system names them."""
    names = {}
    if Path("/proc/cpuinfo").exists():
        lines = (
            line.split(":", 1)
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if ":" in line
        )
        names = {key.strip(): value.strip() for key, value in lines}
    cores = os.cpu_count()
    name = names.get("model name", platform.processor() or platform.machine())
    return f"{name.replace('(R)', '').replace('(TM)', '')}, {cores} cores"


def times() -> pd.DataFrame:
    """One row a notebook: seconds and megabytes."""
    rows = []
    for path in sorted((BUILD / "stamps").glob("*/*.json")):
        stamp = json.loads(path.read_text(encoding="utf-8"))
        name = f"{path.parent.name}/{path.stem}"
        rows.append((name, round(stamp["seconds"]), stamp["megabytes"]))
    return pd.DataFrame(rows, columns=["notebook", "seconds", "megabytes"])


if __name__ == "__main__":
    frame = times()
    if missing := sorted(set(batch.notebooks()) - set(frame.notebook)):
        raise SystemExit(f"not run to their end here, so `make` first: {', '.join(missing)}")
    rows = frame.assign(hardware=hardware()).to_csv(index=False, lineterminator="\n")
    files.write(HERE / "notebooks.csv", rows.encode())
    print(f"{len(frame)} notebooks, {frame.seconds.sum() / 60:.0f} minutes, on {hardware()}")
