"""What is particular to each bandit algorithm."""

import math
from dataclasses import replace
from functools import partial
from itertools import product

import lectures
import naive
import numpy as np
import pytest
from cases import batched, dp_se, lazy_ucb
from laws import same_law
from scipy import stats
from scipy.integrate import quad

from privregret.bandits import (
    DPIMED,
    DPKLUCB,
    DPSE,
    IMED,
    KLUCB,
    UCB1,
    AdaPKLUCB,
    AnytimeLazyUCB,
    adap_klucb,
    lazy_ts,
    queues,
)
from privregret.bandits import lazy_ucb as arrays
from privregret.bandits.adap_klucb import _any
from privregret.bandits.dp_klucb import _batches, batch_ends
from privregret.core.jit import jit
from privregret.divergence import kl_inverse
from privregret.instances import BernoulliBandit
from privregret.studies.hu2021 import WideUCB

AblatedDPKLUCB = lectures.namespace("azize2025/5-experiments")["AblatedDPKLUCB"]


def bandit(*means):
    return BernoulliBandit("", means)


def the_same(algorithm, slow, means, horizon, seed, **instead):
    """Whether the counts of every round agree, without chance in the rewards; and the actions."""
    settings, horizons = algorithm.settings(horizon, len(means)), np.arange(1, horizon + 1)
    rng = naive.Recorder(np.random.default_rng(seed), certain=True)
    kernel = naive.plain(type(algorithm).fast_run, **instead)
    counts = kernel(np.array(means), horizons, settings, rng)
    assert {*rng.scales} <= {1 / settings.epsilon}
    actions = slow(np.tile(means, (horizon, 1)), np.random.default_rng(seed))
    return (counts == np.eye(len(means))[actions].cumsum(axis=0)).all(), actions


EVENTS = {
    "lazy": (AnytimeLazyUCB, lazy_ucb),
    "elimination": (partial(DPSE, beta=0.9), partial(dp_se, beta=0.9)),
    "batches": (partial(DPKLUCB, ties="first"), partial(batched, DPKLUCB.rule, ties="first")),
    "batched IMED": (partial(DPIMED, ties="first"), partial(batched, DPIMED.rule, ties="first")),
}
# whose sums are exact in any order
MANY = np.linspace(922, 205, 50).round() / 1024
MEANS = [(0.875, 0.625, 0.25), (0.5, 0.5625), (0.0, 0.0, 0.0, 1.0), MANY]


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 1e3])
@pytest.mark.parametrize("means", MEANS, ids=len)
@pytest.mark.parametrize(("kind", "slow"), EVENTS.values(), ids=EVENTS)
def test_event_by_event_is_round_by_round_when_rewards_are_certain(kind, slow, means, epsilon):
    for seed in range(2):
        assert the_same(kind(epsilon), slow(epsilon), means, 6000, seed)[0]


def add_first(arms, lengths, pulls, arm, mean, first, rng):
    """In place of a random order of ties: that of the arms."""
    queues.add.py_func(arms, lengths, pulls, arm, mean, True, rng)


def first_of_any(arms, lengths, q, rng):
    """In place of a random arm of a queue in which all tie."""
    size, waiting = lengths[q]["pulls"], []
    while lengths[q]["head"] >= 0:
        waiting.append(queues.take.py_func(arms, lengths, q))
    for j in sorted(waiting)[1:]:
        add_first(arms, lengths, size, j, arms[j]["mean"], True, rng)
    return min(waiting)


# with many arms and little noise some index is 1 up to rounding
@pytest.mark.parametrize(
    ("means", "epsilon"), [*product(MEANS[:3], (0.1, 2.0, 30.0)), (MANY, 0.1)], ids=str
)
def test_adap_klucb_is_round_by_round_when_rewards_are_certain_and_the_first_of_ties_leads(
    means, epsilon
):
    slow = naive.adap_klucb(epsilon, 2.5, lambda indices, rng: int(np.argmin(indices)))
    first = {"add": add_first, "_any": first_of_any}
    for seed in range(2):
        same, actions = the_same(AdaPKLUCB(epsilon, 2.5), slow, means, 6000, seed, **first)
        assert same and len(set(actions)) == len(means)


