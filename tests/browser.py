"""A browser for the tests: headless Chromium on pages of this machine, with its console and its
requests on record."""

import json
import shutil
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

HERE = ("", "localhost", "127.0.0.1", "::1")  # what a request may name without leaving the machine
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


@contextmanager
def chromium(profile, width=1400, height=900):
    """A selenium driver whose logs are on; `profile` is an empty folder. Without Chromium the test
    is skipped."""
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    driver = shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("needs chromium and chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def complaints(browser) -> list[str]:
    """What the console has said in earnest since the last call."""
    return [
        entry["message"]
        for entry in browser.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING")
    ]


def requests(browser) -> list[str]:
    """Addresses that pages have asked for since the last call, the browser's own pages left out."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [
        m["params"]["request"]["url"]
        for m in messages
        if m["method"] == "Network.requestWillBeSent"
    ]
    sent += [m["params"]["url"] for m in messages if m["method"] == "Network.webSocketCreated"]
    return [url for url in sent if not url.startswith(("chrome:", "about:"))]


def outside(browser) -> list[str]:
    """Those of `requests` that left the machine."""
    return [url for url in requests(browser) if (urlsplit(url).hostname or "") not in HERE]
