"""What is particular to full-information algorithms: epochs, prefixes, presets, seen faults."""

import math

import numpy as np
import pytest
from cases import ACTIONS
from conftest import refused
from laws import by_play, by_run, same_law
from naive import full_information as naive

from privregret import instances
from privregret.core.algorithm import NOT_PRIVATE, Privacy
from privregret.full_information import (
    FTNL,
    DecreasingHedge,
    EpochLeader,
    NaiveFTNL,
    RandomPrefixSoftmax,
)


class SharedNoise(naive.Phased):
    """A fault: one draw of noise for all actions, which does not change the leader."""

    def choose(self, vectors, actions, rng):
        return min(range(actions), key=lambda j: sum(v[j] for v in vectors))


class StaleData(naive.Phased):
    """A fault: the last loss vector of the epoch is forgotten."""

    def choose(self, vectors, actions, rng):
        return super().choose(vectors[:-1], actions, rng)


class Greedy(naive.Phased):
    """A fault: the largest loss is followed."""

    def choose(self, vectors, actions, rng):
        return super().choose([[-x for x in v] for v in vectors], actions, rng)


@pytest.mark.parametrize("fault", [SharedNoise, StaleData, Greedy])
def test_the_comparison_of_laws_can_fail(fault):
    played = by_play(fault("laplace", 1.0, 2.0, False).play, ACTIONS, (5, 19), 2500, seed=3)
    assert not same_law(played, by_run(FTNL(2.0), ACTIONS, (5, 19), 2500, seed=4))


def test_an_epoch_plays_one_action_and_its_rounds_are_floor_log2():
    losses = np.random.default_rng(0).random((1000, 6))
    for algorithm in (FTNL(1.0), RandomPrefixSoftmax(1.0)):
        actions = algorithm.play(losses, 2)
        epochs = np.floor(np.log2(np.arange(1, 1001))).astype(int)
        for epoch in range(epochs.max() + 1):
            assert len(set(actions[epochs == epoch])) == 1


def test_a_prefix_ignores_what_comes_after_it():
    losses = np.random.default_rng(0).random((32, 4))
    losses[:16] = 0.5
    changed = losses.copy()
    # rounds 25..31: after the half prefix of the block 16..31
    changed[24:31] = 1 - changed[24:31]
    for prefix in ("half", "full"):
        learner = RandomPrefixSoftmax(50.0, prefix, math.inf)
        last = [learner.play(t, s)[-1] for s in range(200) for t in (losses, changed)]
        assert (last[::2] == last[1::2]) == (prefix == "half")


def test_presets_and_what_they_guarantee():
    printed = {"laplace": "hu2021", "exponential": "wu2026", "gumbel": "wu2026-proofs"}
    for noise, scale in printed.items():
        assert FTNL(0.5, noise, scale).privacy == Privacy(0.5, 1.0)
        assert FTNL(0.5, noise).privacy == Privacy(0.5, 0.5)
    assert FTNL(0.5, "gumbel", 8.0).privacy == Privacy(math.inf, 0.125)
    assert RandomPrefixSoftmax(0.1).privacy == Privacy(0.1, 0.1)
    assert RandomPrefixSoftmax(3.0).privacy == Privacy(3.0, 0.25)
    assert RandomPrefixSoftmax(3.0, cap=math.inf).privacy == Privacy(3.0, 3.0)
    assert NaiveFTNL(0.5).noise_scale(10) == 20 and NaiveFTNL(0.5).privacy == Privacy(0.5, 0.5)
    assert EpochLeader().privacy == NOT_PRIVATE == DecreasingHedge().privacy


def test_a_million_actions():
    million = instances.bernoulli_losses((0.1, 0.5), (1, 999_999))
    counts = FTNL(5.0).run(million, [2**9, 2**12], 0)
    assert (counts.sum(axis=1) == [2**9, 2**12]).all()
    e40 = instances.bernoulli_losses((0.1, 0.5), log_counts=(0.0, 40.0))
    refused(lambda: FTNL(1.0).run(e40, [8], 0), "e^40.0")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FTNL(1.0, "normal"), ["noise", "'normal'"]),
        (lambda: FTNL(1.0, "exponential", "hu2021"), ["scale", "'hu2021'"]),
        (lambda: FTNL(1.0, "gumbel", -1.0), ["scale", "-1.0"]),
        (lambda: FTNL(1.0, bernoulli_resampling=1), ["bernoulli_resampling", "True", "False", "1"]),
        (lambda: RandomPrefixSoftmax(1.0, "third"), ["prefix", "'third'"]),
        (lambda: RandomPrefixSoftmax(1.0, cap=0), ["cap", "0"]),
        (lambda: DecreasingHedge(0), ["rate", "0"]),
    ],
)
def test_bad_parameters(make, words):
    refused(make, *words)
