"""azize2025: the divergence, the algorithms and their baselines, exact tails, and privacy by enumeration."""

import json
import math

import naive_azize2025 as naive
import numpy as np
import pytest
from conftest import compiled_and_not
from scipy.stats import beta, ks_2samp, kstest, laplace, norm

from privregret import simulate
from privregret.bandits import DPIMED, DPKLUCB, DPSE, IMED, KLUCB, AdaPKLUCB, LazyDPTS, lazy_ts
from privregret.bandits.dp_klucb import batch_ends
from privregret.bounds import azize2025 as bounds
from privregret.divergence import d_epsilon, d_epsilon_inverse, kl, kl_inverse
from privregret.instances import AZIZE2025_1, AZIZE2025_2, AZIZE2025_3, AZIZE2025_4, AZIZE2025_FIGURE_8, BernoulliBandit
from privregret.privacy import audit, batches, enumeration

FALSE_ALARM = 1e-4  # chance that a test function with random numbers fails although all is well, for a new seed

# the divergence

GRID = [0, 1e-12, 1e-6, 0.01, 0.3, 0.5, 0.5000001, 0.75, 0.9, 0.900001, 0.99, 1 - 1e-9, 1]
EPSILONS = [1e-6, 1e-3, 0.1, 1, 5, 36.7, 37, 50]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_d_epsilon_is_its_definition_in_50_digits(epsilon):
    for x in GRID:
        for y in GRID:
            exact = float(naive.d_epsilon_decimal(x, y, epsilon))
            assert d_epsilon(float(x), float(y), float(epsilon)) == pytest.approx(exact, rel=1e-12, abs=0)


def test_kl_in_50_digits():
    for p in GRID:
        for q in GRID:
            exact = float(naive.kl_decimal(*map(naive.Decimal, map(float, (p, q)))))
            assert kl(float(p), float(q)) == pytest.approx(exact, rel=1e-12, abs=0)


