"""The short form of `campaign.py`: a fault of each kind, and hostile values for every parameter of
every notebook."""

import random
import sys

import campaign
import pytest

from privregret.press import jobs
from privregret.press.notebook import ParameterError

# As the command line gives them, and what a file of parameters may hold.
HOSTILE = [
    "{[]: 1}", "-" * 5000 + "1", "10**400", "1" + "0" * 400, "[1" + "0" * 400 + "]",
    "1" + "0" * 5000, str(-(2**63)), "nan", "inf", "[nan]", "1e999", "-1", "[-1]", "None", "[]",
    "{}", "set()", "{1}", "[[]]", "[" * 3000, "[None]", "[True, False]",
    "['a', 1]", "1j", "b'x'", "...", "\\",
    "\0", "a\nb", "'''", '"',
    "__import__('os').abort()", '"); __import__("os").abort()  #',
    "'); __import__('os').abort()  #",
    "/dev/zero", "http://127.0.0.1:9/x.csv", "٣", "x" * 10**5, [[0.5] * 9] * 9, {"a": 1}, object,
]  # fmt: skip
TOO_LARGE = [str(2**63), str(2**200), f"[{2**63}]"]  # where whole numbers are asked for


@pytest.mark.parametrize("name", jobs.select([]))
def test_hostile_values_are_refused_in_one_line(name):
    notebook = jobs.read(name)
    declared = jobs.declared_parameters(notebook)
    chosen, wrong = random.Random(name), []
    for parameter, default in declared.items():
        whole = isinstance(default, int) or (
            isinstance(default, list) and isinstance(default[0], int)
        )
        for hostile in [*chosen.sample(HOSTILE, 10), *(TOO_LARGE if whole else [])]:
            value = jobs.parse_value(hostile) if isinstance(hostile, str) else hostile
            try:
                jobs.check_parameters(notebook, declared | {parameter: value})
                wrong.append((parameter, hostile, "taken"))
            except (jobs.UsageError, ParameterError) as refusal:
                message = str(refusal)
                if "\n" in message or len(message) > 500 or "the cells of parameters" in message:
                    wrong.append((parameter, hostile, message))
    assert wrong == []


@pytest.fixture(scope="module")
def world():
    with campaign.a_world() as world:
        yield world


@pytest.mark.xdist_group("campaign")
@pytest.mark.parametrize(
    ("section", "faults"),
    [("kills", 2), ("corruptions", 5), ("notebooks", 1), ("cache", 4), ("store", 3)],
)
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_the_campaign_loses_nothing(world, section, faults):
    (outcomes,) = campaign.campaign(world, [section], 300, 1, faults).values()
    assert len(outcomes) == faults
    assert [o for o in outcomes if not o.recovered or o.lost or o.wrong or o.left] == []
