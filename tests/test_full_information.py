"""Full-information algorithms: literal play against naive versions, samplers against play, what they promise,
bad input."""

import json
import math
from dataclasses import replace

import naive_full_information as naive
import numpy as np
import pytest
from conftest import compiled_and_not
from scipy.stats import chi2_contingency

from privregret import exact, instances, simulate
from privregret.bandits import AnytimeLazyUCB
from privregret.full_information import (
    FTNL,
    DecreasingHedge,
    EpochLeader,
    FollowTheLeader,
    NaiveFTNL,
    RandomPrefixSoftmax,
)
from privregret.instances import HU2021_2

DRAWS = {
    "laplace": lambda scale: lambda rng: rng.laplace(0.0, scale),
    "exponential": lambda scale: lambda rng: scale * rng.standard_exponential(),
    "gumbel": lambda scale: lambda rng: -scale * math.log(rng.standard_exponential()),
}
EPOCHS = [
    *(
        FTNL(e, noise, scale)
        for e in (0.02, 1.0, 30.0)
        for noise, scale in (("laplace", "hu2021"), ("exponential", "wu2026"))
    ),
    FTNL(1.0, "gumbel", "wu2026", True),
    FTNL(0.5, "laplace", 3.7, True),
    NaiveFTNL(2.0),
    *(RandomPrefixSoftmax(e) for e in (0.02, 0.2, 100.0)),
    RandomPrefixSoftmax(4.0, "half", math.inf),
    RandomPrefixSoftmax(0.5, "full", bernoulli_resampling=True),
]


def oracle(algorithm, actions):
    draw = DRAWS[algorithm.noise](algorithm.noise_scale(actions))
    return naive.Epochs(draw, algorithm.prefix, algorithm.bernoulli_resampling)


@pytest.mark.parametrize("algorithm", EPOCHS, ids=repr)
def test_play_is_the_naive_version_to_the_bit(algorithm):
    for seed, (horizon, actions) in enumerate([(1, 2), (2, 5), (7, 3), (300, 4)]):
        losses = np.random.default_rng(seed).integers(0, 1025, (horizon, actions)) / 1024  # sums without rounding
        a = algorithm.play(losses, np.random.default_rng(5))
        b = oracle(algorithm, actions).play(losses, np.random.default_rng(5))
        assert a.tolist() == b


@pytest.mark.parametrize(
    "algorithm", [DecreasingHedge(), DecreasingHedge(0.3), DecreasingHedge(20.0), FollowTheLeader()], ids=repr
)
def test_leaders_play_as_the_naive_version(algorithm):
    losses = np.random.default_rng(1).integers(0, 2, (200, 4)).astype(float)
    a = algorithm.play(losses, np.random.default_rng(5))
    assert a.tolist() == naive.hedge(losses, algorithm.rate, np.random.default_rng(5))


def homogeneous(one, other) -> float:
    """p-value that two samples of small vectors have the same law: chi-squared over values seen at least 20
    times, the rest pooled."""
    keys, index = np.unique(np.concatenate([one, other]), axis=0, return_inverse=True)
    table = np.stack(
        [
            np.bincount(index[: len(one)], minlength=len(keys)),
            np.bincount(index[len(one) :], minlength=len(keys)),
        ]
    )
    often = table.sum(axis=0) >= 20
    pooled = np.concatenate([table[:, often], table[:, ~often].sum(axis=1, keepdims=True)], axis=1)
    return chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue


LAWS = [
    instances.bernoulli_losses((0.2, 0.5, 0.9), (1, 2, 1)),
    instances.deterministic_losses((0.0, 0.3, 1.0), (1, 1, 3)),
    instances.TWO_ACTION_FIXED,
    instances.dependent("antithetic", 0.3),
    instances.dependent("copies", 0.3, 4),
    instances.DEPENDENT_COPIES,
]
SAMPLED = [
    FTNL(2.0, "exponential"),
    FTNL(1.0, "laplace", bernoulli_resampling=True),
    RandomPrefixSoftmax(2.0, cap=1.0),
    EpochLeader(),
]
SAMPLED += [FollowTheLeader(), DecreasingHedge()]


