"""Privacy losses and baselines of other packages, which `make test` installs; else tests skip."""

import importlib
import sys
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from privregret.adversarial import EXP3, HTINF
from privregret.bandits import KLUCB, UCB1
from privregret.full_information import FTNL
from privregret.privacy import noisy_maxima
from privregret.privacy.adversarial import composed_delta, laplace_delta
from privregret.studies import asi2025_privacy as adversarial
from privregret.studies import azize2025_privacy as enumeration

pytestmark = pytest.mark.xdist_group("witnesses")


def witness(module):
    """Import a third-party module; in the environment of `make test` it must be there."""
    made = (Path(sys.prefix) / ".dev").exists()
    return importlib.import_module(module) if made else pytest.importorskip(module)


def test_privacy_of_noisy_max():
    """Exponential noise for pure privacy, Gumbel noise for zCDP."""
    dp = witness("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    noisy_max = partial(dp.m.make_noisy_max, domain, dp.linf_distance(T=float, monotonic=False))
    for epsilon, scale in product((0.1, 1.0, 3.0), ("wu2026", "corrected", 0.7)):
        algorithm = FTNL(epsilon, "exponential", scale)
        b = algorithm.noise_scale(3)
        theirs = noisy_max(dp.max_divergence(), scale=b).map(1.0)
        assert algorithm.privacy.proved == pytest.approx(theirs, rel=1e-12)
        ours = noisy_maxima.epoch_loss(3, 4, "exponential", b).value
        assert ours == pytest.approx(theirs, rel=1e-12)
        # a loss that ranges over an interval of length e is e^2 / 8-zCDP
        algorithm = FTNL(epsilon, "gumbel", scale)
        b = algorithm.noise_scale(3)
        theirs = noisy_max(dp.zero_concentrated_divergence(), scale=b).map(1.0)
        assert algorithm.privacy.proved**2 / 8 == pytest.approx(theirs, rel=1e-12)


GRID = 1e-5  # to which it rounds losses, up


@pytest.fixture(scope="module")
def pld():
    return witness("dp_accounting.pld.privacy_loss_distribution")


def their_loss(pld, p, q):
    """What dp-accounting makes of two probability mass functions."""
    with np.errstate(divide="ignore"):
        p, q = (dict(enumerate(np.log(np.ravel(x)))) for x in (p, q))
    return pld.from_two_probability_mass_functions(
        p, q, value_discretization_interval=GRID, symmetric=False
    )


@pytest.mark.parametrize("base", [EXP3(2.0, 0.1), HTINF(6.0)], ids=repr)
def test_losses_of_batches(pld, base, scale=2.0, nodes=40):
    law = adversarial.batched_probabilities
    laws = [law(base, [c, (0.0, 0.0)], scale, nodes) for c in product((0.0, 1.0), repeat=2)]
    theirs = max(their_loss(pld, *pair).get_epsilon_for_delta(0.0) for pair in product(laws, laws))
    ours = adversarial.worst_batched_loss(base, scale, nodes=nodes)
    assert 100 * GRID < ours <= theirs + 1e-9 <= ours + GRID + 2e-9


def test_losses_and_deltas(pld):
    """Their delta of a policy is an upper bound, by less than its grid. Of many Laplace releases
    ours is an upper bound, and so is theirs; theirs from below is a lower one."""
    policy = enumeration.random_policy(2, 3, np.random.default_rng(1))
    for model, epsilon in (("list", 0.1), ("table", 0.5)):
        laws, pairs = enumeration.distributions(policy, model)
        found = [their_loss(pld, *laws[pair]) for pair in pairs]
        loss = max(each.get_epsilon_for_delta(0.0) for each in found)
        delta = max(each.get_delta_for_epsilon(epsilon) for each in found)
        ours = enumeration.policy_loss(policy, model), enumeration.delta(policy, model, epsilon)
        for theirs, own in zip((loss, delta), ours, strict=True):
            assert 100 * GRID < own <= theirs + 1e-9 <= own + GRID + 2e-9
    ours = [composed_delta(1.0, 0.1, 50, grid) for grid in (2000, 20_000)]
    above, below = (
        pld.from_laplace_mechanism(10.0, pessimistic_estimate=up, use_connect_dots=up)
        .self_compose(50)
        .get_delta_for_epsilon(1.0)
        for up in (True, False)
    )
    assert below < min(*ours, above) and ours[0] > ours[1]
    assert ours[1] - above < (ours[0] - above) / 9  # and ours tends to theirs
    assert ours[0] <= laplace_delta(1.0, 0.1, 50) <= 10 * below


ROUNDS = 1000


@pytest.fixture(scope="module")
def policies():
    """Those in Python: they let one set the count of rounds, and draw from numpy's Generator."""
    return witness("pymab._reference.policies")


def test_ucb1(policies):
    """In round t + 1 its index has ln(t + 1), and ours, as in Auer et al., ln t: its count is set
    back by one."""
    rewards, rng = np.random.default_rng(0).random((ROUNDS, 4)), np.random.default_rng(1)
    actions = UCB1().play(rewards, 0)

    def agrees(back):
        policy = policies.UCBPolicy(n_arms=4, c=2.0)
        for t, arm in enumerate(actions):
            policy.step = max(0, t - back)
            if policy.select_action(rng=rng) != arm:
                return False
            policy.update(action=int(arm), reward=rewards[t, arm])
        return True

    assert agrees(1) and not agrees(0)


def test_klucb(policies):
    """In round t + 1 its index has ln t, and ours, as in Garivier and Cappe, ln(t + 1): its count
    is set forward. It finds indices by bisection, and we by Newton's method."""
    rewards = (np.random.default_rng(0).random((ROUNDS, 3)) < (0.5, 0.45, 0.3)).astype(float)
    actions = KLUCB().play(rewards, 0)

    def agrees(forward):
        # its c must be above 0
        policy = policies.KLUCBPolicy(n_arms=3, c=1e-300, tolerance=1e-12, max_iterations=60)
        for t, arm in enumerate(actions):
            policy.step = t + forward
            if t >= 3 and np.ptp((indices := policy.indices())[[arm, indices.argmax()]]) > 1e-11:
                return False
            policy.update(action=int(arm), reward=rewards[t, arm])
        return True

    assert agrees(1) and not agrees(0)


def test_exp3(policies, seed=0):
    """Rewards are losses below 0, its learning rate is K times ours: the same actions."""
    rewards, eta, gamma = np.random.default_rng(100 + seed).random((ROUNDS, 5)), 0.02, 0.1
    ours = EXP3(eta, gamma).play_checked(-rewards, np.random.default_rng(seed))
    policy = policies.EXP3Policy(n_arms=5, gamma=gamma, learning_rate=5 * eta)
    rng, theirs = np.random.default_rng(seed), []
    for t in range(ROUNDS):
        theirs.append(policy.select_action(rng=rng))
        policy.update(action=theirs[-1], reward=rewards[t, theirs[-1]])
    assert (ours == theirs).all() and len(set(theirs)) == 5
