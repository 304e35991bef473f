"""Compare selection probabilities, noise, privacy losses and baselines with three packages.

`make test` installs all three; elsewhere tests skip those that are missing.
"""

import importlib
import math
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency, chisquare, ks_2samp, ncx2

from privregret.adversarial import EXP3, HTINF
from privregret.bandits import KLUCB, UCB1
from privregret.core import noise
from privregret.exact import selection_from_sums
from privregret.full_information import FTNL
from privregret.instances import Adversary
from privregret.privacy import noisy_maxima
from privregret.privacy.adversarial import composed_delta
from privregret.studies import asi2025_privacy as adversarial
from privregret.studies import azize2025_privacy as enumeration
from privregret.studies import hu2021

pytestmark = pytest.mark.xdist_group("witnesses")
DRAWS = 10_000
FALSE_ALARM = 1e-6  # of each test with opendp's draws, whose seed cannot be set
SUMS = (0.0, 1.0, 2.0)
NOISES = ("laplace", "exponential", "gumbel")


def witness(module):
    """Import a third-party module; in the environment of `make test` it must be there."""
    made = (Path(sys.prefix) / ".dev").exists()
    return importlib.import_module(module) if made else pytest.importorskip(module)


# opendp


@pytest.fixture(scope="module")
def dp():
    prelude = witness("opendp.prelude")
    prelude.enable_features("contrib")
    return prelude


def noisy_max(dp, noise_name, scale, monotonic=False):
    """opendp's report noisy max: exponential noise for pure differential privacy, Gumbel noise for
    zCDP."""
    measures = {"exponential": dp.max_divergence, "gumbel": dp.zero_concentrated_divergence}
    metric = dp.linf_distance(T=float, monotonic=monotonic)
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_noisy_max(domain, metric, measures[noise_name](), scale=scale)


def laplace(dp, scale):
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    return dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=scale)


def test_privacy_of_noisy_max(dp):
    """2 / scale whatever the noise; 1 / scale if the sums of neighbours can only move in the same
    direction."""
    for epsilon, scale in product((0.1, 1.0, 3.0), ("wu2026", "corrected", 0.7)):
        algorithm = FTNL(epsilon, "exponential", scale)
        b = algorithm.noise_scale(3)
        theirs = noisy_max(dp, "exponential", b).map(1.0)
        assert algorithm.privacy.proved == pytest.approx(theirs, rel=1e-12)
        ours = noisy_maxima.epoch_loss(3, 4, "exponential", b).value
        assert ours == pytest.approx(theirs, rel=1e-12)
        # a loss that ranges over an interval of length e is e^2 / 8-zCDP
        algorithm = FTNL(epsilon, "gumbel", scale)
        theirs = noisy_max(dp, "gumbel", algorithm.noise_scale(3)).map(1.0)
        assert algorithm.privacy.proved**2 / 8 == pytest.approx(theirs, rel=1e-12)
    both, one = (noisy_max(dp, "exponential", 1.0, m).map(1.0) for m in (False, True))
    chances = [selection_from_sums([d, 0.0], [0.0] * 2, "exponential", 1.0)[0] for d in (4, 3, 2)]
    assert math.log(chances[2] / chances[0]) == pytest.approx(both, rel=1e-12)
    assert math.log(chances[1] / chances[0]) == pytest.approx(one, rel=1e-12)


def their_winners(dp, kind):
    if kind != "laplace":
        select = noisy_max(dp, kind, 1.0)
        return [select([-x for x in SUMS]) for _ in range(DRAWS)]
    # it has no noisy max with Laplace noise
    noises = np.reshape(laplace(dp, 1.0)([0.0] * 3 * DRAWS), (DRAWS, 3))
    return (noises - SUMS).argmax(axis=1)