def some_points(n, seed=0):
    """x of all kinds, level, epsilon."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        x = rng.choice([rng.random(), rng.random() ** 4, 1 - rng.random() ** 4, 10 ** rng.uniform(-9, 0), 0, 1])
        yield float(x), 10 ** rng.uniform(-9, 1.5), 10 ** rng.uniform(-6, math.log10(50))


def test_inverse_solves_the_equation():
    """To 1e-12 relative, plus what four units in the last place of the solution are worth."""
    for x, level, epsilon in some_points(20_000):
        mu = d_epsilon_inverse(x, level, epsilon)
        if level >= epsilon * (1 - x):
            assert mu == 1
        elif mu < 1 - 1e-15:  # else the solution rounds to 1
            slope = min((mu - x) / (mu * (1 - mu)), math.expm1(epsilon))
            assert abs(d_epsilon(x, mu, epsilon) - level) <= 1e-12 * level + 4 * np.spacing(mu) * slope


def test_inverse_of_kl():
    for x, level, _ in some_points(20_000):
        mu = kl_inverse(x, level)
        assert x <= mu <= 1
        if 0 < x < 1 and mu < 1 - 1e-12:
            assert abs(kl(x, mu) - level) <= 1e-12 * level + 4 * np.spacing(mu) * (mu - x) / (mu * (1 - mu))
    assert kl_inverse(0.0, 2.0) == pytest.approx(-math.expm1(-2.0), rel=1e-15)
    assert kl_inverse(1.0, 2.0) == 1 and kl_inverse(0.4, 0.0) == 0.4


def test_known_values():
    assert d_epsilon_inverse(0.3, 3.0, 37.0) == pytest.approx(0.994234708629, abs=1e-12)
    assert d_epsilon_inverse(0.5, 1.79, 1000.0) == pytest.approx(0.992981820594, abs=1e-12)
    assert d_epsilon_inverse(0.0, 0.01, 1e6) == d_epsilon_inverse(0.0, 0.01, 60.0)
    assert d_epsilon_inverse(0.0, 0.01, 37.0) == pytest.approx(-math.expm1(-0.01), rel=1e-14)
    assert d_epsilon(0.6, 0.3, 1.0) == pytest.approx(0.18426, abs=5e-6)
    assert d_epsilon(0.2, 1.0, 0.5) == 0.4 and d_epsilon(0.2, 0.0, 0.5) == 0.1


def test_properties_of_d_epsilon():
    rng = np.random.default_rng(1)
    for _ in range(3000):
        x, y = np.sort(rng.random(2))
        epsilon = 10 ** rng.uniform(-3, 1.5)
        d = d_epsilon(x, y, epsilon)
        assert d == pytest.approx(d_epsilon(1 - x, 1 - y, epsilon), rel=1e-9)
        assert d <= min(kl(x, y), epsilon * (y - x)) * (1 + 1e-12)
        assert d <= d_epsilon(x, y, 1.1 * epsilon) * (1 + 1e-12)
        assert d_epsilon((x + y) / 2, y, epsilon) <= d and d_epsilon(x, (x + y) / 2, epsilon) <= d
        if epsilon >= bounds.critical_epsilon(x, y):
            assert d == pytest.approx(kl(x, y), rel=1e-12)
        assert d_epsilon(x, y, 1e-7) == pytest.approx(1e-7 * (y - x), rel=1e-3, abs=1e-13)
        assert d == pytest.approx(naive.d_epsilon(x, y, epsilon), rel=1e-7)
        assert d >= bounds.d_epsilon(x, y, epsilon) and d_epsilon(x, x, epsilon) == 0


def test_derivatives_of_d_epsilon():
    """Lemmas F.3 and F.5, by finite differences."""
    rng = np.random.default_rng(2)
    h = 1e-7
    for _ in range(3000):
        x, y = np.sort(rng.uniform(0.01, 0.99, 2))
        epsilon = 10 ** rng.uniform(-2, 1)
        assert abs(d_epsilon(x + h, y, epsilon) - d_epsilon(x, y, epsilon)) / h <= epsilon * (1 + 1e-5) + 1e-5
        slope = (d_epsilon(x, y + h, epsilon) - d_epsilon(x, y, epsilon)) / h
        assert slope <= min(1 / (1 - y), math.expm1(epsilon)) * (1 + 1e-5) + 1e-5


# batches


def test_batch_ends():
    assert batch_ends(2.0, 1, 0, 100).tolist() == [1, 3, 7, 15, 31, 63, 127]
    assert batch_ends(1.1, 1, 0, 28).tolist() == [1, 3, 4, 5, 7, 8, 10, 12, 14, 16, 19, 22, 25, 28]
    assert batch_ends(2.0, 1, 1, 20).tolist() == [1, 3, 6, 10, 15, 21]
    for alpha in (1.01, 1.05, 1.1, 1.5, 2.0, 3.0, 2.5):
        for n0 in (1, 3, 10):
            ends = batch_ends(alpha, n0, 0, 10**5).tolist()
            assert ends == [naive.batch_end(m, alpha, n0) for m in range(len(ends))]
            assert ends[-1] >= 10**5 and (np.diff(ends) > 0).all()
            sizes = np.diff(ends, prepend=0)
            m = np.arange(len(ends))
            assert (sizes <= 2 * n0 * alpha**m * (1 + 1e-9)).all()  # (36)
            assert (ends <= n0 * (alpha ** (m + 1) - 1) / (alpha - 1) * (1 + 1e-9) + 1).all()  # (35)
    for alpha, count in ((2.0, 20), (1.5, 33), (1.1, 121), (1.05, 222)):
        assert len(batch_ends(alpha, 1, 0, 10**6)) == count
    assert batch_ends(1e300, 1, 0, 10**15).tolist() == [1, 2**62]


# play against the obvious version


def table(kind, horizon, seed):
    rng = np.random.default_rng(seed)
    return {
        "bernoulli": lambda: (rng.random((horizon, 3)) < (0.9, 0.6, 0.3)).astype(float),
        "two arms": lambda: (rng.random((horizon, 2)) < (0.5, 0.55)).astype(float),
        "uniform": lambda: rng.random((horizon, 5)),
        "all zero": lambda: np.zeros((horizon, 3)),
        "all one": lambda: np.ones((horizon, 3)),
    }[kind]()


PAIRS = [
    (DPKLUCB(0.05), naive.Batched("klucb", 0.05)),
    (DPKLUCB(1.0), naive.Batched("klucb", 1.0)),
    (DPKLUCB(8.0, 1.1, 3, "first"), naive.Batched("klucb", 8.0, 1.1, 3, "first")),
    (DPKLUCB(0.7, power=1), naive.Batched("klucb", 0.7, power=1)),
    (DPIMED(0.05), naive.Batched("imed", 0.05)),
    (DPIMED(1.0), naive.Batched("imed", 1.0)),
    (DPIMED(8.0, 1.1, 2, "first"), naive.Batched("imed", 8.0, 1.1, 2, "first")),
    (DPIMED(30.0, 1.5, power=2), naive.Batched("imed", 30.0, 1.5, power=2)),
    (AdaPKLUCB(0.1), naive.AdaPKLUCB(0.1)),
    (AdaPKLUCB(8.0), naive.AdaPKLUCB(8.0)),
    (AdaPKLUCB(20.0, 1.5), naive.AdaPKLUCB(20.0, 1.5)),
    (LazyDPTS(0.1), naive.LazyDPTS(0.1)),
    (LazyDPTS(1.0), naive.LazyDPTS(1.0)),
    (LazyDPTS(50.0), naive.LazyDPTS(50.0)),
]


@pytest.mark.parametrize("kind", ["bernoulli", "two arms", "uniform", "all zero", "all one"])
@pytest.mark.parametrize(("algorithm", "slow"), PAIRS, ids=[repr(p[0]) for p in PAIRS])
def test_play_is_the_printed_algorithm(algorithm, slow, kind):
    for seed, horizon in enumerate((7, 300, 1500)):
        rewards = table(kind, horizon, seed)
        played = algorithm.play(rewards, np.random.default_rng(seed))
        assert played.tolist() == slow.play(rewards, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", ["bernoulli", "two arms", "uniform"])
@pytest.mark.parametrize(
    ("algorithm", "slow"),
    [(IMED(), naive.PerRound("imed")), (KLUCB(), naive.PerRound("klucb")), (KLUCB(3.0), naive.PerRound("klucb", 3.0))],
)
def test_play_of_the_references(algorithm, slow, kind):
    for seed in range(3):
        rewards = table(kind, 200, seed)
        played = algorithm.play(rewards, np.random.default_rng(seed))
        assert played.tolist() == slow.play(rewards, np.random.default_rng(seed))


def test_a_first_batch_longer_than_the_horizon():
    for algorithm in (DPKLUCB(1.0, n0=30), DPIMED(1.0, n0=30)):
        assert algorithm.play(np.zeros((50, 2)), np.random.default_rng(0)).tolist() == [0] * 30 + [1] * 20
        assert algorithm.pull_counts((0.5, 0.5), [20, 50], np.random.default_rng(0)).tolist() == [[20, 0], [30, 20]]


# pull_counts against play, in law


def play_counts(algorithm, means, horizons, runs, seed):
    """(runs, H, K) pulls when playing on fresh Bernoulli tables."""
    instance, rng = BernoulliBandit("", tuple(means)), np.random.default_rng(seed)
    result = np.empty((runs, len(horizons), len(means)), int)
    for run in range(runs):
        actions = np.asarray(algorithm.play(instance.rewards(horizons[-1], rng), rng))
        for h, horizon in enumerate(horizons):
            result[run, h] = np.bincount(actions[:horizon], minlength=len(means))
    return result


def direct_counts(algorithm, means, horizons, runs, seed):
    rng = np.random.default_rng(seed)
    return np.array([algorithm.pull_counts(means, horizons, rng) for _ in range(runs)])


def assert_same_law(a, b):
    """Two-sample Kolmogorov-Smirnov and mean tests on counts, products and mixtures of them, Bonferroni-corrected."""

    def views(counts):
        flat = counts.reshape(len(counts), -1).astype(float)
        products = flat[:, : -counts.shape[2]] * flat[:, counts.shape[2] :]
        return np.hstack([flat, products, flat @ np.random.default_rng(0).normal(size=(flat.shape[1], 6))])

    a, b = views(a), views(b)
    level = FALSE_ALARM / (2 * a.shape[1])
    for x, y in zip(a.T, b.T, strict=True):
        assert ks_2samp(x, y, method="asymp").pvalue > level
        error = math.hypot(x.std(ddof=1) / math.sqrt(len(x)), y.std(ddof=1) / math.sqrt(len(y)))
        assert abs(x.mean() - y.mean()) <= norm.isf(level / 2) * error


FIVE = AZIZE2025_2.means
LAWS = [  # algorithm, means, horizons, runs: enough to see 0.1 standard deviations
    (DPKLUCB(0.05), (0.9, 0.5, 0.1), (30, 300, 3000), 4000),
    (DPKLUCB(1.0), FIVE, (10, 200, 3000), 4000),
    (DPKLUCB(20.0, 1.3, 2), (0.6, 0.4), (20, 150, 1500), 4000),
    (DPIMED(0.05), (0.9, 0.5, 0.1), (30, 300, 3000), 4000),
    (DPIMED(1.0), FIVE, (10, 200, 3000), 4000),
    (DPIMED(20.0, 1.1), (0.6, 0.4), (20, 150, 1500), 4000),
    (DPIMED(1.0, power=1), (0.6, 0.4), (20, 150, 1500), 4000),
    (AdaPKLUCB(0.1), (0.9, 0.5, 0.1), (30, 300, 3000), 4000),
    (AdaPKLUCB(5.0), FIVE, (10, 200, 3000), 4000),
    (LazyDPTS(0.05), (0.9, 0.5, 0.1), (30, 300, 2000), 2500),
    (LazyDPTS(1.0), FIVE, (10, 200, 1500), 3000),
    (LazyDPTS(30.0), (0.6, 0.4), (20, 150, 1500), 4000),
    (LazyDPTS(4.0), (0.7, 0.4), (200, 2000, 12_000), 2500),  # long enough for most rounds to be skipped
    (LazyDPTS(1000.0), (0.3, 0.5, 0.1), (100, 1000, 8000), 2000),
    (IMED(), FIVE, (10, 100, 1500), 4000),
    (KLUCB(), (0.9, 0.5, 0.1), (10, 100, 800), 3000),
]


@pytest.mark.parametrize(("algorithm", "means", "horizons", "runs"), LAWS, ids=[repr(law[0]) for law in LAWS])
def test_pull_counts_has_the_law_of_play(algorithm, means, horizons, runs):
    assert_same_law(
        play_counts(algorithm, means, horizons, runs, seed=1), direct_counts(algorithm, means, horizons, runs, seed=2)
    )


def test_surprises_of_lazy_dp_ts_are_bounded_and_drawn_right():
    """The envelope is above the tail; for all u on its side if it says so; what it yields has the law of the tail."""
    rng = np.random.default_rng(0)
    checked = 0
    for _ in range(400):
        size, u = 2.0 ** rng.integers(0, 14), rng.choice([0.0, 1.0, rng.random(), rng.random()])
        cut = float(np.clip(u + rng.normal() * 3 / math.sqrt(size), 0.001, 0.999))
        above = cut > u
        for other in u * rng.random(5) if above else 1 - (1 - u) * rng.random(5):
            law = beta(other * size + 1, (1 - other) * size + 1)
            mass = lazy_ts._tail_mass(other, size, cut)
            assert (law.sf(cut) if above else law.cdf(cut)) <= mass * (1 + 1e-9)
            if lazy_ts._monotone(u, size, cut, above):
                assert mass <= lazy_ts._tail_mass(u, size, cut) * (1 + 1e-9)
                checked += 1
    assert checked > 500
    for u, size, cut in ((0.3, 64.0, 0.4), (0.9, 8.0, 0.6), (1.0, 32.0, 0.95), (0.0, 4.0, 0.5)):
        law = beta(u * size + 1, (1 - u) * size + 1)
        draws = np.array([lazy_ts._tail_draw(u, size, cut, rng) for _ in range(20_000)])
        kept = draws[~np.isnan(draws)]
        tail = law.sf(cut) if cut > u else law.cdf(cut)
        expected = tail / lazy_ts._tail_mass(u, size, cut)
        assert abs(len(kept) / len(draws) - expected) <= norm.isf(FALSE_ALARM / 16) * math.sqrt(
            expected * (1 - expected) / len(draws)
        )
        conditional = (
            (lambda x, law=law, cut=cut, tail=tail: (law.cdf(x) - law.cdf(cut)) / tail)
            if cut > u
            else (lambda x, law=law, tail=tail: law.cdf(x) / tail)
        )
        assert kstest(kept, conditional).pvalue > FALSE_ALARM / 8
    for u, size in ((0.3, 64.0), (1.0, 8.0), (0.0, 2.0), (0.5, 1.0)):
        draws = [lazy_ts._beta(u, size, rng) for _ in range(20_000)]
        assert kstest(draws, beta(u * size + 1, (1 - u) * size + 1).cdf).pvalue > FALSE_ALARM / 8


@pytest.mark.parametrize(
    ("mean", "size", "t", "rounds", "epsilon"),
    [
        ((0.7, 0.5), (4096.0, 64.0), 10**6, 2000, 1e6),  # u stands still
        ((0.6, 0.45, 0.4), (512.0, 64.0, 32.0), 10**6, 2000, 1e6),
        ((-0.867, -6.276), (64.0, 16.0), 1000, 60, 0.2),  # u moves by half of the posterior's deviation
        ((0.4, 0.75), (16.0, 64.0), 4000, 240, 2.0),
    ],
)
def test_share_of_each_arm_in_lazy_dp_ts_by_quadrature(mean, size, t, rounds, epsilon):
    """From a given state, no array filling up: 4 million rounds against P[arm's draw is largest]."""
    mean, size, arms = np.array(mean), np.array(size), len(mean)
    x, weight = np.polynomial.legendre.leggauss(2000)
    x, weight = (x + 1) / 2, weight / 2
    expected = np.zeros(arms)
    times = t + rounds * (np.polynomial.legendre.leggauss(6)[0] + 1) / 2
    for at, share in zip(times, np.polynomial.legendre.leggauss(6)[1] / 2, strict=True):
        u = np.clip(mean + 3 * np.log(at) / (epsilon * size), 0, 1)
        law = beta(u * size + 1, (1 - u) * size + 1)
        for j in range(arms):
            others = np.prod([beta(law.args[0][i], law.args[1][i]).cdf(x) for i in range(arms) if i != j], axis=0)
            expected[j] += share * (weight * beta(law.args[0][j], law.args[1][j]).pdf(x) * others).sum()
    assert expected.sum() == pytest.approx(1, rel=1e-9)
    rng, runs = np.random.default_rng(0), 4_000_000 // rounds
    total = np.zeros(arms)
    for _ in range(runs):
        pulls, counts = np.zeros(arms, np.int64), np.empty((1, arms), np.int64)
        missing = np.full(arms, 10 * rounds)
        lazy_ts._go_on(
            np.full(arms, 0.5),
            np.array([t + rounds]),
            epsilon,
            t,
            mean.copy(),
            size.copy(),
            missing,
            pulls,
            counts,
            0,
            rng,
        )
        total += counts[0]
    share = total / total.sum()
    error = np.sqrt(expected * (1 - expected) / total.sum())
    assert (abs(share - expected) <= norm.isf(FALSE_ALARM / (8 * arms)) * error).all()


@pytest.mark.parametrize("algorithm", [DPKLUCB(0.25), DPIMED(2.0, 1.1)], ids=repr)
def test_many_runs_in_one_call_are_the_same_runs(algorithm):
    horizons = [50, 10**6]
    one, many = np.random.default_rng(3), np.random.default_rng(3)
    single = [algorithm.pull_counts(FIVE, horizons, one).tolist() for _ in range(40)]
    assert algorithm.many_pull_counts(FIVE, horizons, 40, many).tolist() == single


@pytest.mark.parametrize(("private", "twin"), [(DPIMED, "imed"), (DPKLUCB, "klucb")])
def test_a_huge_epsilon_has_the_law_of_the_batched_non_private_twin(private, twin):
    class Exact(naive.Batched):
        def noise(self, rng):
            return 0.0

    means, horizons = (0.8, 0.5, 0.5), (20, 100, 500)
    slow = play_counts(Exact(twin, 500.0), means, horizons, 700, seed=3)
    noisy = direct_counts(private(1e6), means, horizons, 4000, seed=4)
    assert_same_law(slow, noisy)


# structure

ALL = [
    DPKLUCB(0.1),
    DPKLUCB(5.0, 1.1, 2),
    DPIMED(0.1),
    DPIMED(5.0, 1.1, 2),
    AdaPKLUCB(0.5),
    LazyDPTS(0.5),
    IMED(),
    KLUCB(),
]
every_algorithm = pytest.mark.parametrize("algorithm", ALL, ids=map(repr, ALL))


@every_algorithm
def test_counts_add_up_and_grow(algorithm):
    horizons = np.unique(np.geomspace(1, 20_000, 60).astype(int))
    for seed, means in enumerate([(0.9, 0.2), FIVE, (0.0, 1.0, 0.5), (0.0, 0.0), (1.0, 1.0)]):
        counts = algorithm.pull_counts(means, horizons, np.random.default_rng(seed))
        assert counts.dtype == np.int64 and counts.shape == (len(horizons), len(means))
        assert (counts.sum(axis=1) == horizons).all()
        assert (np.diff(counts, axis=0, prepend=0) >= 0).all()


@every_algorithm
def test_checkpoints_and_horizon_change_nothing(algorithm):
    many = np.union1d([77, 5000], np.arange(1, 5000, 7))
    for seed in range(4):
        few = algorithm.pull_counts(FIVE, [77, 3000], np.random.default_rng(seed))
        all_of_them = algorithm.pull_counts(FIVE, np.union1d(many, [3000]), np.random.default_rng(seed))
        assert (few == all_of_them[np.isin(np.union1d(many, [3000]), [77, 3000])]).all()


def test_arms_are_pulled_in_whole_batches():
    for seed in range(20):
        for algorithm in (DPKLUCB(0.3, 1.1), DPIMED(0.3)):
            counts = algorithm.pull_counts(FIVE, [10**6], np.random.default_rng(seed))[0]
            ends = batch_ends(algorithm.alpha, 1, 0, 10**6)
            assert (~np.isin(counts, ends)).sum() <= 1


def test_equal_arms_are_pulled_equally_when_ties_are_random():
    counts = DPKLUCB(0.05).many_pull_counts((0.5,) * 4, [2000], 4000, np.random.default_rng(0))[:, 0]
    error = counts.std(axis=0) / math.sqrt(len(counts))
    assert (abs(counts.mean(axis=0) - 500) <= norm.isf(FALSE_ALARM / 8) * error).all()


@pytest.mark.parametrize("algorithm", [DPKLUCB(0.01), DPKLUCB(10.0), DPIMED(1.0, 1.1), AdaPKLUCB(0.1)], ids=repr)
def test_a_horizon_of_a_quadrillion(algorithm):
    horizons = [10**3, 10**9, 10**15]
    counts = np.median(
        [algorithm.pull_counts((0.75, 0.25), horizons, np.random.default_rng(s)) for s in range(21)], axis=0
    )
    assert counts[-1, 0] > 0.999 * 10**15
    assert counts[-1, 1] < 40 * math.log(10**15) / min(1, algorithm.epsilon)


# compiled and not


def short_runs():
    result = {}
    for algorithm in [*ALL, DPKLUCB(1e-3), DPIMED(1e3), AdaPKLUCB(60.0), LazyDPTS(0.01)]:
        for seed in range(2):
            rewards, means = table("uniform", 400, seed), (0.95, 0.1) if seed else FIVE
            played = algorithm.play(rewards, np.random.default_rng(seed))
            counts = algorithm.pull_counts(means, [10, 100, 900], np.random.default_rng(seed))
            result[f"{algorithm!r} {seed}"] = [played.tolist(), counts.tolist()]
    return result


def test_compiled_equals_uncompiled():
    code = "import json, test_azize2025; print(json.dumps(test_azize2025.short_runs()))"
    compiled, uncompiled = compiled_and_not(code)
    assert compiled == uncompiled
    assert json.loads(compiled) == short_runs()


# reference values

# final regret at T = 10^6: means and medians of DP-KLUCB (10 000 runs) and DP-IMED (40 000), mean of AdaP-KLUCB
REFERENCE = {
    (1, 0.01): (7591, 7373, 10483, 3379, 26231),
    (1, 0.1): (946, 921, 2852, 512, 8016),
    (1, 0.5): (554, 512, 712, 307, 3949),
    (1, 1.0): (553, 512, 401, 307, 3347),
    (2, 0.01): (7763, 7679, 12879, 3967, 56095),
    (2, 0.1): (825, 831, 1907, 495, 7478),
    (2, 0.25): (361, 351, 803, 223, 3514),
    (2, 0.5): (207, 207, 276, 139, 2118),
    (2, 1.0): (149, 143, 124, 103, 1530),
    (3, 0.1): (839, 790, 1207, 494, 7102),
    (3, 0.5): (185, 174, 190, 129, 1885),
    (3, 1.0): (117, 112, 93, 83, 1297),
    (4, 0.01): (7642, 7423, 8653, 3711, 48336),
    (4, 0.25): (494, 455, 828, 273, 4303),
    (4, 1.0): (320, 337, 230, 184, 2183),
}
ENVIRONMENTS = {1: AZIZE2025_1, 2: AZIZE2025_2, 3: AZIZE2025_3, 4: AZIZE2025_4}


@pytest.mark.parametrize("cell", REFERENCE)
def test_final_regret_of_the_event_algorithms(cell):
    """10 000 runs (AdaP-KLUCB: 400, as the reference). Medians are those of a lattice, so they may jump a little."""
    environment, epsilon = ENVIRONMENTS[cell[0]], cell[1]
    klucb, klucb_median, imed, imed_median, adap = REFERENCE[cell]
    for algorithm, mean, median, runs in ((DPKLUCB, klucb, klucb_median, 10_000), (DPIMED, imed, imed_median, 40_000)):
        sample = simulate.final_regrets([algorithm(epsilon)], environment, 10**6, 10_000, seed=7).regret
        error = sample.std() * math.sqrt(1 / len(sample) + 1 / runs)
        assert abs(sample.mean() - mean) <= norm.isf(FALSE_ALARM / (6 * len(REFERENCE))) * error + 0.5
        assert sample.median() == pytest.approx(median, rel=0.09)
    sample = simulate.regret_curves([AdaPKLUCB(epsilon)], environment, 10**6, 400, seed=7, points=1).regret
    error = sample.std() * math.sqrt(2 / 400)
    assert abs(sample.mean() - adap) <= norm.isf(FALSE_ALARM / (6 * len(REFERENCE))) * error + 0.5


@pytest.mark.parametrize(("environment", "mean", "error"), [(1, 214, 5), (2, 66, 1), (3, 51, 1), (4, 126, 3)])
def test_final_regret_of_imed(environment, mean, error):
    sample = simulate.regret_curves([IMED()], ENVIRONMENTS[environment], 10**6, 10, seed=7, points=1).regret
    assert abs(sample.mean() - mean) <= 4.5 * math.hypot(sample.std() / math.sqrt(len(sample)), error)
    assert sample.mean() < bounds.lai_robbins(ENVIRONMENTS[environment].means) * math.log(10**6)


@pytest.mark.parametrize(
    ("environment", "epsilon", "mean"), [(1, 1.0, 1176), (2, 0.25, 2156), (3, 0.5, 1084), (4, 0.1, 4962)]
)
def test_final_regret_of_lazy_dp_ts(environment, epsilon, mean):
    """The reference is good to about 10 per cent."""
    sample = simulate.regret_curves([LazyDPTS(epsilon)], ENVIRONMENTS[environment], 10**6, 6, seed=7, points=1).regret
    assert sample.mean() == pytest.approx(mean, rel=0.2)


@pytest.mark.parametrize(("epsilon", "mean", "low"), [(1.0, 583, 7), (500.0, 103, 3), (0.1, 3899, 18)])
def test_lazy_dp_ts_at_a_tenth_of_the_horizon(epsilon, mean, low):
    sample = simulate.regret_curves([LazyDPTS(epsilon)], AZIZE2025_2, 10**5, 60, seed=7, points=1).regret
    assert abs(sample.mean() - mean) <= 4.5 * math.hypot(sample.std() / math.sqrt(len(sample)), low)


def test_figure_8_reference():
    for epsilon, mean, sd in ((0.5, 141.0, 76), (1.0, 71.4, 16), (4.0, 37.6, 5.2)):
        sample = simulate.final_regrets([DPIMED(epsilon, 1.1)], AZIZE2025_FIGURE_8, 10**7, 4000, seed=8).regret
        assert abs(sample.mean() - mean) <= 4.5 * max(sd, sample.std()) / math.sqrt(len(sample))


@pytest.mark.parametrize("private", [DPIMED, DPKLUCB])
def test_private_algorithms_at_epsilon_50_are_near_their_twins(private):
    """Batches double, so up to about twice the regret; and below Lai and Robbins' order."""
    twin = {DPIMED: IMED(), DPKLUCB: KLUCB()}[private]
    alone = simulate.regret_curves([twin], AZIZE2025_2, 10**5, 40, seed=7, points=1).regret
    noisy = simulate.final_regrets([private(50.0)], AZIZE2025_2, 10**5, 4000, seed=7).regret
    assert 0.8 * alone.mean() < noisy.mean() < 2.2 * alone.mean()
    assert 0.4 < alone.mean() / (bounds.lai_robbins(AZIZE2025_2.means) * math.log(10**5)) < 1.3


def test_final_regrets_do_not_depend_on_workers_or_company():
    one = simulate.final_regrets([DPIMED(0.5)], AZIZE2025_2, 5000, 2500, seed=1, workers=1)
    two = simulate.final_regrets([DPKLUCB(0.5), DPIMED(0.5)], AZIZE2025_2, 5000, 2500, seed=1, workers=2)
    assert (one.regret.to_numpy() == two[two.algorithm == "DP-IMED"].regret.to_numpy()).all()
    assert one.run.tolist() == list(range(2500))


# regret bounds


def test_lower_bound_constants():
    for instance, kl_constant, new in (
        (AZIZE2025_1, 31.243, (407.66, 49.42, 31.244)),
        (AZIZE2025_2, 7.128, (401.57, 41.68, 17.89)),
        (AZIZE2025_3, 5.042, (401.07, 41.12, 17.21)),
        (AZIZE2025_4, 18.071, (404.38, 45.76, 25.87)),
    ):
        assert bounds.lai_robbins(instance.means) == pytest.approx(kl_constant, abs=6e-4)
        for epsilon, value in zip((0.01, 0.1, 0.25), new, strict=True):
            assert bounds.theorem_3_1(instance.means, epsilon) == pytest.approx(value, abs=6e-3)
        assert bounds.equation_7(instance.means, 0.01) == pytest.approx(4 / 0.06, rel=1e-12)
    assert bounds.critical_epsilon(0.1, 0.8) == pytest.approx(math.log(36), rel=1e-12)


def test_theorem_3_1_is_never_below_the_older_bound():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        means, epsilon = rng.uniform(0.01, 0.99, 3), 10 ** rng.uniform(-3, 1)
        new, old = bounds.theorem_3_1(means, epsilon), bounds.equation_7(means, epsilon)
        assert old * (1 - 1e-12) <= new <= old / (1 - math.exp(-1 / 6))
        assert bounds.theorem_4_3(means, epsilon, 2.0, 1000) == pytest.approx(2 * new * math.log(1000))


# tails


def test_laplace_tail():
    z = np.linspace(-20, 20, 41)
    assert bounds.laplace_tail(z, 1, 0.7) == pytest.approx(laplace.logsf(z, scale=1 / 0.7), rel=1e-12, abs=1e-14)
    both = np.exp(bounds.laplace_tail(z, 9, 0.7)) + np.exp(bounds.laplace_tail(-z, 9, 0.7))
    assert both == pytest.approx(np.ones(len(z)), rel=1e-12)
    assert bounds.laplace_tail(60.0, 20, 1.0) == pytest.approx(math.log(1.2759104840429e-14), rel=1e-10)
    assert bounds.laplace_tail(1e4, 300, 1.0) < -5000  # far beyond what probabilities can hold
    rng = np.random.default_rng(0)
    for m, epsilon, at in ((2, 1.0, 1.5), (7, 0.3, 12.0), (20, 2.0, 2.0)):
        hits = (rng.laplace(0, 1 / epsilon, (200_000, m)).sum(axis=1) >= at).mean()
        p = math.exp(bounds.laplace_tail(at, m, epsilon))
        assert abs(hits - p) <= norm.isf(FALSE_ALARM / 6) * math.sqrt(p * (1 - p) / 200_000)


def test_tail_of_binomial_plus_laplace():
    rng = np.random.default_rng(1)
    for n, m, mu, epsilon, x in ((30, 3, 0.4, 0.5, 15), (127, 7, 0.75, 1.0, 100), (3, 1, 0.9, 0.1, 5)):
        hits = (rng.binomial(n, mu, 200_000) + rng.laplace(0, 1 / epsilon, (200_000, m)).sum(axis=1) >= x).mean()
        p = math.exp(bounds.tail(x, n, m, mu, epsilon))
        assert abs(hits - p) <= norm.isf(FALSE_ALARM / 6) * math.sqrt(p * (1 - p) / 200_000)
    n, m, mu, epsilon, x = 4095, 12, 0.7, 0.25, 0.75
    for function, value in (
        (bounds.tail, 7.427e-9),
        (bounds.separate, 1.949e-4),
        (bounds.joint_chernoff, 1.236e-7),
        (bounds.lemma_d3, 6.454e24),
    ):
        assert math.exp(function(n * x, n, m, mu, epsilon)) == pytest.approx(value, rel=1e-3)
    assert math.exp(bounds.lemma_d3(n * x, n, m, mu, epsilon, proved=True)) == pytest.approx(1.274e26, rel=1e-3)


def test_exact_tails_are_below_every_bound():
    z = np.geomspace(0.01, 300, 60)
    for m in (1, 2, 5, 20, 60):
        for epsilon in (0.05, 1.0, 10.0):
            exact = bounds.laplace_tail(z, m, epsilon)
            for bound in (bounds.lemma_d1, bounds.lemma_d1_sharper, bounds.laplace_chernoff):
                assert (exact <= bound(z, m, epsilon) + 1e-12).all()
            assert (bounds.laplace_chernoff(z, m, epsilon) <= bounds.lemma_d1_sharper(z, m, epsilon) + 1e-9).all()
    for mu in (0.05, 0.3, 0.75, 0.95):
        for epsilon in (0.01, 0.25, 3.0):
            for m in (2, 5, 9):
                n = 2**m - 1
                log_a = bounds.proposition_4_1(batch_ends(2.0, 1, 0, 10**6), epsilon / 2, epsilon)
                for x in mu + (1 - mu) * np.array([0.0, 0.1, 0.4, 0.9]):
                    exact = bounds.tail(n * x, n, m, mu, epsilon)
                    for bound in (bounds.lemma_d3, bounds.joint_chernoff, bounds.separate):
                        assert exact <= bound(n * x, n, m, mu, epsilon) + 1e-9
                    assert exact <= bounds.lemma_d3(n * x, n, m, mu, epsilon, proved=True)
                    assert exact <= log_a - n * (d_epsilon(x, mu, epsilon) - epsilon / 2) + 1e-9


# privacy


def test_view_law_is_the_product_of_the_policy():
    policy = enumeration.random_policy(2, 3, np.random.default_rng(0))
    law = enumeration.view_law(policy)
    assert law.shape == (2,) * 6 and law.sum(axis=(3, 4, 5)) == pytest.approx(np.ones((2, 2, 2)))
    for r1, r2, a1, a2, a3 in np.ndindex(2, 2, 2, 2, 2):
        expected = policy[0][a1] * policy[1][a1, r1, a2] * policy[2][a1, a2, r1, r2, a3]
        assert law[r1, r2, :, a1, a2, a3] == pytest.approx([expected] * 2, rel=1e-14)


def test_list_table_and_tree_privacy_agree():
    """Proposition B.5; for delta they only order."""
    sizes = [(2, 3), (2, 3), (3, 2), (2, 2)]
    policies = [enumeration.random_policy(k, t, np.random.default_rng(s)) for s, (k, t) in enumerate(sizes)]
    policies += [enumeration.stay_or_switch(3, 0.5), enumeration.stay_or_switch(3, 2.0)]
    for policy in policies:
        losses = [enumeration.privacy_loss(policy, model) for model in enumeration.MODELS]
        assert losses == pytest.approx([losses[0]] * 3, rel=1e-12)
        deltas = [enumeration.delta(policy, model, losses[0] / 4) for model in enumeration.MODELS]
        assert deltas[0] <= deltas[1] * (1 + 1e-12) and deltas[1] <= deltas[2] * (1 + 1e-12)
        assert enumeration.delta(policy, "tree", losses[0]) <= 1e-12


def test_enumeration_catches_policies_that_are_not_private():
    for model in enumeration.MODELS:
        assert enumeration.privacy_loss(enumeration.stay_or_switch(3, 1.0), model) <= 1
        assert (
            enumeration.privacy_loss(enumeration.stay_or_switch(3, 4.0), model) > 2
        )  # noise for 4 passed off as for 2
        assert enumeration.privacy_loss(enumeration.stay_or_switch(3, math.inf), model) == math.inf


def test_privacy_of_algorithm_1_on_the_smallest_instance():
    for epsilon, imed, klucb in ((0.5, 0.553, 0.0), (1.0, 0.594, 0.647), (3.0, 0.894, 0.880)):
        assert batches.privacy_loss(DPIMED(epsilon)) / epsilon == pytest.approx(imed, abs=0.02)
        assert batches.privacy_loss(DPKLUCB(epsilon)) / epsilon == pytest.approx(klucb, abs=0.02)
        law = batches.action_law(DPIMED(epsilon))
        assert law.sum(axis=(4, 5)) == pytest.approx(np.ones((2,) * 4), rel=1e-12)


def test_the_exact_law_is_that_of_play():
    algorithm, rewards = DPIMED(3.0), np.array([[1.0, 0], [0, 0], [1, 1], [0, 0], [0, 0]])
    law = batches.action_law(algorithm, 300)[1, 0, 1, 0]
    rng = np.random.default_rng(0)
    plays = np.array([algorithm.play(rewards, rng)[[2, 4]] for _ in range(20_000)])
    for d in np.ndindex(2, 2):
        hits, p = (plays == d).all(axis=1).mean(), law[d]
        assert abs(hits - p) <= norm.isf(FALSE_ALARM / 8) * math.sqrt(p * (1 - p) / len(plays)) + 0.01


def test_black_box_audit_catches_too_little_noise():
    class Careless(naive.Batched):
        def noise(self, rng):
            return rng.laplace(0.0, 0.1 / self.epsilon)

    rewards = np.zeros((5, 2))
    rewards[1] = 1
    neighbour = rewards.copy()
    neighbour[0] = 1

    def event(actions):
        return actions[2] == 0

    for honest in (DPIMED(1.0), DPKLUCB(1.0), naive.Batched("imed", 1.0)):
        assert audit.loss_lower_bound(honest, rewards, neighbour, event, 3000, seed=0) <= 1
    assert audit.loss_lower_bound(Careless("imed", 1.0), rewards, neighbour, event, 3000, seed=0) > 1


# bad input


@pytest.mark.parametrize("family", [DPKLUCB, DPIMED, AdaPKLUCB, LazyDPTS, DPSE])
@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_bad_epsilon(family, epsilon):
    with pytest.raises((ValueError, TypeError), match="epsilon") as caught:
        family(epsilon)
    assert repr(epsilon) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: DPIMED(1.0, 1.0), "alpha"),
        (lambda: DPIMED(1.0, math.inf), "alpha"),
        (lambda: DPKLUCB(1.0, 2.0, 0), "n0"),
        (lambda: DPKLUCB(1.0, 2.0, 1.5), "n0"),
        (lambda: DPKLUCB(1.0, ties="last"), "ties"),
        (lambda: DPIMED(1.0, power=-1), "power"),
        (lambda: AdaPKLUCB(1.0, 0), "alpha"),
        (lambda: KLUCB(-1.0), "c "),
        (lambda: DPIMED(1.0).many_pull_counts((0.5, 0.4), [10], 0, np.random.default_rng(0)), "runs"),
        (lambda: DPIMED(1.0).many_pull_counts((0.5, 1.4), [10], 1, np.random.default_rng(0)), "means"),
        (lambda: DPIMED(1.0).many_pull_counts((0.5, 0.4), [1], 1, np.random.default_rng(0)), "horizon"),
        (lambda: enumeration.reward_functions("forest", 2, 1), "model"),
    ],
)
def test_bad_parameters(make, word):
    with pytest.raises((ValueError, TypeError), match=word) as caught:
        make()
    assert "\n" not in str(caught.value)
