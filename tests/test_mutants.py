"""Faults that a test must see: those of mutants.toml, in copies of the project (`--every-fault`)."""

import mutants
import pytest


@pytest.mark.parametrize("fault", mutants.listed(), ids=lambda fault: fault[2])
def test_a_fault_is_caught(fault):
    caught, line = mutants.fate(*fault)
    assert caught, line
