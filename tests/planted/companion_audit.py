"""Faults that the audit of privacy must notice; those that it plants itself are findings of its
own."""

from planted import Plant, other_noise
from privregret.full_information import FTNL
from privregret.privacy import adversarial, selection, trace
from privregret.studies import privacy_audit

AUDIT = "companion/privacy-audit"


def blind(patch):
    """The ledger sees half of each move of a noise."""
    right = trace.moves

    def moves(*given):
        found = right(*given)
        return None if found is None else found / 2

    patch.setattr(trace, "moves", moves)


def nothing_is_faulty(patch):
    for kind in (privacy_audit.HybridChildren, *privacy_audit.FAULTS.values()):
        patch.setattr(kind, "steps", kind.__base__.steps)


def half_the_loss(patch):
    right = selection.privacy_loss

    def loss(*given):
        worst = right(*given)
        return worst._replace(value=worst.value / 2)

    patch.setattr(selection, "privacy_loss", loss)


def scores_that_move(factor):
    """Multiply how far the scores of batched EXP4 move."""
    right = adversarial.laplace_delta
    return lambda patch: patch.setattr(
        adversarial, "laplace_delta", lambda e, shift, *more: right(e, factor * shift, *more)
    )


PLANTS = [
    Plant(
        AUDIT,
        "a fault that is not there is not noticed",
        nothing_is_faulty,
        (("Ledger", "lists of releases"), ("Planted faults", "with the planted fault")),
    ),
    Plant(
        AUDIT,
        "FTNL with half of its noise",
        other_noise(FTNL, 1 / 2),
        (
            ("Ledger", "pure privacy"),
            ("Exact losses", "For none of"),
            ("Other epsilons", "whose claim is proved"),
            ("Planted faults", "Without the planted faults"),
        ),
    ),
    Plant(
        AUDIT,
        "a ledger that sees half",
        blind,
        (
            ("Ledger", "lists of releases"),
            ("Ledger", "pure privacy"),
            ("Exact losses", "No privacy loss found exceeds"),
        ),
    ),
    Plant(
        AUDIT,
        "half of the loss of noisy maxima",
        half_the_loss,
        (("Exact losses", "For each of"), ("Other epsilons", "Each printed variant")),
    ),
    Plant(
        AUDIT,
        "scores that move ten times as far",
        scores_that_move(10),
        (("Batched EXP4", r"the largest $\delta$"),),
    ),
    Plant(
        AUDIT,
        "scores that hardly move",
        scores_that_move(1 / 1000),
        (("Batched EXP4", r"At $\delta=0.9999$"),),
    ),
]