@pytest.mark.parametrize("instance", LAWS, ids=lambda i: i.name)
def test_sampler_has_the_law_of_play(instance):
    # 36 comparisons of 4000 runs each over the whole file: with a threshold of 1e-5, a false alarm in 3000
    # seeds
    group = np.repeat(np.arange(len(instance.log_counts)), instance.counts)
    runs, horizon = 4000, 19
    for number, algorithm in enumerate(SAMPLED):
        rng = np.random.default_rng(100 + number)
        counts = np.array([algorithm.pull_counts(instance, [5, horizon], rng).ravel() for _ in range(runs)])
        played = []
        for _ in range(runs):
            actions = group[algorithm.play(instance.losses(horizon, rng), rng)]
            played.append([np.bincount(actions[:t], minlength=len(instance.log_counts)) for t in (5, horizon)])
        assert homogeneous(counts, np.array(played).reshape(runs, -1)) > 1e-5, algorithm


class SharedNoise(naive.Epochs):
    """A fault: one draw of noise for all actions."""

    def choose(self, vectors, actions, rng):
        shared = self.draw(rng)
        return max(range(actions), key=lambda j: shared - sum(v[j] for v in vectors))


class StaleData(naive.Epochs):
    """A fault: the last loss vector of the epoch is forgotten."""

    def choose(self, vectors, actions, rng):
        return super().choose(vectors[:-1], actions, rng)


class Greedy(naive.Epochs):
    """A fault: the largest loss is followed."""

    def choose(self, vectors, actions, rng):
        return super().choose([[-x for x in v] for v in vectors], actions, rng)


@pytest.mark.parametrize("fault", [SharedNoise, StaleData, Greedy])
def test_the_comparison_of_laws_can_fail(fault):
    instance, algorithm, runs, horizon = LAWS[0], FTNL(2.0), 4000, 19
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(3), instance.counts)
    counts = np.array([algorithm.pull_counts(instance, [horizon], rng)[0] for _ in range(runs)])
    faulty = fault(DRAWS["laplace"](algorithm.noise_scale(4)))
    played = [group[faulty.play(instance.losses(horizon, rng), rng)] for _ in range(runs)]
    assert homogeneous(counts, np.array([np.bincount(p, minlength=3) for p in played])) < 1e-5


def test_counts_add_up_and_reports_are_those_of_one_run():
    instance = instances.doubling(5, 3)
    horizons = [1, 2, 3, 4, 8, 100, 1023, 1024, 5000]
    for algorithm in (FTNL(0.5), RandomPrefixSoftmax(0.2), DecreasingHedge(), FollowTheLeader()):
        counts = algorithm.pull_counts(instance, horizons, np.random.default_rng(1))
        assert (counts.sum(axis=1) == horizons).all()
        assert (np.diff(counts, axis=0) >= 0).all()
        assert (counts[-1] == algorithm.pull_counts(instance, [5000], np.random.default_rng(1))[0]).all()


def test_an_epoch_plays_one_action_and_its_rounds_are_floor_log2():
    losses = np.random.default_rng(0).random((1000, 6))
    for algorithm in (FTNL(1.0), RandomPrefixSoftmax(1.0)):
        actions = algorithm.play(losses, np.random.default_rng(2))
        epochs = np.floor(np.log2(np.arange(1, 1001))).astype(int)
        for epoch in range(epochs.max() + 1):
            assert len(set(actions[epochs == epoch])) == 1


def test_a_prefix_ignores_what_comes_after_it():
    losses = np.random.default_rng(0).random((31, 4))
    changed = losses.copy()
    changed[15 + 9 :] = 1 - changed[15 + 9 :]  # rounds 25..31: after the half prefix of the block 16..31
    half, full = RandomPrefixSoftmax(50.0, "half", math.inf), RandomPrefixSoftmax(50.0, "full", math.inf)
    for table in (losses, changed):
        table[:16] = 0.5
    longer = [np.concatenate([t, np.zeros((1, 4))]) for t in (losses, changed)]
    same = [half.play(t, np.random.default_rng(s))[-1] for s in range(200) for t in longer]
    assert same[::2] == same[1::2]
    other = [full.play(t, np.random.default_rng(s))[-1] for s in range(200) for t in longer]
    assert other[::2] != other[1::2]


def test_full_block_softmax_is_ftnl_with_gumbel_noise():
    instance = LAWS[0]
    for epsilon in (0.02, 0.2):
        a = exact.expected_regret(RandomPrefixSoftmax(epsilon, "full"), instance, 10**6)
        b = exact.expected_regret(FTNL(epsilon, "gumbel"), instance, 10**6)
        assert a.value == pytest.approx(b.value, rel=1e-12)


