"""What is particular to full-information algorithms: presets, and numbers of actions."""

import math

import pytest
from conftest import refused

from privregret import instances
from privregret.companion import MarginStop, Votes, VotesOrLeader
from privregret.core.algorithm import NOT_PRIVATE, Privacy
from privregret.full_information import (
    FTNL,
    DecreasingHedge,
    EpochLeader,
    NaiveFTNL,
    RandomPrefixSoftmax,
)


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
    for learner in (Votes, VotesOrLeader, MarginStop):
        assert learner(0.5).privacy == Privacy(0.5, 0.5)
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