def test_an_index_of_adap_klucb_is_that_of_a_probability():
    """A noisy mean with its bonus may be below 0 or above 1."""
    algorithm, rng = AdaPKLUCB(0.5, 2.0), np.random.default_rng(1)
    arms = np.zeros(3, adap_klucb.ARM)
    arms["size"], arms["mean"] = (20, 30, 40), (-9.0, -0.2, 9.0)
    assert naive.plain(adap_klucb._leader)(arms, 50, algorithm.settings(50, 3), rng) == 2
    level = 2 * math.log(50) / arms["size"]
    centers = np.clip(arms["mean"] + level / 0.5, 0, 1)
    assert centers[0] == 0 < centers[1] < centers[2] == 1
    expected = [*map(kl_inverse, centers, level)]
    np.testing.assert_allclose(arms["index"], expected, rtol=1e-12)


@jit
def _first_of_ties(means, clipped, calls, rng):
    """How often each of the arms is next, the last one added after a first went and came back; by
    `_any`, where they tie although their means differ, or from the queue."""
    counts, last = np.zeros(len(means), np.int64), len(means) - 1
    for _ in range(calls):
        waiting, lengths = queues.no_queues(len(means))
        for j in range(last):
            queues.add(waiting, lengths, 8, j, means[j], False, rng)
        again = queues.take(waiting, lengths, 0)
        queues.add(waiting, lengths, 8, again, means[again], False, rng)
        queues.add(waiting, lengths, 8, last, means[last], False, rng)
        next_ = _any(waiting, lengths, 0, rng) if clipped else queues.take(waiting, lengths, 0)
        counts[next_] += 1
    return counts


@pytest.mark.parametrize("first, step", [(-0.5, -0.1), (0.0, 0.0), (1.0, 0.0)])
@pytest.mark.parametrize("arms", [3, 4, 7])
def test_of_tied_arms_each_is_next_equally_often(first, step, arms):
    """Sees in nine of ten runs a third that is off by 0.016."""
    means = first + step * np.arange(arms)
    counts = _first_of_ties(means, step < 0, 30_000, np.random.default_rng(1))
    assert stats.chisquare(counts).pvalue > 1e-4, counts


def posteriors(state, t, epsilon):
    """Of the arms of Lazy-DP-TS in round t."""
    n = state["size"]
    u = np.clip(state["mean"] + 3 * math.log(t) / (epsilon * n), 0, 1)
    return stats.beta(u * n + 1, (1 - u) * n + 1)


def cuts(epsilon, tries=400):
    """States of Lazy-DP-TS in which rounds t to last may be skipped."""
    rng, found = np.random.default_rng(2), []
    for _ in range(tries):
        arms, chances = np.zeros(3, arrays.ARM), np.empty(3)
        arms["size"], arms["mean"] = 2 ** rng.integers(2, 9, 3), rng.random(3)
        t = int(rng.integers(20, 400))
        last = t + 1 + t // 16
        leader, cut = lazy_ts._find_cut(arms, t, last, epsilon, chances)
        found += [(arms, t, last, leader, cut, chances)] if cut else []
    return found


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 100.0])
def test_draws_beyond_the_cut_have_no_more_than_the_chances_of_surprises(epsilon):
    """In the first round of a stretch and in the last, and in some hardly less."""
    closest = 0.0
    for arms, t, last, leader, cut, chances in cuts(epsilon):
        for now in (t, last):
            law = posteriors(arms, now, epsilon)
            beyond = np.where(np.arange(3) == leader, law.cdf(cut), law.sf(cut))
            assert (beyond <= chances * (1 + 1e-9)).all() and chances.sum() < 0.2
            closest = max(closest, (beyond / chances).max())
    assert closest > 0.8


@jit
def _chosen(arms, leader, cut, t, epsilon, chances, calls, rng):
    """How often each arm leads in round t, if surprises are possible as often as they are said."""
    counts, possible = np.zeros(len(arms), np.int64), np.empty(len(arms), np.bool_)
    for _ in range(calls):
        for j in range(len(arms)):
            possible[j] = rng.random() < chances[j]
        j = lazy_ts._choose_by_cut(arms, leader, cut, t, epsilon, possible, chances, rng)
        counts[j] += 1
    return counts