def test_presets_and_what_they_guarantee():
    assert [
        FTNL(0.5, n, s).privacy
        for n, s in (("laplace", "hu2021"), ("exponential", "wu2026"), ("gumbel", "wu2026-proofs"))
    ] == [1.0] * 3
    for noise in ("laplace", "exponential", "gumbel"):
        assert FTNL(0.5, noise).privacy == 0.5 and FTNL(0.5, noise).noise_scale(7) == 4.0
    assert FTNL(0.5, "gumbel", 8.0).privacy == 0.125
    assert RandomPrefixSoftmax(0.1).privacy == 0.1 and RandomPrefixSoftmax(3.0).privacy == 0.25
    assert RandomPrefixSoftmax(3.0, cap=math.inf).privacy == 3.0
    assert NaiveFTNL(0.5).noise_scale(10) == 20 and EpochLeader().privacy == math.inf


@pytest.mark.parametrize(
    "algorithm",
    [
        FTNL(0.5, n, s)
        for n, s in (
            ("laplace", "hu2021"),
            ("laplace", "corrected"),
            ("exponential", "wu2026"),
            ("exponential", "corrected"),
            ("gumbel", "wu2026"),
        )
    ],
    ids=repr,
)
def test_privacy_of_the_selection(algorithm):
    """Worst log ratio over neighbouring 0/1 tables of one epoch of 4 rounds and three actions, by enumeration
    of sums."""
    scale, worst = algorithm.noise_scale(3), 0.0
    probability = {}
    for sums in np.ndindex(6, 6, 6):
        probability[sums] = np.log(exact.fixed_scores(sums, np.zeros(3), algorithm.noise, scale))
    for sums, logs in probability.items():
        for move in np.ndindex(3, 3, 3):
            other = tuple(s + m - 1 for s, m in zip(sums, move, strict=True))
            if other in probability:
                worst = max(worst, np.abs(logs - probability[other]).max())
    assert worst <= algorithm.privacy * (1 + 1e-9)
    if algorithm.noise == "exponential":  # attained
        assert worst == pytest.approx(algorithm.privacy, rel=1e-9)
    if algorithm.scale in ("hu2021",) or (algorithm.noise, algorithm.scale) == ("exponential", "wu2026"):
        assert worst > 1.2 * algorithm.epsilon  # more than the paper says


def test_a_million_actions():
    million = instances.bernoulli_losses((0.1, 0.5), (1, 999_999))
    counts = FTNL(5.0).pull_counts(million, [2**9, 2**12], np.random.default_rng(0))
    assert (counts.sum(axis=1) == [2**9, 2**12]).all()
    with pytest.raises(ValueError, match="too many to simulate"):
        FTNL(1.0).pull_counts(
            instances.bernoulli_losses((0.1, 0.5), log_counts=(0.0, 40.0)), [8], np.random.default_rng(0)
        )


def test_curves_do_not_depend_on_workers_or_company():
    algorithms = [FTNL(1.0), RandomPrefixSoftmax(0.3), AnytimeLazyUCB(1.0)][:2]
    instance = instances.packing(6, 0.2)
    one, two, four = (simulate.regret_curves(algorithms, instance, 2000, 20, 3, points=5, workers=w) for w in (1, 2, 4))
    assert one.equals(two) and one.equals(four)
    alone = simulate.regret_curves(algorithms[1:], instance, 2000, 20, 3, points=5)
    assert (one[one.algorithm == algorithms[1].label].regret.values == alone.regret.values).all()
    renamed = simulate.regret_curves(algorithms, replace(instance, name="other"), 2000, 20, 3, points=5)
    assert (renamed.regret.values == one.regret.values).all()


def test_curves_of_bandits_still_work_beside_them():
    frame = simulate.regret_curves([AnytimeLazyUCB(1.0)], HU2021_2, 1000, 3, 1, points=2)
    assert len(frame) == 3 * frame.t.nunique()


CODE = """
import json, numpy as np
from privregret import exact, instances
from privregret.full_information import *
four = instances.bernoulli_losses((0.3, 0.5, 0.8), (1, 2, 1))
losses = np.random.default_rng(0).random((40, 3))
out = []
for a in (FTNL(0.1), FTNL(1.0, "exponential", "wu2026", True), FTNL(20.0, "gumbel"), RandomPrefixSoftmax(0.2),
          EpochLeader(),
          FollowTheLeader(), DecreasingHedge()):
    out.append(a.play(losses, np.random.default_rng(1)).tolist())
    out.append(a.pull_counts(four, [7, 60], np.random.default_rng(1)).tolist())
    out.append(a.pull_counts(instances.DEPENDENT_COPIES, [7, 60], np.random.default_rng(1)).tolist())
exactly = [exact.selection_probabilities(four, 9, n, b).group.tolist()
           for n in ("laplace", "exponential", "gumbel", "none") for b in (0.7, 5.0, 100.0)]
print(json.dumps([out, exactly]))
"""