@pytest.mark.parametrize("kind", NOISES)
def test_winners_of_noisy_max(dp, kind):
    """Round 4 of FTNL plays the winner on rounds 2 and 3: opendp's, ours and the exact
    distribution agree."""
    theirs = np.bincount(their_winners(dp, kind), minlength=3)
    law, other = (selection_from_sums(SUMS, [0.0] * 3, kind, scale) for scale in (1.0, 1.25))
    assert chisquare(theirs, DRAWS * law).pvalue > FALSE_ALARM
    losses, rng = np.outer([0, 1, 1, 0], SUMS) / 2, np.random.default_rng(0)
    algorithm = FTNL(1.0, kind, 1.0)
    ours = np.bincount([algorithm.play(losses, rng)[3] for _ in range(DRAWS)], minlength=3)
    assert chi2_contingency([ours, theirs]).pvalue > FALSE_ALARM
    # and a scale that is off by a quarter would be seen, nearly always
    away = DRAWS * ((other - law) ** 2 / law).sum()
    assert ncx2.sf(chi2.isf(FALSE_ALARM, 2), 2, away) > 0.99


def test_laplace_noise(dp):
    rng = np.random.default_rng(0)
    for scale in (0.5, 10.0):
        theirs = laplace(dp, scale)([0.0] * DRAWS)
        ours = [noise.draw(noise.LAPLACE, scale, rng) for _ in range(DRAWS)]
        assert ks_2samp(ours, theirs).pvalue > FALSE_ALARM


def test_costs_of_releases(dp, pulls=64):
    """What the ledger adds up for each reward, opendp's composition of the Laplace releases that
    hold it costs too."""
    trees = [hu2021.hybrid_releases(pulls, tree) for tree in ("paper", "scaled", "rootfree")]
    for releases in [hu2021.lazy_releases(pulls), *trees]:
        theirs = []
        for pull in range(1, pulls + 1):
            holds = [laplace(dp, r.scale) for r in releases if r.first <= pull <= r.last]
            theirs.append(dp.c.make_composition(holds).map(1.0) if holds else 0.0)
        np.testing.assert_allclose(hu2021.cost(releases, pulls), theirs, rtol=1e-12)


# dp-accounting


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


def noisy_max_laws(actions, rounds, kind):
    """Distributions of the winner on the neighbouring sums of `noisy_maxima.epoch_loss`, and
    the loss it states."""
    loss = noisy_maxima.epoch_loss(actions, rounds, kind, 1.5)
    sums = ([own] + [others] * (actions - 1) for own, others in (loss.before, loss.after))
    return [[selection_from_sums(s, [0.0] * actions, kind, 1.5) for s in sums]], loss.value


def exp3_laws(rounds=8):
    losses = np.random.default_rng(0).random((rounds, 2))
    changed = losses.copy()
    changed[0] = 1 - losses[0]
    tables = (Adversary("table", np.arange(rounds), x) for x in (losses, changed))
    log_p, log_q = (adversarial.exp3_log_probabilities(x, rounds, 0.4, 0.1) for x in tables)
    return [np.exp([log_p, log_q])], float(np.abs(log_p - log_q).max())


def batched_laws(base, scale=2.0, nodes=40):
    law = adversarial.batched_probabilities
    laws = [law(base, [c, (0.0, 0.0)], scale, nodes) for c in product((0.0, 1.0), repeat=2)]
    return list(product(laws, laws)), adversarial.worst_batched_loss(base, scale, nodes=nodes)


def policy_laws(model):
    policy = enumeration.random_policy(2, 3, np.random.default_rng(1))
    laws, pairs = enumeration.distributions(policy, model)
    return [laws[pair] for pair in pairs], enumeration.policy_loss(policy, model)


LAWS = {
    "noisy max, Laplace": lambda: noisy_max_laws(3, 4, "laplace"),
    "noisy max, exponential": lambda: noisy_max_laws(5, 3, "exponential"),
    "noisy max, Gumbel": lambda: noisy_max_laws(4, 6, "gumbel"),
    "EXP3": exp3_laws,
    "batched EXP3": lambda: batched_laws(EXP3(2.0, 0.1)),
    "batched HTINF": lambda: batched_laws(HTINF(6.0)),
    "policy on a table": lambda: policy_laws("table"),
}