@pytest.mark.parametrize("epsilon", [0.3, 100.0])
def test_choices_by_cut_are_draws_from_the_posteriors(epsilon):
    """By quadrature; of arms that rarely lead, a chance that is a fifth too large is seen."""
    likely = sorted(cuts(epsilon), key=lambda state: -state[-1].sum())[:4]
    for arms, t, last, leader, cut, chances in likely:
        for now in (t, last):
            laws = [posteriors(arms[j : j + 1], now, epsilon) for j in range(3)]

            def density(x, j, laws=laws):
                others = [law.cdf(x)[0] for i, law in enumerate(laws) if i != j]
                return laws[j].pdf(x)[0] * math.prod(others)

            expected = np.array(
                [quad(density, 0, 1, (j,), points=[cut], limit=200)[0] for j in range(3)]
            )
            given = arms, leader, cut, now, epsilon, chances, 200_000, np.random.default_rng(3)
            assert stats.chisquare(_chosen(*given), 200_000 * expected).pvalue > 1e-4


@pytest.mark.parametrize("epsilon", [0.03, 0.3, 30.0])
@pytest.mark.parametrize("arms", [2, 8])
def test_dp_se_at_its_threshold(epsilon, arms):
    """Certain rewards, and arms around the border: each arm's noise decides, for itself."""
    plain = lectures.namespace("hu2021/6-experiments")
    length = math.ceil(plain["epoch_length"](1, arms, epsilon, 0.9))
    behind = plain["too_far"](1, arms, epsilon, 0.9) + np.linspace(-3, 3, arms + 1)[1:-1] / (
        epsilon * length
    )
    means, horizon = np.append(0.95, 0.95 - behind), arms * (length + 3) - 1
    dropped, algorithm = set(), DPSE(epsilon, 0.9)
    for seed in range(6):
        same, actions = the_same(algorithm, dp_se(epsilon, 0.9), means, horizon, seed)
        assert same and algorithm.play(np.tile(means, (len(actions), 1)), seed).tolist() == actions
        dropped.add(frozenset(range(arms)) - set(actions[arms * length :]))
    assert len(dropped) > 1  # it was the noise, indeed


def test_wide_ucb_is_hybrid_ucb_without_noise_and_the_last_term():
    def index(mean, n, t, epsilon):
        return mean + math.sqrt(3 * math.log2(t) / n)

    instead = {"laplace": lambda scale, rng: 0.0, "hybrid_index": index}
    plain = lectures.plays("hu2021/4-bandit-setting", "hybrid_ucb", instead, epsilon=1.0)
    for seed, means in enumerate(MEANS):
        table = bandit(*means).table(3000, seed)
        assert WideUCB().play(table, seed).tolist() == plain(table, None)


def test_a_first_batch_longer_than_the_horizon():
    for algorithm in (DPKLUCB(1.0, n0=30), DPIMED(1.0, n0=30)):
        assert algorithm.play(np.zeros((50, 2)), 0).tolist() == [0] * 30 + [1] * 20
        assert algorithm.run(bandit(0.5, 0.5), [20, 50], 0).tolist() == [[20, 0], [30, 20]]


@pytest.mark.parametrize("kind", [DPKLUCB, DPIMED])
@pytest.mark.parametrize("arm", [0, 2])
def test_given_sums_are_those_of_the_arm_that_has_them(kind, arm, means=(0.25, 0.75, 0.5)):
    """Without noise to speak of: the expected sums change nothing, others do."""
    algorithm, rounds = kind(1e6, 1.5, ties="first"), np.arange(1, 1001)
    ends = batch_ends(1.5, 1, 0, 1000)
    expected = np.diff(ends, prepend=0)[:4] * means[arm]

    def played(arm, given):
        rng = naive.Recorder(np.random.default_rng(1), certain=True)
        settings = algorithm.settings(1000, len(means))
        return naive.plain(_batches)(np.array(means), rounds, settings, arm, given, rng)

    usual = played(-1, np.empty(0))
    assert (played(arm, expected) == usual).all()
    assert (played(arm, expected + (0.5 - means[arm])) != usual).any() or means[arm] == 0.5
    assert (played(arm, ends[:4] * (0.0 if means[arm] > 0.4 else 1.0)) != usual).any()


