"""Bounds of the papers: known values, regrets on the right side of them, steps of proofs."""

import math
from functools import partial
from inspect import signature
from itertools import product
from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, refused
from laws import FALSE_ALARM
from scipy.stats import laplace, norm

from privregret import estimates, exact, instances, simulate
from privregret.adversarial import HTINF, tuning
from privregret.bounds import asi2025, azize2025, cesari2026, hu2021, wu2026
from privregret.divergence import d_epsilon, kl
from privregret.full_information import FTNL, EpochLeader, NaiveFTNL, RandomPrefixSoftmax
from privregret.studies import azize2025 as steps
from privregret.studies import azize2025_privacy as enumeration
from privregret.studies import azize2025_tails as tails
from privregret.studies import cesari2026 as proofs
from privregret.studies import wu2026 as study
from privregret.studies.asi2025 import lemma_11_certified

FOREVER = 2**45


def regret(algorithm, instance, horizon=FOREVER):
    return float(exact.expected_regret(algorithm, instance, horizon).value[0])


INSTANCES = [
    instances.packing(2, 0.02),
    instances.packing(10**6, 0.5),
    instances.doubling(6, 50),
    instances.cyclic(100, 0.05),
    instances.bernoulli_losses((0.0, 0.05, 1.0), (1, 1, 10**6)),
    instances.deterministic_losses((0.0, 1.0), log_counts=(0.0, 200.0)),
    instances.bernoulli_losses((0.01, 0.02, 0.04, 0.16, 0.64), (1, 3, 27, 243, 10**4)),
]


def test_constants_are_those_of_the_papers():
    assert asi2025.corollary_2(10**6, 4, 0.1, corrected=True) == pytest.approx(929730, abs=0.5)
    for epsilon, actions, *known in (
        *((0.1, 10, 9.195, 10.123), (0.1, 10**4, 80.116, 81.615)),
        *((1, 100, 2.538, 3.973), (1, 10**6, 11.717, 13.217)),
    ):
        bounds = (wu2026.theorem_3, wu2026.theorem_3_sharp)
        found = [np.max(bound(math.log(actions), epsilon, 2**24 - 1)) for bound in bounds]
        assert found == pytest.approx(known, abs=6e-4)
    refused(lambda: wu2026.theorem_3(math.log(5), 1.0, 10), "6")


POINT = dict(gaps=[0, 0.02, 0.03, 0.4], log_counts=np.log([1, 2, 3, 5]), losses=np.eye(3), drop=1)
POINT |= dict(log_actions=math.log(1000), epsilon=0.05, gap=0.04, eta=0.05, gamma=0.02, scale=4)
POINT |= dict(arms=5, experts=16, horizon=10**4, delta=1e-6, rate=2e-4, pulls=3, fraction=0.1)
POINT |= dict(rounds=60, noise="exponential", growth=3, means=[0.8, 0.5])
POINT |= dict(log_levels=100, step=0.01, raised=0.02, log_least=13, failure=0.1, share=0.2)


@pytest.mark.every_paper
def test_bounds_are_their_formulas():
    """At one point, as typed once more into a program with 30 digits; several values are summed."""
    known, found = pd.read_csv(ROOT / "tests/bounds.csv", index_col="bound").value, {}
    for name in known.index:
        bound = resolve_name(f"privregret.bounds.{name}")
        given = signature(bound).parameters.items()
        unknown = [n for n, p in given if p.default is p.empty and n not in POINT]
        assert not unknown, f"{name}: POINT has no value of {unknown}"
        value = bound(**{n: POINT[n] for n, _ in given if n in POINT})
        value = np.ravel([*value.values()] if isinstance(value, dict) else value)
        found[name] = value[np.isfinite(value)].sum()
    assert len(found) > 40 and found == pytest.approx(known.to_dict(), rel=1e-8)


def test_the_terms_of_lemma_25_where_the_noise_decides_nothing():
    """There the other of its two learning rates is the smaller one."""
    assert asi2025.lemma_25_terms(1000, 2, 0.001) == pytest.approx(389.889348703229181, rel=1e-12)


