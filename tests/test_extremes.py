"""Horizons at the end of what kernels count: a run that adds up, or one line that refuses them."""

import numpy as np
import pytest
from conftest import refused

from privregret import checks
from privregret.bandits import AnytimeLazyUCB
from privregret.instances import BernoulliBandit


@pytest.mark.parametrize("epsilon", [1e-300, 0.5, 1e300])
@pytest.mark.parametrize("means", [(0.5, 0.5 + 2.0**-53), (1.0, 0.0)], ids=str)
def test_the_longest_horizon_is_reached(epsilon, means):
    rounds = [2, 2**53 + 1, checks.LARGEST]
    played = AnytimeLazyUCB(epsilon).run(BernoulliBandit("end", means), rounds, 1)
    assert (played.sum(axis=1) == rounds).all() and (played >= 0).all() and (np.diff(played, axis=0) >= 0).all()


@pytest.mark.parametrize("last", [checks.LARGEST + 1, 2**63 - 1, np.uint64(2**63), 2**64])
def test_longer_horizons_are_refused(last):
    refused(lambda: AnytimeLazyUCB(1.0).run(BernoulliBandit("two", (0.5, 0.6)), [2, last], 1))