@pytest.mark.parametrize(("forget", "optimism"), [(True, 1.0), (True, 0.5), (False, 3.1)])
def test_ablated_dp_klucb(forget, optimism):
    algorithm, rounds = AblatedDPKLUCB(1.0, 1.5, forget=forget, optimism=optimism), [20, 100, 600]
    problem = bandit(0.9, 0.5, 0.4)
    drawn = algorithm.run(problem, rounds, 2, 4800)
    first = replace(algorithm, ties="first")
    for seed in range(4):
        assert the_same(first, first.play, (0.875, 0.5, 0.375), 2000, seed)[0]
    whole = DPKLUCB(1.0, 1.5).run(problem, rounds, 2, 4800)
    assert not same_law(drawn, whole)
    nothing = AblatedDPKLUCB(1.0, 1.5, forget=False, optimism=1.0)
    assert (nothing.run(problem, rounds, 2, 4800) == whole).all()


def test_dp_se_with_an_epoch_longer_than_any_integer():
    longest = [2**62 - 1, 2**62]
    assert DPSE(1e-6, 0.5).run(bandit(0.5, 0.5), longest, 0).sum(axis=1).tolist() == longest
    assert DPSE(1e-6).run(bandit(0.5, 0.4), [11, 1000], 0).tolist() == [[6, 5], [500, 500]]
    assert DPSE(1e-6).play(np.zeros((6, 2)), 0).tolist() == [0, 1, 0, 1, 0, 1]


def test_batch_ends():
    batch_end = lectures.namespace("azize2025/4-algorithms")["batch_end"]
    assert batch_ends(2.0, 1, 0, 100).tolist() == [1, 3, 7, 15, 31, 63, 127]
    assert batch_ends(1.1, 1, 0, 28).tolist() == [1, 3, 4, 5, 7, 8, 10, 12, 14, 16, 19, 22, 25, 28]
    assert batch_ends(2.0, 1, 1, 20).tolist() == [1, 3, 6, 10, 15, 21]
    for alpha in (1.01, 1.05, 1.1, 1.5, 2.0, 3.0, 2.5):
        for n0 in (1, 3, 10):
            ends = batch_ends(alpha, n0, 0, 10**5).tolist()
            assert ends == [batch_end(m, alpha, n0) for m in range(len(ends))]
            assert ends[-1] >= 10**5 and (np.diff(ends) > 0).all()
            sizes = np.diff(ends, prepend=0)
            m = np.arange(len(ends))
            assert (sizes <= 2 * n0 * alpha**m * (1 + 1e-9)).all()  # (36)
            whole = n0 * (alpha ** (m + 1) - 1) / (alpha - 1) * (1 + 1e-9)
            assert (ends <= whole + 1).all()  # (35)
    assert batch_ends(1e300, 1, 0, 10**15).tolist() == [1, 2**62]


@pytest.mark.parametrize("algorithm", [UCB1(), KLUCB(), IMED()], ids=repr)
@pytest.mark.parametrize("means", [(0.1, 0.1, 0.8), (0.2, 0.2, 0.7, 0.1), (0.55, 0.5, 0.45)])
def test_rounds_that_are_not_looked_at_are_played_as_if_they_were(algorithm, means):
    """If every round is reported, each is looked at. Of the first arms the records often tie."""
    for seed, horizon in [*((seed, 3000) for seed in range(20)), *((s, 60_000) for s in range(5))]:
        skipping, looking = np.random.default_rng(seed), np.random.default_rng(seed)
        once = algorithm.run(bandit(*means), [horizon], skipping)
        every = algorithm.run(bandit(*means), np.arange(1, horizon + 1), looking)
        assert (once[-1] == every[-1]).all()
        assert skipping.bit_generator.state == looking.bit_generator.state


LONG = [AnytimeLazyUCB(0.01), AnytimeLazyUCB(10.0), DPSE(0.01), DPSE(10.0), DPKLUCB(0.01)]
LONG += [DPKLUCB(10.0), DPIMED(1.0, 1.1), AdaPKLUCB(0.1)]


@pytest.mark.parametrize("algorithm", LONG, ids=repr)
def test_a_horizon_of_a_quadrillion(algorithm):
    runs = [algorithm.run(bandit(0.75, 0.25), [10**3, 10**9, 10**15], seed) for seed in range(11)]
    counts = np.median(runs, axis=0)
    assert counts[-1, 0] > 0.999 * 10**15
    # twice 100 ln T / min(gap, epsilon) / gap: Theorem 3 of hu2021, its constant rounded up
    limits = 100 if isinstance(algorithm, (AnytimeLazyUCB, DPSE)) else 20
    assert counts[-1, 1] < 2 * limits * math.log(10**15) / min(0.5, algorithm.epsilon)