def test_brackets_partition_the_suboptimal_actions():
    gap, sizes = hu2021.brackets([0, 0.1, 0.15, 0.2, 0.79, 0.8], np.log([1, 2, 3, 4, 5, 6]))
    np.testing.assert_allclose(gap, [0.1, 0.2, 0.4, 0.8])
    np.testing.assert_allclose(np.exp(sizes), [5, 4, 5, 6])
    for count in range(1, 12):
        gap, sizes = hu2021.brackets(instances.doubling(count, 3).gaps, np.log([1, *[3] * count]))
        assert len(gap) == count and np.exp(sizes) == pytest.approx(3)
    gap, sizes = hu2021.brackets(np.append(0, 0.9 * 2.0 ** np.arange(-39, 1)))
    assert gap.tolist() == [0.9 * 2.0**k for k in range(-39, 1)] and not sizes.any()


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: i.name)
def test_upper_bounds_hold(instance):
    gaps, counts, log_k = instance.gaps, instance.log_counts, instance.log_actions
    gap = gaps[gaps > 0].min()
    for epsilon in (0.05, 1.0, 20.0):
        for scale in ("hu2021", "corrected"):
            learner = FTNL(epsilon, "laplace", scale)
            assert regret(learner, instance) <= hu2021.theorem_7(gaps, counts, epsilon)
            for T in (10, 10**8):
                assert regret(learner, instance, T) <= hu2021.corollary_9(log_k, T, epsilon)
        for noise in ("laplace", "exponential", "gumbel"):
            found = regret(FTNL(epsilon, noise, "wu2026", True), instance)
            assert found <= wu2026.theorem_2(log_k, gap, epsilon, noise)
            if not instance.bits and noise != "laplace":
                for factor in (1.0, 2.0):
                    found = regret(FTNL(epsilon, noise, factor), instance)
                    assert found <= 1 + 4 * factor / epsilon * log_k  # by convexity
                assert found <= wu2026.theorem_4(log_k, epsilon)
        # the cap makes large epsilons all the same
        for prefix in ("random", "full") if epsilon < 2 else ("full",):
            learner = RandomPrefixSoftmax(epsilon, prefix)
            first = np.exp(counts - np.logaddexp.reduce(counts)) @ gaps  # of a uniform first action
            bound = cesari2026.theorem_1(log_k, gap, learner.eta)
            assert regret(learner, instance) - first + gaps.max() <= bound


PRIVATE = [
    *(partial(FTNL, noise=n) for n in ("laplace", "exponential", "gumbel")),
    *(partial(FTNL, noise=n, bernoulli_resampling=True) for n in ("laplace", "gumbel")),
    RandomPrefixSoftmax,
    partial(RandomPrefixSoftmax, cap=math.inf),
    partial(RandomPrefixSoftmax, prefix="full"),
    NaiveFTNL,
]


