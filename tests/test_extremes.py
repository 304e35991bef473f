"""Numbers at the ends of what floats and 64 bits hold: a run that adds up, or one line that refuses them."""

from dataclasses import fields, replace

import numpy as np
import pytest
from cases import BANDITS, FIRST, FULL_INFORMATION
from conftest import refused
from test_every_algorithm import some_tables

from privregret import checks, exact
from privregret.bandits.base import RoundByRound
from privregret.instances import BernoulliBandit, bernoulli_losses, gap_adversary

TINY = 2.0**-60
EVENTS = [a for a in {type(c.algorithm): c.algorithm for c in BANDITS}.values() if not isinstance(a, RoundByRound)]
FULL = list({type(c.algorithm): c.algorithm for c in FULL_INFORMATION}.values())
EPSILONS = (1e-300, 1e-8, 1e4, 1e300)


def at(algorithm, epsilon):
    return replace(algorithm, epsilon=epsilon) if "epsilon" in {f.name for f in fields(algorithm)} else algorithm


def whole(algorithm, problem, rounds):
    """A run's regret is finite and never falls, of which checks see to it that counts add up."""
    rounds = np.asarray(rounds)
    played = algorithm.run(problem, rounds, 1)
    regret = problem.regret(played, rounds)
    assert np.isfinite(regret).all() and (np.asarray(regret) <= rounds[-1]).all()
    return played


@pytest.mark.parametrize("algorithm", EVENTS, ids=repr)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("means", [(0.5, 0.5 + TINY), (1.0, 0.0), (TINY, 0.0)], ids=str)
def test_event_driven_bandits_reach_the_longest_horizon(algorithm, epsilon, means):
    rounds = [2, 1000, 2**53 + 1, checks.LARGEST]
    played = whole(at(algorithm, epsilon), BernoulliBandit("end", means), rounds)
    assert (played.sum(axis=1) == rounds).all() and (played >= 0).all() and (np.diff(played, axis=0) >= 0).all()


@pytest.mark.parametrize("algorithm", FULL, ids=repr)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_full_information_reaches_the_longest_horizon(algorithm, epsilon):
    for problem in (bernoulli_losses((0.5 - TINY, 0.5)), bernoulli_losses((0.0, 1.0), counts=(1, 10**6))):
        algorithm = at(algorithm, epsilon)
        played = whole(algorithm, problem, [4, 4096])
        assert (played.sum(axis=1) == [4, 4096]).all()


@pytest.mark.parametrize("algorithm", FULL, ids=repr)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.filterwarnings("error")
def test_exact_regret_is_finite_or_refused(algorithm, epsilon):
    problem = bernoulli_losses((0.3, 0.3 + 2.0**-20, 0.8), counts=(1, 10, 10**6))
    try:
        found = exact.expected_regret(at(algorithm, epsilon), problem, [16, 2**50])
    except (ValueError, TypeError) as refusal:
        assert "\n" not in str(refusal)
        return
    assert np.isfinite([found.value, found.error]).all() and (np.diff(found.value) >= -found.error[1:]).all()


BAD = [float("nan"), float("inf"), -1.0, 0.0, "1", None, [1.0], np.array([1.0, 2.0]), 10**400, 1j, object(), True]
ENDS = [1e-300, 1e300, np.float32(0.5), np.float64(2.0), np.int64(1), 5e-324]


@pytest.mark.parametrize("case", FIRST, ids=repr)
def test_every_parameter_is_refused_in_one_line_or_plays(case):
    algorithm = case.algorithm
    for field in fields(algorithm):
        for value in (*BAD, *ENDS):
            try:
                changed = replace(algorithm, **{field.name: value})
            except (ValueError, TypeError) as refusal:
                assert "\n" not in str(refusal) and len(str(refusal)) < 300
                continue
            actions = changed.play(*some_tables(case), 1)
            assert np.isfinite(actions).all() and (np.asarray(actions) >= 0).all(), (field.name, value)


@pytest.mark.parametrize("last", [checks.LARGEST + 1, 2**63 - 1, np.uint64(2**63), 2**64, 10**400])
def test_longer_horizons_are_refused(last):
    refused(lambda: EVENTS[0].run(BernoulliBandit("two", (0.5, 0.6)), [1, last], 1))
    refused(lambda: gap_adversary(4, 0.5) and checks.integer("horizon", last if isinstance(last, int) else int(last)))
