"""`make lab` for real: a browser opens a notebook in JupyterLab, changes a parameter, runs it and
moves a slider."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path

import nbformat
import pytest
from browser import chromium, complaints, outside
from conftest import ROOT

from privregret.press import jobs
from privregret.press.strip import stripped

NAME = "azize2025/3-lower-bound"
TYPED = 321  # another number of random cases than the notebook's; it shows in its verdicts
CELLS, ENDED = "//div[contains(@class, 'jp-CodeCell')]", f"All of {NAME} has run"
LIMIT = 1800  # seconds for all of it; a machine that is not busy takes half a minute
ALLOWED = {
    " to activate": "JupyterLab says which of its plugins start slowly, "
    "as they do on a machine that is busy",
}


def git(project, *arguments):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(
        command, cwd=project.root, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def lab(project, tmp_path_factory):
    """The address of a JupyterLab that `make lab` started on a copy of the project, under git, for
    a new user."""
    if not all(map(shutil.which, ("make", "git", "chromium"))):
        pytest.skip("needs make, git and chromium on the PATH")
    copy, home = project.root / "notebooks" / f"{NAME}.ipynb", tmp_path_factory.mktemp("home")
    copy.parent.mkdir()
    notebook = jobs.read(NAME)
    small = tomllib.loads((ROOT / "notebooks" / "smoke.toml").read_text())[NAME]
    parameters = next(c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    for parameter, value in small.items():
        was = jobs.declared_parameters(notebook)[parameter]
        parameters.source = parameters.source.replace(
            f"{parameter}: int = {was}", f"{parameter}: int = {value}"
        )
    copy.write_text(stripped(nbformat.writes(notebook)))
    for name in ("Makefile", "pyproject.toml", ".gitattributes", ".gitignore"):
        shutil.copy(ROOT / name, project.root)
    shutil.copytree(ROOT / "notebooks/.jupyter", project.root / "notebooks/.jupyter")
    (project.root / ".venv").mkdir()
    for part in Path(sys.prefix).iterdir():
        (project.root / ".venv" / part.name).symlink_to(part)
    git(project, "init", "-q"), git(project, "add", "."), git(project, "commit", "-qm", "start")
    recipe = subprocess.run(
        ["make", "-n", ".venv/.ready"], cwd=project.root, check=True, capture_output=True, text=True
    )
    (filter_,) = [line for line in recipe.stdout.splitlines() if "git config" in line]
    subprocess.run(filter_, cwd=project.root, shell=True, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = (
        f"--no-browser --port={port} --ServerApp.port_retries=0 --IdentityProvider.token=secret"
    )
    environment = {
        k: v
        for k, v in project.environment.items()
        if not k.startswith(("JUPYTER", "JPY", "PRIVREGRET"))
    }
    environment |= {"HOME": str(home), "IPYTHONDIR": str(home / "ipython")}
    environment |= {
        f"JUPYTER_{kind}_DIR": str(home / kind) for kind in ("CONFIG", "DATA", "RUNTIME")
    }
    log = open(home / "log", "wb")
    process = subprocess.Popen(
        ["make", "lab", "--assume-old=.venv/.ready", f"ARGS={arguments}"],
        cwd=project.root,
        env=environment,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        yield address
    finally:
        try:
            stop = urllib.request.Request(f"{address}/api/shutdown?token=secret", method="POST")
            urllib.request.urlopen(stop, timeout=10)  # its kernels end with it
            process.wait(timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGKILL)
        log.close()


def test_a_notebook_in_jupyterlab(lab, project, tmp_path_factory):
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.common.by import By

    def all_of(selector):
        return browser.find_elements(By.CSS_SELECTOR, selector)

    def wait(what):
        while time.monotonic() < began + LIMIT:
            with contextlib.suppress(
                StaleElementReferenceException
            ):  # what was found is gone: look again
                if found := what():
                    return found
            time.sleep(0.2)
        pytest.fail(f"waited {LIMIT} s in vain")

    def up():
        try:
            return urllib.request.urlopen(f"{lab}/api/status?token=secret", timeout=5).status == 200
        except OSError:
            return False

    began = time.monotonic()
    wait(up)
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        browser.get(f"{lab}/lab/tree/{NAME}.ipynb?token=secret")
        idle = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
        wait(lambda: all_of(idle))
        (number,) = wait(lambda: browser.find_elements(By.XPATH, f"{CELLS}//span[text()='2000']"))

        def chosen():  # keys that come before the editor has it would be commands to the notebook
            ActionChains(browser).double_click(number).perform()
            focus = browser.execute_script(
                "return document.activeElement.className + getSelection()"
            )
            return "cm-content" in focus and focus.endswith("2000")

        wait(chosen)
        ActionChains(browser).send_keys(str(TYPED)).perform()
        wait(lambda: browser.find_elements(By.XPATH, f"{CELLS}//span[text()='{TYPED}']"))
        browser.find_element(
            By.XPATH, "//li[contains(@class, 'lm-MenuBar-item')][.//div[text()='Run']]"
        ).click()
        wait(lambda: all_of("li[data-command='runmenu:run-all']"))[0].click()
        wait(lambda: all_of(".jp-OutputArea-output img"))
        wait(
            lambda: browser.execute_script(
                "return document.body.textContent.includes(arguments[0])", ENDED
            )
        )
        # the circle above all cells shows how many have run, and leads to the running one
        indicator = all_of(".jp-Notebook-ExecutionIndicator")[0]
        ActionChains(browser).move_to_element(indicator).perform()
        assert all_of(".jp-Notebook-ExecutionIndicator-jumpButton")
        text = wait(
            lambda: "\n".join(o.text for o in all_of(".jp-RenderedMarkdown.jp-OutputArea-output"))
        )
        assert f"{TYPED} random cases" in text and "reproduced: " in text

        def pictures():
            return [image.get_property("src") for image in all_of(".widget-interact img")]

        before = wait(pictures)
        all_of(".noUi-handle")[0].send_keys(Keys.ARROW_RIGHT)
        moved = time.monotonic()
        wait(lambda: pictures() not in ([], before))
        print(f"a slider's new picture after {time.monotonic() - moved:.2f} s")

        ActionChains(browser).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
        saved = project.root / "notebooks" / f"{NAME}.ipynb"
        wait(lambda: '"image/png"' in saved.read_text())
        assert [
            said for said in complaints(browser) if not any(word in said for word in ALLOWED)
        ] == []
        assert outside(browser) == []
    assert git(project, "status", "--porcelain") == f" M notebooks/{NAME}.ipynb\n"
    changed = [line for line in git(project, "diff", "-U0").splitlines() if line[:1] in "+-"][2:]
    assert [line[:1] for line in changed] == ["-", "+"] and f"pairs: int = {TYPED}" in changed[1]