@pytest.mark.parametrize("log_actions", [math.log(6), math.log(10**6), 40.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_theorem_3_holds_for_private_algorithms_only(log_actions, epsilon):
    horizons = np.array([1, 2, 3, 7, 20, 100, 1000, 2**14, 2**20])
    sharp = wu2026.theorem_3_sharp(log_actions, epsilon, horizons)
    assert (wu2026.theorem_3(log_actions, epsilon, horizons) <= sharp + 1e-12).all()
    for gap in (0.05, 0.5):
        instance = instances.cyclic(None, gap, log_actions=log_actions)
        for make in PRIVATE:
            algorithm = make(epsilon)
            assert algorithm.privacy.proved <= epsilon * (1 + 1e-12)
            found = exact.expected_regret(algorithm, instance, horizons)
            assert (found.value + found.error >= sharp).all(), algorithm
        # a leader that is not private pays the first round only, and goes below
        if sharp[-1] > 1:
            leader = exact.expected_regret(EpochLeader(), instance, horizons).value
            assert (leader < sharp).any()


def test_lemma_5_and_its_parts():
    worst, log_k = {"small": 0.0, "large": 0.0}, math.log(2)
    for eta, relative in product((0.01, 0.125), (0.5, 4, 4.001)):
        gap = relative * eta
        pair = instances.bernoulli_losses((0.5 - gap / 2, 0.5 + gap / 2))
        found = proofs.prefix_sum(pair, eta)[0]
        assert found <= cesari2026.lemma_5(log_k, gap, eta)
        part, rate = ("small", log_k / gap) if relative <= 4 else ("large", log_k / eta)
        worst[part] = max(worst[part], found / rate)
    # what an independent computation found worst; (5) and (6) are 153.7 and 4
    assert worst == pytest.approx({"small": 4.185, "large": 1.046}, abs=0.01)


def test_lemma_2_of_wu2026():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a = np.concatenate([[0.0], rng.exponential(1.0, 6) * 2.0 ** rng.integers(-3, 5)])
        at = study.lemma_2(a, np.zeros(7), 0.7 + 1e-30j)
        assert at.imag / 1e-30 <= math.log(2) * at.real + 1e-12  # the derivative


def test_remark_4_needs_ever_larger_constants():
    expected = {(9, 2048): 3.2e4, (16, 512): 9.4e4, (32, 256): 5.3e3}
    for (c2, rounds), value in expected.items():
        limit = study.remark_4(math.inf, rounds, 0.11, 0.1, 2.0, c2)
        assert math.exp(limit) == pytest.approx(value, rel=0.02)
        assert study.remark_4(2000.0, rounds, 0.11, 0.1, 2.0, c2) == pytest.approx(limit, abs=1e-6)
    # the finite value is the exact selection probability over the conjectured bound
    instance = instances.bernoulli_losses((0.0, 0.11, 1.0), log_counts=(0.0, 0.0, 12.0))
    p = exact.selection_probabilities(instance, 256, "gumbel", 20.0).log_action[1]
    hot = 4 * 0.1 / 16 * 256
    weights = np.array([0.0, -hot * 0.11, 12.0 - hot])
    assert study.remark_4(12.0, 256, 0.11, 0.1, 2.0, 16) == pytest.approx(
        p - (weights[1] - np.logaddexp.reduce(weights)), abs=1e-9
    )


@pytest.mark.filterwarnings("error")
def test_best_arms_and_no_rounds():
    for last in (hu2021.lazy_last_array, hu2021.hybrid_last_array):
        found = last([0, 0.1], 10**6, 0.5)
        assert found[0] == math.inf and found[1] == last(0.1, 10**6, 0.5)
    for bound in (hu2021.theorem_3, hu2021.theorem_5):
        assert bound([0, 0.1], 10**6, 0.5) == bound([0.1], 10**6, 0.5) > bound([0, 0], 10**6, 0.5)
    assert hu2021.theorem_7([0, 0], None, 0.5) == 1
    sharp = wu2026.theorem_3_sharp(5.0, 0.1, [0, 1, 100])
    each = wu2026.theorem_3_rounds(5.0, 0.1, np.arange(1, 101))
    np.testing.assert_allclose(sharp, [0, each[0], each.sum()])


def widths_11(gaps, horizon, epsilon):
    """The left side of (27) / gap: both widths of Anytime-Lazy-UCB after array d_j."""
    pulls, log_t = 2.0 ** hu2021.lazy_last_array(gaps, horizon, epsilon), math.log(horizon)
    return (np.sqrt(3 * log_t / pulls) + 3 * log_t / (epsilon * pulls)) / gaps


def widths_12(gaps, horizon, epsilon):
    """The right side of (42) / gap: both widths of Hybrid-UCB after array d_j."""
    array, log_t = hu2021.hybrid_last_array(gaps, horizon, epsilon) + 1, math.log2(horizon)
    pulls = 2.0**array - 1
    return (np.sqrt(3 * log_t / pulls) + 6 * np.sqrt(8) * log_t * array / (epsilon * pulls)) / gaps


ARMS = [g.ravel() for g in np.meshgrid(np.geomspace(1e-3, 1, 200), np.geomspace(1e-3, 128, 200))]


@pytest.mark.parametrize(
    ("widths", "least", "most"),
    [(widths_11, 0.45, 1 / math.sqrt(8) + 1 / 8), (widths_12, 0.1, (3**0.5 + 3 * 2**0.5) / 16)],
)
def test_widths_after_the_last_array_are_below_half_the_gap(widths, least, most):
    gaps, epsilons = ARMS
    found = max(widths(gaps, horizon, epsilons).max() for horizon in (10, 10**4, 10**9))
    assert least < found <= most < 1 / 2


def test_pulls_beyond_the_last_array():
    """The sum of P(theta = s) omega^(s) over s > d_j, by Lemmas 11 and 12, for Theorems 3 and 5."""
    gaps, epsilons = ARMS
    t = np.arange(1, 2**21)
    arrays = 1 + np.floor(np.log2(t))
    tails_11, tails_12 = arrays * (t**-6.0 + t**-3.0 / 2), 2 * t**-3.0 + t**-7.0
    last_11, last_12 = (
        int(last(gaps, 2, epsilons).min())
        for last in (hu2021.lazy_last_array, hu2021.hybrid_last_array)
    )
    # arrays s, which end with pull 2 n - 2 or 2 n - 1 for n = 2^s, and are full from round n - 2 on
    late_11, late_12 = ([2**s for s in range(d + 1, d + 12)] for d in (last_11, last_12))
    assert sum((2 * n - 2) * tails_11[n - 3 :].sum() for n in late_11) <= 0.14
    assert sum((2 * n - 1) * tails_12[n - 2 :].sum() for n in late_12) <= 0.07
    for horizon in (2, 10**4, 10**9):  # the printed step on 2^d_j, without its logarithm
        last = hu2021.lazy_last_array(gaps, horizon, epsilons)
        assert (2.0**last <= 48 * np.log(horizon) / (gaps * np.minimum(gaps, epsilons))).all()


def test_corollary_2_adds_up_what_its_proof_does():
    """An action of rank j costs 4 c2 ln K / (epsilon j) in epochs of up to c2 ln K / (gap epsilon)
    losses, and 2 c1 c2 / (epsilon K) in all later ones; with the largest of each constant."""
    rng = np.random.default_rng(0)
    c1, c2 = np.max(list(wu2026.COROLLARY_2.values()), axis=0)
    lengths = 2.0 ** np.arange(40)
    for actions in (2, 5, 20, 120, 400):
        epsilon = float(np.exp(rng.uniform(-4, 1)))
        gaps = np.append(0.0, np.sort(2.0 ** -rng.uniform(0, rng.uniform(0.1, 8), actions - 1)))
        bound = 1 + (4 * c2 * math.log(actions) ** 2 + 2 * c1 * c2) / epsilon
        rank = np.arange(1, actions + 1)
        by_rank = (np.minimum(1 / rank, c1 * np.exp(-2 * n * gaps * epsilon / c2)) for n in lengths)
        assert sum(2 * n * gaps @ p for n, p in zip(lengths, by_rank, strict=True)) <= bound
        for noise in ("laplace", "exponential", "gumbel"):
            assert regret(FTNL(epsilon, noise), instances.deterministic_losses(gaps)) <= bound


def test_footnote_1_is_the_exact_regret_on_bits():
    for means, epsilon, horizon in (((0.3, 0.6), 0.5, 7), ((0.1, 0.2, 0.9), 10.0, 6)):
        zero, one = np.zeros(len(means)), np.ones(len(means))
        found = study.two_loss_regret(zero, one, np.array(means), epsilon, horizon)
        expected = regret(FTNL(epsilon, "gumbel"), instances.bernoulli_losses(means), horizon)
        assert found == pytest.approx(expected, rel=1e-9)


def test_tally_by_rank_is_the_sum_over_actions():
    gap, sizes = np.array([0.0, 0.1, 0.5, 1.0]), np.array([1, 9, 290, 1700])
    rank = np.arange(1, 2001)
    for n in (1, 20, 200):
        tail = np.exp(-n * np.repeat(gap, sizes) * 0.1 / 2)
        direct = np.add.reduceat(np.minimum(1 / rank, tail), np.cumsum(sizes) - sizes)
        # a sum of 1/j and the integral of 1/x between the same ranks are within 1/(first rank)
        np.testing.assert_allclose(
            wu2026.by_rank(np.log(sizes), -n * gap * 0.1 / 2)[1:], direct[1:], atol=0.5, rtol=0.02
        )
    assert wu2026.by_rank([0.0, 300.0], [0.0, 0.0])[1] == pytest.approx(300)


@pytest.mark.parametrize(("actions", "constant"), [(2, 0.386), (1e6, 0.976)])
def test_no_equal_gap_is_worse_than_the_worst_by_more_than_its_error(actions, constant):
    learner, horizon = FTNL(10.0, "gumbel", bernoulli_resampling=True), 2**26
    log_k = np.log(actions)
    found = study.worst_equal_gap(learner, log_k, horizon)
    rate = np.sqrt(horizon * log_k) + log_k**2 / learner.epsilon
    # a million actions: 0.9605 at powers of two
    assert found["regret"] / rate == pytest.approx(constant, rel=3e-3)
    assert 0 < found["error"] <= 0.0101 * found["regret"]
    others = (0.0, log_k + np.log1p(-1 / actions))
    gaps = np.append(2.0 ** -np.arange(4.0), found["gap"] * 2 ** np.linspace(-0.6, 0.6, 9))
    problems = [
        instances.bernoulli_losses((0.5 - g / 2, 0.5 + g / 2), log_counts=others) for g in gaps
    ]
    regrets = exact.regret_curves(learner, problems, horizon).regret
    assert regrets.max() <= found["regret"] + found["error"]
    # why the search is complete: regret / gap falls, and is convex with two actions
    slopes = np.diff(regrets[4:] / gaps[4:]) / np.diff(gaps[4:])
    assert (slopes < 0).all()
    assert actions > 2 or (np.diff(slopes) > 0).all()


def test_drift_of_the_potential():
    """E[log Z'] by a loop over one round's losses."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        k, eta = int(rng.integers(2, 6)), float(rng.uniform(0.005, 0.125))
        means = np.sort(rng.random(k))
        state = np.append(0.0, rng.normal(0, 2 / eta, k - 1))
        now, expected = np.logaddexp.reduce(-eta * state), 0.0
        for bits in product((0, 1), repeat=k):
            weight = np.prod(np.where(bits, means, 1 - means))
            expected += weight * np.logaddexp.reduce(-eta * (state + np.array(bits) - bits[0]))
        paid = eta * np.exp(-eta * state[1:] - now) @ (means[1:] - means[0])
        assert proofs.drift(eta, means, state) * paid == pytest.approx(now - expected, abs=1e-12)
    assert proofs.drift(0.1, np.array([0.1, 0.6]), np.array([0.0, 1e4])) == math.inf  # V is 0


def test_potential_of_actions_that_share_a_bit():
    gap, eta, log_bad, rounds = 0.4, 0.1, math.log(20), 3
    log_z = v = 0.0
    for bits in product((0, 1), repeat=2 * rounds):
        best, bad = bits[:rounds], bits[rounds:]
        weight = math.prod([0.3 if b else 0.7 for b in best] + [0.7 if b else 0.3 for b in bad])
        rest = 20 * math.exp(-eta * (sum(bad) - sum(best)))
        log_z += weight * math.log(1 + rest)
        v += weight * gap * rest / (1 + rest)
    assert proofs.potential(log_bad, rounds, gap, eta) == pytest.approx((log_z, v), rel=1e-12)


def test_regret_on_dependent_losses():
    for kind, known in (("antithetic", 79.87), ("comonotone", 56.33)):
        found = regret(RandomPrefixSoftmax(0.1), instances.dependent(kind, 0.05), 2**60)
        assert found == pytest.approx(known, abs=0.006)


def test_the_corrected_constant_of_lemma_25_covers_the_terms_of_its_proof():
    for horizon, arms in product(np.geomspace(3, 1e100, 60), (2, 3, 5, 20, 300, 10**4)):
        terms = asi2025.lemma_25_terms(horizon, arms, 1.0)
        assert terms < asi2025.lemma_25(horizon, arms, 1.0, corrected=True)


@pytest.mark.parametrize("a, b", [(0.5, 0.4), (0.0, 0.3), (1.0, 0.9)])
def test_exponents_of_table_1(a, b):
    near, far = (asi2025.table_1(T, 4, 2 * T**a, T**-b, logs=False) for T in (1e40, 1e80))
    for name, power in asi2025.table_1_exponents(a, b).items():
        assert math.log(far[name] / near[name]) == pytest.approx(power * math.log(1e40), 1e-3)


def test_table_2_misses_the_smallest_bound_by_more_if_arms_grow():
    """By a twelfth in the exponent at most for fixed K, and by up to a sixth for K = T^k."""

    def excess(k, a, b):
        T = 1e80
        powers = asi2025.table_1(T, T**k, 2 * T**a, T**-b, logs=False).values()
        _, ninth, tenth = powers = [math.log(bound) / math.log(T) for bound in powers]
        named = tenth if b >= 0.5 else ninth if b <= a - k else 0
        return named - min(powers) if min(powers) < 0.999 else 0

    grid = np.arange(25) / 24
    found = {k: max(excess(k, a, b) for a in grid[grid >= k] for b in grid) for k in grid[:18]}
    assert found[0] == pytest.approx(1 / 12, abs=0.006)
    assert found[0.25] > 0.09 and max(found.values()) < 1 / 6 + 0.006
    assert excess(0.48, 0.48, 0.5) == pytest.approx(1 / 6, abs=0.01)


def test_terms_of_theorem_10_add_up_to_95_a():
    setting = 10**12, 4, 16, 1.0, 1e-6
    terms = asi2025.theorem_10_terms(*setting, tuning.batched_exp4(*setting, "corrected"))
    assert terms == pytest.approx(95 * asi2025.theorem_10_leading(*setting), rel=1e-3)


def test_lemma_11_forms():
    """The maximum of the two branches is at least their geometric mean, when p / rate is whole."""
    for rate, pulls, drop in product((0.5, 0.1, 0.01), (1, 2, 5), (0, 3, 50)):
        strong = asi2025.lemma_11(10**5, 0.1, rate, drop, pulls)
        assert strong >= asi2025.lemma_11_weaker(10**5, 0.1, drop, pulls) - 1e-9
    assert asi2025.lemma_11_weaker(10**5, 1.0, 0, 1) == 0.0  # e > 2: no bound
    # of order sqrt(T / epsilon) with p a small multiple of 1 / epsilon, and void at 1 / epsilon
    for epsilon in (1e-6, 1e-2):
        found = asi2025.lemma_11_weaker(10**12, epsilon, 0, int(0.375 / epsilon))
        assert found == pytest.approx(0.0799 * math.sqrt(10**12 / epsilon), rel=2e-3)
        assert asi2025.lemma_11_weaker(10**12, epsilon, 0, round(1 / epsilon)) == 0.0


def test_no_locally_private_learner_is_below_the_bound_for_the_local_model():
    """Losses (0, 1) always, epsilon = 1 / sqrt T; without privacy regret is far below."""
    T, epsilon, easy = 4096, 1 / 64, instances.gap_adversary(2, 1.0)
    bound = asi2025.any_local(T, epsilon)
    local = tuning.local_htinf(epsilon)
    assert simulate.regret_curves(local, easy, T, 100, 1, points=1).regret.mean() >= bound
    assert simulate.regret_curves(HTINF(1.0), easy, T, 20, 1, points=1).regret.mean() < bound / 10


def test_lemma_11_certificate_finds_what_is_there():
    """Pulls with probability 0.05 in each round meet both conditions from the start."""
    rng, horizon, runs = np.random.default_rng(1), 4000, 1000
    pulls = (rng.random((runs, horizon)) < 0.05).cumsum(axis=1)
    found = lemma_11_certified(pulls, np.arange(1, horizon + 1), 0.1)
    assert found["drop"] == 0
    assert 0.045 < found["rate"] * 2 ** round(math.log2(0.05 / found["rate"])) < 0.05
    assert found["bound"] == asi2025.lemma_11(horizon, 0.1, found["rate"], 0, found["pulls"])
    assert (pulls[:, int(found["pulls"] / found["rate"]) - 1] <= found["pulls"]).mean() > 0.5
    assert (pulls[:, -1] >= found["rate"] * horizon).mean() > 0.5


def test_lemma_11_certificate_is_not_given_for_nothing():
    """Pulls in the first half only; epsilon above ln 2; too few runs."""
    rounds = np.arange(1, 4001)
    early, even = (np.tile(p, (40, 1)) for p in (np.minimum(rounds, 2000) // 10, rounds // 20))
    assert lemma_11_certified(early, rounds, 0.1) is None is lemma_11_certified(even, rounds, 0.7)
    assert lemma_11_certified(even, rounds, 0.1) is not None
    refused(lambda: lemma_11_certified(even[:4], rounds, 0.1), "pulls")


def test_lower_bound_constants():
    for instance, kl_constant, new in (
        (instances.AZIZE2025_1, 31.243, (407.66, 49.42, 31.244)),
        (instances.AZIZE2025_2, 7.128, (401.57, 41.68, 17.89)),
        (instances.AZIZE2025_3, 5.042, (401.07, 41.12, 17.21)),
        (instances.AZIZE2025_4, 18.071, (404.38, 45.76, 25.87)),
    ):
        found = azize2025.lower_bounds(instance.means, (0.01, 0.1, 0.25))
        assert found["theorem_3_1"] == pytest.approx(new, abs=6e-3)
        assert found["equation_7"][0] == pytest.approx(4 / 0.06, rel=1e-12)
        assert found["lai_robbins"] == pytest.approx([kl_constant] * 3, abs=6e-4)


def test_laplace_tail():
    z = np.linspace(-20, 20, 41)
    one = laplace.logsf(z, scale=1 / 0.7)
    assert tails.laplace_tail(z, 1, 0.7) == pytest.approx(one, rel=1e-12, abs=1e-14)
    both = np.exp(tails.laplace_tail(z, 9, 0.7)) + np.exp(tails.laplace_tail(-z, 9, 0.7))
    assert both == pytest.approx(np.ones(len(z)), rel=1e-12)
    known = math.log(1.2759104840429e-14)
    assert tails.laplace_tail(60.0, 20, 1.0) == pytest.approx(known, rel=1e-10)
    assert tails.laplace_tail(1e4, 300, 1.0) < -5000  # far beyond what probabilities can hold


def test_tail_of_binomial_plus_laplace():
    rng = np.random.default_rng(1)
    for at in ((15, 30, 3, 0.4, 0.5), (100, 127, 7, 0.75, 1.0), (5, 3, 1, 0.9, 0.1)):
        x, n, m, mu, epsilon = at
        noise = rng.laplace(0, 1 / epsilon, (200_000, m)).sum(axis=1)
        hits = (rng.binomial(n, mu, 200_000) + noise >= x).mean()
        p, below = (math.exp(tails.tail(*at, lower=lower)) for lower in (False, True))
        assert abs(hits - p) <= norm.isf(FALSE_ALARM / 6) * math.sqrt(p * (1 - p) / 200_000)
        assert below + p == pytest.approx(1)
    n = 2**12 - 1
    for function, proved, value in (
        (tails.tail, {}, 7.427e-9),
        (tails.separate, {}, 1.949e-4),
        (azize2025.joint_chernoff, {}, 1.236e-7),
        (azize2025.lemma_d3, {}, 6.454e24),
        (azize2025.lemma_d3, {"proved": True}, 1.274e26),
    ):
        found = np.exp(function(0.75 * n, n, 12, 0.7, 0.25, **proved))
        assert found == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("mu", [0.05, 0.75])
def test_exact_tails_are_below_every_bound(mu):
    ways, more = (0.0, 0.1, 0.4, 0.9), ((0.01, 0.25, 3.0), (2, 5, 9))
    for way, epsilon, m in product(ways, *more):
        x, n = mu + (1 - mu) * way, 2**m - 1
        at, nd = (n * x, n, m, mu, epsilon), n * d_epsilon(x, mu, epsilon)
        chance, joint = tails.tail(*at), azize2025.joint_chernoff(*at)
        assert chance <= tails.separate(*at) + 1e-9
        assert chance <= joint + 1e-9
        assert joint <= azize2025.lemma_d3(*at) + 1e-9
        assert chance <= azize2025.lemma_d3(*at, proved=True)
        # the second term of Lemma D.3's constant is enough
        if nd >= m:
            simple = m * (1 + math.log(nd / m)) - nd
            second = 1 + m * math.log1p(m * epsilon * n * (x - mu)) - nd
            assert joint - 1e-9 <= simple <= second
        # and (24) has this factor
        assert kl(x, mu) <= (x - mu) / (1 - mu) * -math.log(mu) + 1e-12


def test_crossing_counts_every_sequence():
    p, q, alpha, n = 0.4, 0.7, 0.2, 9
    x = np.array(list(product((0, 1), repeat=n)))
    ratios = np.where(x, np.log(p / q), np.log((1 - p) / (1 - q))).cumsum(axis=1)
    crossed = (ratios > (1 + alpha) * n * kl(p, q)).any(axis=1)
    chance = np.where(x, p, 1 - p).prod(axis=1)[crossed].sum()
    assert 0.05 < chance == pytest.approx(tails.crossing(p, q, alpha, n), rel=1e-12)
    for alpha in (0.05, 0.5):
        found = [tails.crossing(p, q, alpha, n) for n in (20, 200)]
        assert (found <= azize2025.crossing_bound(p, q, alpha, [20, 200])).all()
    assert tails.crossing(p, q, 100.0, 20) == 0 == azize2025.crossing_bound(p, q, 100.0, 20)


def test_a_walk_that_reaches_the_level_does_not_exceed_it():
    """Means 0.4 and 0.6 make steps of one size, and 1.2 n times the mean an integer level."""
    for n, level in ((5, 1), (25, 6), (50, 12), (100, 24)):
        free = np.zeros(2 * n + 1)  # at -n, ..., n, up to the level so far
        free[n], exceeds = 1.0, 0.0
        for _ in range(n):
            free = 0.6 * np.roll(free, 1) + 0.4 * np.roll(free, -1)
            exceeds += free[n + level + 1]
            free[n + level + 1] = 0.0
        assert tails.crossing(0.4, 0.6, 0.2, n) == pytest.approx(exceeds, rel=1e-9)


def test_few_pulls_of_an_arm_are_as_likely_as_the_proof_of_theorem_3_1_allows():
    """Its finite inequality, for policies whose laws and privacy are exact; and its tails."""
    rng, rounds = np.random.default_rng(3), 4
    for law in (enumeration.random_policy(2, rounds, rng), enumeration.stay_or_switch(rounds, 2.0)):
        epsilon, seen = enumeration.policy_loss(law, "list"), enumeration.view_law(law)
        histories = np.array(list(product((0, 1), repeat=2 * rounds)))
        rewards, arms = histories[:, :rounds], histories[:, rounds:]

        def few(n, mean, seen=seen, histories=histories, rewards=rewards, arms=arms):
            mu = np.where(arms, mean, 0.7)
            chance = np.where(rewards, mu, 1 - mu).prod(axis=1) * seen[tuple(histories.T)]
            return chance[arms.sum(axis=1) <= n].sum()

        for n, alpha, middle in product((1, 2, 3), (0.05, 0.4), (0.3, 0.6, 0.8)):
            own = few(n, 0.3), few(n, 0.8)
            assert own[0] <= tails.few_pulls_bound(own[1], n, alpha, 0.3, middle, 0.8, epsilon)
    n, alpha, mean, middle, beyond = 7, 0.3, 0.3, 0.55, 0.8
    at = n, alpha, mean, middle, beyond, 0.5
    pairs = np.array(list(product((0, 1, 2), repeat=n)))  # both 1; only the coupled one; both 0
    chance = np.array([mean, middle - mean, 1 - middle])[pairs].prod(axis=1)
    steps = np.log(np.where(pairs < 2, middle / beyond, (1 - middle) / (1 - beyond)))
    level = (1 + alpha) * n
    ratio = steps.cumsum(axis=1).max(axis=1) > level * kl(middle, beyond)
    shifted = (pairs == 1).sum(axis=1) > level * (middle - mean)
    both = chance @ ratio + chance @ shifted
    assert tails.few_pulls_bound(0.0, *at) == pytest.approx(both, rel=1e-9)
    factor = math.exp(level * (0.5 * (middle - mean) + kl(middle, beyond)))
    assert tails.few_pulls_bound(0.1, *at) == pytest.approx(both + 0.1 * factor, rel=1e-9)


def test_exponent_of_separate_bounds():
    for mu, epsilon, x in ((0.3, 1.0, 0.6), (0.75, 0.25, 0.9), (0.5, 0.1, 1.0)):
        found, n = tails.separate_exponent(x, mu, epsilon), 2**20
        assert found == pytest.approx(-tails.separate(n * x, n, 1, mu, epsilon) / n, rel=0.01)
        assert found < d_epsilon(x, mu, epsilon)


def test_steps_of_theorem_f7():
    """The printed step fails, its repair holds; longer runs decide as shorter ones, and more."""
    given = (0.75, 0.625, 0.5), 0.5
    short, long = (
        np.array([steps.theorem_f7(*given, t, 0.02, 1, np.random.default_rng(s)) for s in range(9)])
        for t in (300, 3000)
    )
    printed, first, second = long.max(axis=0)
    assert (long >= short).all() and printed > 0.01 and max(first, second) <= 1e-9


def test_how_far_the_divergence_falls():
    """The step of Theorem F.7 before (39) fails at every x; with the smallest fall it holds."""
    for best, epsilon, delta in ((0.75, 0.25, 0.02), (0.75, 1.0, 0.02), (0.9, 5.0, 0.01)):
        falls = steps.falls(best, epsilon, delta)
        assert falls.max() < 0.9 * delta / (1 - best)
        repaired = d_epsilon(best - delta, best, epsilon)
        assert repaired > 0 and (repaired - falls).max() == pytest.approx(0, abs=1e-12)


def test_how_often_an_order_is_seen_has_the_error_of_the_smallest_baseline():
    experiments = pd.DataFrame({"instance": "one", "algorithm": "new", "mean": np.arange(100.0)})
    baselines = pd.DataFrame({"instance": "one", "mean": [80.5, 60.5, 10], "se": [1, 5, math.inf]})
    (seen,) = steps.order_seen(experiments.assign(se=1.0), baselines, ["instance"]).itertuples()
    met = experiments.assign(met=experiments["mean"] < 60.5)
    alone = estimates.fractions(met, "algorithm", "met").fraction_se[0]
    # 56 to 66 of the 100 are below the mean of the second baseline and its error
    assert seen.fraction == 0.61 and seen.fraction_se == pytest.approx(math.hypot(alone, 0.05))
