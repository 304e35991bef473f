"""Faults for the notebooks of the companion; those that the audit plants itself are findings."""

from dataclasses import replace

import numpy as np

from planted import half_the_loss, other_noise, replaced, scaled, uniform_when_rare, wrapped
from privregret.bandits import DPIMED, AnytimeLazyUCB, BanditAlgorithm
from privregret.bounds import companion as whole_epochs
from privregret.companion import PhasedFTNL, coins
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.privacy import adversarial, noisy_maxima
from privregret.studies import constants, minimax, privacy_audit
from privregret.studies import whole_epochs as epochs


def nothing_is_faulty(patch):
    for kind in (privacy_audit.HybridChildren, *privacy_audit.FAULTS.values()):
        patch.setattr(kind, "steps", kind.__base__.steps)


def growth_of_two(right, learner, instance):
    """A random phase, but epochs that double: 2 r / ln r is 5.77 then."""
    phased = isinstance(learner, PhasedFTNL)
    return right(replace(learner, growth=2.0) if phased else learner, instance)


def half_the_noise(right, self, rewards, rng):
    own = self.label == "explore first"
    return right(replace(self, epsilon=2 * self.epsilon) if own else self, rewards, rng)


def uniform_actions(self, losses, rng):
    return np.random.default_rng(rng).integers(losses.shape[1], size=len(losses))


def remembers(self, *given):
    return DPIMED(self.epsilon, n0=8).start(*given)


def twice_the_loss(right, *given):
    found = right(*given)
    return found._replace(loss=2 * found.loss)


PLANTS = {
    "companion/privacy-audit": {
        "ledger-is-proved no-loss-above-the-claim": other_noise(FTNL, 1 / 2),
        "ledger-sees-faults": nothing_is_faulty,
        "printed-above-the-claim": half_the_loss(noisy_maxima, "epoch_loss"),
        # scores hardly move
        "exp4-near-one": wrapped(
            adversarial,
            "composed_delta",
            lambda right, e, shift, *more: right(e, shift / 1000, *more),
        ),
    },
    "companion/constants": {
        "phase-2e": wrapped(epochs, "scaled_regret", growth_of_two),
        "private": wrapped(constants, "epoch_length", lambda right, *given: right(*given) + 1),
        "signs": scaled(constants, 1.01, "signed_sum"),
        # losses that depend on each other; a learner with twice the printed privacy parameter;
        # rules that see the sums only
        "crowding": wrapped(coins, "crowding", lambda right, size, _: right(size, True)),
        "coins": wrapped(coins, "selection", twice_the_loss),
        "rows-beat-sums": wrapped(
            coins, "best_rule", lambda right, given, e, _: right(given, e, True)
        ),
    },
    "companion/whole-epochs": {
        "theorem parts": scaled(whole_epochs, 1 / 3, "theorem", "large_gaps", "deterministic"),
        "parts worst": other_noise(FTNL, 3),
    },
    "companion/minimax": {
        "slope three": wrapped(
            minimax, "value", lambda right, game, e, delta=0.0: right(game, e / 2, delta)
        )
    },
    "companion/side-by-side": {
        "imed-leads imed-over-bound": uniform_when_rare(DPIMED),
        "exponential": other_noise(FTNL, 3.0, ("exponential",)),
        "prefixes-cost-more": other_noise(RandomPrefixSoftmax, 0.25, ("gumbel",)),
    },
    "companion/your-own-algorithm": {
        "explore-first-is-private": wrapped(BanditAlgorithm, "play", half_the_noise),
        "both-learn-the-table": replaced(RandomPrefixSoftmax, "play", uniform_actions),
        "lazy-follows-the-drift": replaced(AnytimeLazyUCB, "start", remembers),
    },
}
