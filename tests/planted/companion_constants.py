"""Faults for companion/constants: epochs that are too long, missing or doubled noise, a phase that
depends on the losses, a wrong growth, bounds that are too small."""

from dataclasses import replace

import numpy as np

from planted import Plant, other_noise, scaled
from privregret.bounds import constants as bounds
from privregret.full_information import PhasedFTNL
from privregret.full_information.votes import Ballot
from privregret.privacy import margin
from privregret.studies import constants as study

CONSTANTS = "companion/constants"


def one_round_too_long(patch):
    right = Ballot.length
    patch.setattr(Ballot, "length", lambda ballot, epoch: right(ballot, epoch) + 1)


def no_noise(patch):
    """The first check at which the margin is above the threshold succeeds for certain."""

    def chances(above):
        first = np.argmax(above >= 0) if (above >= 0).any() else len(above)
        found = np.append(np.zeros(len(above)), 0.0)
        found[first] = 1.0
        return found[:-1], found[-1]

    patch.setattr(margin, "stopping_chances", chances)


def phase_from_losses(patch):
    """Epochs grow by 2 or 5, as the losses of round 1 decide."""
    right = study.epoch_plan

    def plan(game, learner):
        fixed = [
            right(game, PhasedFTNL(learner.epsilon, "gumbel", growth=g, random_phase=False))
            for g in (2.0, 5.0)
        ]
        seen = np.arange(game.sequences) // (game.sequences // 4) % 2
        return np.where(seen == 0, *fixed)

    patch.setattr(study, "epoch_plan", plan)


def epochs_that_double(patch):
    """A random phase, but epochs that grow by 2: 2 r / ln r is 5.77 then."""
    right = study.scaled_regret
    patch.setattr(
        study,
        "scaled_regret",
        lambda learner, instance: right(
            replace(learner, growth=2.0) if isinstance(learner, PhasedFTNL) else learner, instance
        ),
    )


def half_the_price(patch):
    right = study.few_gaps
    patch.setattr(study, "few_gaps", lambda levels: (right(levels)[0] / 2, right(levels)[1]))


PRIVATE = ("Theorems 2, 3, 4 and 6", "All four learners")
ABOUT_PHASES = (("Theorem 4", "of $2e"), ("Theorem 7", "within 0.1 per cent"))

PLANTS = [
    Plant(CONSTANTS, "epochs of votes one round too long", one_round_too_long, (PRIVATE,)),
    Plant(CONSTANTS, "a threshold without noise", no_noise, (PRIVATE,)),
    Plant(CONSTANTS, "a phase that depends on the losses", phase_from_losses, (PRIVATE,)),
    Plant(CONSTANTS, "twice the noise", other_noise(PhasedFTNL, 2), ABOUT_PHASES),
    Plant(CONSTANTS, "a random phase on epochs that double", epochs_that_double, ABOUT_PHASES),
    Plant(
        CONSTANTS,
        "half the price of faults",
        half_the_price,
        (("Theorem 7", "the lower bound for all"),),
    ),
    Plant(
        CONSTANTS,
        "bounds half of what they are",
        scaled(bounds, 0.5, "votes", "hybrid_fixed", "random_phase_fixed"),
        (("Theorems 2, 3, 4 and 6", "The bounds on the regret"),),
    ),
]
