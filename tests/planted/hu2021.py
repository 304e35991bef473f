"""Faults for the notebooks on hu2021."""

from dataclasses import replace

import numpy as np

import privregret.instances
from planted import all_of, as_if, half_the_loss, uniform, with_epsilon, wrapped
from privregret.bandits import DPSE, AnytimeLazyUCB, HybridUCB
from privregret.bounds import hu2021 as bounds
from privregret.exact import regret
from privregret.full_information import FTNL
from privregret.privacy import ledger, noisy_maxima
from privregret.studies import hu2021 as decisions


def pays_for_each_bracket(right, algorithm, instance, horizons):
    parts = right(algorithm, instance, horizons)
    return regret.Regret(*((len(instance.gaps) - 1) * part for part in parts))


def uniform_experts(right, algorithm, instance, horizons):
    if not isinstance(algorithm, FTNL):
        return right(algorithm, instance, horizons)
    mean_gap = np.exp(np.array(instance.log_counts) - instance.log_actions) @ instance.gaps
    return regret.Regret(mean_gap * np.atleast_1d(horizons), np.zeros(np.size(horizons)))


def all_experts_in_every_bracket(right, gaps, log_counts, epsilon):
    gap, sizes = bounds.brackets(gaps, log_counts)
    return float(np.sum(256 * np.logaddexp.reduce(sizes) / np.minimum(gap, epsilon)))


def half_the_noise(right, learner, *given):
    return right(replace(learner, epsilon=2 * learner.epsilon), *given)


PLANTS = {
    "hu2021/4-bandit-setting": {
        # the attack is on noise for one node more
        "theorem-5-regret theorem-5-privacy": all_of(
            uniform(HybridUCB),
            wrapped(decisions, "hybrid_loss", lambda right, e, more=0: right(e, more + 1)),
        ),
        "theorem-3 theorem-3-growth theorem-4": uniform(AnytimeLazyUCB),
        "theorem-2": wrapped(ledger, "traced", half_the_noise),
    },
    "hu2021/H-lower-bound": {
        "theorem-10": wrapped(FTNL, "noise_scale", lambda right, *given: min(right(*given), 1.0)),
        # two experts, whatever K
        "theorem-10-gap minimax": wrapped(
            privregret.instances, "packing", lambda right, k, gap: right(2, gap)
        ),
    },
    "hu2021/6-experiments": {
        "hybrid-large-epsilon hybrid-improves ucb-falls hybrid-is-ucb1": uniform(HybridUCB),
        "lazy-competitive": uniform(AnytimeLazyUCB),
        "se-flat": with_epsilon(DPSE, lambda e: e / 50),
    },
    "hu2021/I-additional-plots": {
        "elimination": as_if(AnytimeLazyUCB, lambda learner: DPSE(learner.epsilon)),
        "se-flat-beyond": with_epsilon(DPSE, lambda e: 1.0),
    },
    "hu2021/5-full-information": {
        "theorem-7 corollary-8 corollary-9 corollary-9-without-log naive-version": wrapped(
            regret, "expected_regret", uniform_experts
        ),
        "theorem-6 fresh-observations": half_the_loss(noisy_maxima, "epoch_loss"),
    },
    "hu2021/7-doubling-instance": {
        "doubling-not-harder conjectured-rate": wrapped(
            regret, "expected_regret", pays_for_each_bracket
        ),
        "bound-of-the-proof": wrapped(bounds, "theorem_7", all_experts_in_every_bracket),
    },
}
