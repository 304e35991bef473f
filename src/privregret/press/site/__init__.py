"""The site: Sphinx and MyST-NB on `docs/`, the notebooks, and pages written from the manifest.

Its pages open from disk: no server, no network, nothing from elsewhere. No notebook runs.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from privregret.files import ROOT
from privregret.press import record
from privregret.press.places import BUILD
from privregret.press.site import pages


def build(
    place: Path = BUILD / "site", root: Path = ROOT, executed: Path = BUILD / "notebooks"
) -> list[str]:
    """Write the site; `place` changes only when all pages are written.

    Parameters
    ----------
    place : Path
        The site's folder; an existing one is replaced.
    root : Path
        Where `docs/`, `figures/` and `notebooks/` are.
    executed : Path
        Where the batch command left the notebooks with their results.

    Returns
    -------
    list of str
        Notebooks without an executed copy: their pages show the committed figures and findings.

    Raises
    ------
    subprocess.CalledProcessError
        If Sphinx fails, or warns of a reference that leads nowhere.
    """
    work, old = (place.with_name(f"{place.name}.{state}") for state in ("partial", "old"))
    with record.still(root):  # a second build waits, too
        for folder in (work, old):
            shutil.rmtree(folder, ignore_errors=True)
        missing = pages.write(work / "source", root, executed)
        sphinx(root / "docs", work)
        only = shutil.ignore_patterns(
            ".*", "*.md", "findings.tex", "verdicts.tex", "not-reproduced.tex"
        )
        shutil.copytree(root / "figures", work / "html/figures", ignore=only, dirs_exist_ok=True)
        if place.exists():
            place.rename(old)
        (work / "html").rename(place)
        for folder in (work, old):
            shutil.rmtree(folder, ignore_errors=True)
    return missing


def sphinx(settings: Path, work: Path) -> None:
    """Run Sphinx on `work/source`, into `work/html`."""
    options = ("-q", "-j", "2", "--fail-on-warning", "--keep-going", "-c", settings)
    folders = ("-d", work / "doctrees", work / "source", work / "html")
    subprocess.run([sys.executable, "-m", "sphinx", *options, *folders], check=True)


def main() -> int:
    """Build the site of this checkout and print where it is."""
    try:
        missing = build()
    except subprocess.CalledProcessError:
        print("error: Sphinx could not build the site; its messages are above", file=sys.stderr)
        return 1
    if missing:
        print(
            "Shown with their committed figures and findings, because they have not run here "
            f"(`make` runs them): {', '.join(missing)}",
            file=sys.stderr,
        )
    print(f"The site is {(BUILD / 'site' / 'index.html').relative_to(ROOT)}; open it in a browser.")
    return 0
