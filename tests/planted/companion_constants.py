"""Faults for companion/constants: epochs that are too long, missing noise, a phase that depends on
the losses, bounds that are too small."""

import numpy as np

from planted import Plant, scaled
from planted.companion_epochs import uniform_choice
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


def wrong_coin(patch):
    """The proof's rates with the two kinds of rows exchanged."""
    right = study.plane_formula

    def formula(order, share, coin):
        found = right(order, share, coin)
        return found | {"h_b": found["h_S"], "h_S": found["h_b"]}

    patch.setattr(study, "plane_formula", formula)


PLANTS = [
    Plant(
        CONSTANTS,
        "epochs of votes one round too long",
        one_round_too_long,
        (("Theorem 2", "under all changes of one vote"),),
    ),
    Plant(
        CONSTANTS, "a threshold without noise", no_noise, (("Theorem 6", "the margin stop are"),)
    ),
    Plant(
        CONSTANTS,
        "a phase that depends on the losses",
        phase_from_losses,
        (("Theorem 4", r"FTNL with a random phase is $\epsilon$-DP"),),
    ),
    Plant(
        CONSTANTS,
        "bounds half of what they are",
        scaled(bounds, 0.5, "votes", "hybrid_fixed", "random_phase_fixed", "fixed_sum"),
        (
            ("Theorem 2", "The bound on the regret of votes"),
            ("Theorem 3", "The bound on the regret of votes or leader"),
            ("Theorem 4", "The bound on the regret of FTNL"),
        ),
    ),
    Plant(
        CONSTANTS,
        "choices that do not look at the losses",
        uniform_choice,
        (("Lemma 2", "independent rounds"),),
    ),
    Plant(CONSTANTS, "rates exchanged", wrong_coin, (("Theorem 7", "affine plane"),)),
]
