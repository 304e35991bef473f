"""Faults that a test must see: those of mutants.toml, planted with `--every-fault`."""

import mutants
import pytest

LISTED = list(mutants.listed())


def test_the_text_of_every_listed_fault_is_in_its_file():
    assert not [f"{file.name}: {what}" for file, wrong, what, _ in LISTED if not wrong]


@pytest.mark.parametrize("fault", LISTED, ids=lambda fault: fault[2])
def test_a_fault_is_caught(fault):
    caught, line = mutants.fate(*fault)
    assert caught, line
