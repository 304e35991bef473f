"""`make lab` for real: a browser opens a notebook in JupyterLab, runs it, moves a slider and saves;
git has nothing to say."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress

import pytest
from conftest import ROOT, git
from test_strip import set_up

NAME = "azize2025/3-lower-bound"
# seconds for all of it; a machine that is not busy takes less than one minute
LIMIT = 300
CHROMIUM = ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,900")


@pytest.fixture
def lab(tmp_path):
    """A copy of the project under git, and the address of a JupyterLab that `make lab` started."""
    if not all(map(shutil.which, ("make", "git", "chromium", "chromedriver"))):
        pytest.skip("needs make, git, chromium and chromedriver on the PATH")
    copy, others = tmp_path / "copy", (".git", ".venv", ".cache", "build", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*others))
    (copy / ".venv").symlink_to(sys.prefix)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
        git(copy, *words)
    set_up(copy)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = f"--no-browser --port={port} --IdentityProvider.token=t"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY"))}
    own = {"cwd": copy, "env": kept | {"HOME": str(tmp_path), "PYTHONPATH": str(copy / "src")}}
    command = ["make", "lab", "--assume-old=.venv/.ready", f"ARGS={words}"]
    process = subprocess.Popen(command, **own, stderr=subprocess.DEVNULL, start_new_session=True)
    yield copy, f"http://127.0.0.1:{port}"
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)  # its kernels end with it
    process.wait(timeout=60)


def test_a_notebook_in_jupyterlab(lab, tmp_path):
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.common.exceptions import WebDriverException

    (copy, address), options, began = lab, webdriver.ChromeOptions(), time.monotonic()
    for flag in (*CHROMIUM, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)

    def all_of(selector):
        return browser.find_elements("css selector", selector)

    def wait(what):
        while time.monotonic() < began + LIMIT:
            with suppress(WebDriverException, OSError, LookupError):  # not there yet, or no longer
                if found := what():
                    return found
            time.sleep(0.2)
        pytest.fail(f"waited {LIMIT} s in vain")

    def says(text):
        return browser.execute_script(f"return document.body.textContent.includes('{text}')")

    def pictures():
        return [image.get_property("src") for image in all_of(".widget-output img")]

    wait(lambda: urllib.request.urlopen(f"{address}/api/status?token=t", timeout=5).status == 200)
    browser = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        browser.get(f"{address}/lab/tree/notebooks/{NAME}.ipynb?token=t")
        wait(lambda: all_of(".jp-Notebook-ExecutionIndicator[data-status=idle]"))
        # the menu is about the notebook that has the focus
        menu = "//li[contains(@class, 'lm-MenuBar-item')][.//div[text()='Run']]"
        wait(lambda: all_of(".jp-CodeCell")[0].click() or True)
        wait(lambda: browser.find_element("xpath", menu).click() or True)
        wait(lambda: all_of("li[data-command='runmenu:run-all']")[0].click() or True)
        wait(lambda: says(f"All of {NAME} has run") or says("Traceback"))
        assert all_of(".jp-OutputArea-output img") and says("(at most ")
        before = pictures()
        # the keys of a handle and of saving, as a keyboard sends them
        all_of(".noUi-handle")[0].send_keys("\ue014")
        wait(lambda: pictures() not in ([], before))
        webdriver.ActionChains(browser).key_down("\ue009").send_keys("s").key_up("\ue009").perform()
        wait(lambda: '"image/png"' in (copy / f"notebooks/{NAME}.ipynb").read_text())
        wait(lambda: git(copy, "status", "--porcelain") == "")
    finally:
        browser.quit()
