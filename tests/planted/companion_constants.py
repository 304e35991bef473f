"""Faults for companion/constants: epochs that are too long, a wrong growth."""

from dataclasses import replace

from planted import Plant
from privregret.companion import PhasedFTNL
from privregret.studies import constants
from privregret.studies import whole_epochs as study


def one_round_too_long(patch):
    right = constants.epoch_length
    patch.setattr(constants, "epoch_length", lambda ballot, epoch: right(ballot, epoch) + 1)


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


PLANTS = [
    Plant(
        "companion/constants",
        "epochs of votes one round too long",
        one_round_too_long,
        ("private",),
    ),
    Plant(
        "companion/constants",
        "a random phase on epochs that double",
        epochs_that_double,
        ("phase-2e", "attained"),
    ),
]