@pytest.mark.parametrize("name", LAWS)
def test_losses_of_privacy(pld, name):
    laws, ours = LAWS[name]()
    theirs = max(their_loss(pld, p, q).get_epsilon_for_delta(0.0) for p, q in laws)
    assert 100 * GRID < ours <= theirs + 1e-9
    assert theirs <= ours + GRID + 1e-9


def test_deltas_of_policies(pld):
    """Their delta is an upper bound, by less than its grid."""
    policy = enumeration.random_policy(2, 3, np.random.default_rng(1))
    for model, epsilon in (("list", 0.1), ("table", 0.5)):
        laws, pairs = enumeration.distributions(policy, model)
        ours = enumeration.delta(policy, model, epsilon)
        losses = (their_loss(pld, *laws[pair]) for pair in pairs)
        theirs = max(loss.get_delta_for_epsilon(epsilon) for loss in losses)
        assert 100 * GRID < ours <= theirs + 1e-12
        assert theirs <= ours + GRID


def test_delta_of_many_laplace_releases(pld):
    """Ours is an upper bound, and so is theirs; theirs from below is a lower one."""
    ours = [composed_delta(1.0, 0.1, 50, grid) for grid in (2000, 20_000)]
    above, below = (
        pld.from_laplace_mechanism(10.0, pessimistic_estimate=up, use_connect_dots=up)
        .self_compose(50)
        .get_delta_for_epsilon(1.0)
        for up in (True, False)
    )
    assert below < min(*ours, above) and ours[0] > ours[1]
    assert ours[1] - above < (ours[0] - above) / 9  # and ours tends to theirs


# pymab


ROUNDS = 2000
CLOSE = 1e-11  # indices of KL-UCB, which pymab finds by bisection, and we by Newton's method


@pytest.fixture(scope="module")
def policies():
    """pymab's policies in Python: unlike its compiled twins, they let one set the count of rounds,
    and draw from numpy's Generator."""
    return witness("pymab._reference.policies")


def test_ucb1(policies):
    """In round t + 1 its index has ln(t + 1), and ours, as in Auer et al., ln t: its count is set
    back by one."""
    # no two indices are equal
    rewards, rng = (np.random.default_rng(0).random((ROUNDS, 4)), np.random.default_rng(1))
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
    is set forward."""
    rewards = (np.random.default_rng(0).random((ROUNDS, 3)) < (0.5, 0.45, 0.3)).astype(float)
    actions = KLUCB().play(rewards, 0)

    def agrees(forward):
        # its c must be above 0
        policy = policies.KLUCBPolicy(n_arms=3, c=1e-300, tolerance=1e-12, max_iterations=60)
        for t, arm in enumerate(actions):
            policy.step = t + forward
            if t >= 3 and np.ptp((indices := policy.indices())[[arm, indices.argmax()]]) > CLOSE:
                return False
            policy.update(action=int(arm), reward=rewards[t, arm])
        return True

    assert agrees(1) and not agrees(0)


def test_exp3(policies, seed=0):
    """Rewards are losses below 0, and its learning rate is K times ours: then one stream gives the
    same actions."""
    rewards, eta, gamma = np.random.default_rng(100 + seed).random((ROUNDS, 5)), 0.02, 0.1
    ours = EXP3(eta, gamma).play_checked(-rewards, np.random.default_rng(seed))
    policy = policies.EXP3Policy(n_arms=5, gamma=gamma, learning_rate=5 * eta)
    rng, theirs = np.random.default_rng(seed), []
    for t in range(ROUNDS):
        theirs.append(policy.select_action(rng=rng))
        policy.update(action=theirs[-1], reward=rewards[t, theirs[-1]])
    assert (ours == theirs).all()
    assert len(set(theirs)) == 5
