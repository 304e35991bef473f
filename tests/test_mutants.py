"""Faults that a test must see: those of mutants.toml, with `--every-fault`."""

import mutants
import pytest


@pytest.mark.parametrize("fault", list(mutants.listed()), ids=lambda fault: fault[2])
def test_a_fault_is_caught(fault):
    caught, line = mutants.fate(*fault)
    assert caught, line