def test_compiled_and_interpreted_agree():
    results = [json.loads(output) for output in compiled_and_not(CODE)]
    assert results[0][0] == results[1][0]  # random streams: to the bit
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-12)


BAD = [
    (lambda: FTNL(0.0), "epsilon"),
    (lambda: FTNL(1.0, "normal"), "noise must be one of"),
    (lambda: FTNL(1.0, "exponential", "hu2021"), "scale must be one of"),
    (lambda: FTNL(1.0, "gumbel", -1.0), "scale must be"),
    (lambda: FTNL(1.0, bernoulli_resampling=1), "True or False"),
    (lambda: RandomPrefixSoftmax(1.0, "third"), "prefix must be one of"),
    (lambda: RandomPrefixSoftmax(1.0, cap=0), "cap must be"),
    (lambda: DecreasingHedge(0), "rate must be"),
    (lambda: FTNL(1.0).play([[0.5, 1.5]], np.random.default_rng(0)), "must lie in"),
    (lambda: FTNL(1.0).play(np.zeros((0, 3)), np.random.default_rng(0)), "shape"),
    (lambda: FTNL(1.0).pull_counts((0.5, 0.6), [3], np.random.default_rng(0)), "StochasticLosses"),
    (lambda: FTNL(1.0).pull_counts(LAWS[0], [0], np.random.default_rng(0)), "horizons"),
    (lambda: instances.bernoulli_losses((0.5, 1.2)), "losses must lie in"),
    (lambda: instances.bernoulli_losses((0.5,)), "at least two"),
    (lambda: instances.bernoulli_losses((0.5, 0.6), (1, 0)), "count must be"),
    (lambda: instances.StochasticLosses("x", ((0.1, 0.2),), (0.0, 0.0), (0.7,)), "sum to 1"),
    (lambda: instances.StochasticLosses("x", ((0.1, 0.2),), (0.0,), (1.0,)), "outcomes must have shape"),
    (lambda: instances.cyclic(5, 0.1), "at least 6"),
    (lambda: instances.dependent("antithetic", 0.1, 3), "2 actions"),
]


@pytest.mark.parametrize("call, message", BAD)
def test_bad_input_gets_one_clear_line(call, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_instances_are_what_the_papers_say():
    packing = instances.packing(7, 0.1)
    np.testing.assert_allclose(packing.gaps, [0, 0.1])
    assert packing.counts.tolist() == [1, 6]
    doubling = instances.doubling(5)
    np.testing.assert_allclose(doubling.gaps[1:], doubling.gaps[1] * 2.0 ** np.arange(5))
    assert doubling.gaps[-1] == pytest.approx(0.9)
    cyclic = instances.cyclic(10, 0.05)
    assert cyclic.counts.tolist() == [1, 2, 7] and cyclic.means.tolist() == [0, 0.05, 1]
    assert instances.cyclic(None, 0.05, log_actions=math.log(10)).log_counts == pytest.approx(cyclic.log_counts)
    assert instances.TWO_ACTION_PRINTED.means.tolist() == pytest.approx([0.3, 0.32])
    assert instances.TWO_ACTION_FIXED.means.tolist() == pytest.approx([0.3, 0.36])
    assert instances.TWO_ACTION_GAIN.means.tolist() == pytest.approx([0.01, 0.31])
    assert instances.DEPENDENT_COPIES.means.tolist() == pytest.approx([0.40, 0.41])
    for kind in ("antithetic", "comonotone", "copies"):
        assert instances.dependent(kind, 0.2).gaps.tolist() == pytest.approx([0, 0.2])
    twin = instances.with_losses(HU2021_2)
    np.testing.assert_allclose(twin.gaps, HU2021_2.gaps)
    table = packing.losses(20000, np.random.default_rng(0))
    assert table.shape == (20000, 7)
    np.testing.assert_allclose(table.mean(axis=0), [0.4] + [0.5] * 6, atol=0.02)
    copies = instances.dependent("copies", 0.2, 4).losses(1000, np.random.default_rng(0))
    assert (copies[:, 1] == copies[:, 3]).all() and (copies[:, 0] != copies[:, 1]).any()
