"""Faults that the audit of privacy must notice; those that it plants itself are findings of its
own."""

from planted import Plant, other_noise
from privregret.full_information import FTNL
from privregret.privacy import adversarial, noisy_maxima
from privregret.studies import privacy_audit

AUDIT = "companion/privacy-audit"


def nothing_is_faulty(patch):
    for kind in (privacy_audit.HybridChildren, *privacy_audit.FAULTS.values()):
        patch.setattr(kind, "steps", kind.__base__.steps)


def half_the_loss(patch):
    right = noisy_maxima.epoch_loss

    def loss(*given):
        worst = right(*given)
        return worst._replace(value=worst.value / 2)

    patch.setattr(noisy_maxima, "epoch_loss", loss)


def scores_that_hardly_move(patch):
    right = adversarial.composed_delta
    patch.setattr(
        adversarial, "composed_delta", lambda e, shift, *more: right(e, shift / 1000, *more)
    )


PLANTS = [
    Plant(
        AUDIT,
        "FTNL with half of its noise",
        other_noise(FTNL, 1 / 2),
        ("ledger-is-proved", "no-loss-above-the-claim"),
    ),
    Plant(
        AUDIT,
        "a fault that is not there is not noticed",
        nothing_is_faulty,
        ("ledger-sees-faults",),
    ),
    Plant(AUDIT, "half of the loss of noisy maxima", half_the_loss, ("printed-above-the-claim",)),
    Plant(AUDIT, "scores that hardly move", scores_that_hardly_move, ("exp4-near-one",)),
]
