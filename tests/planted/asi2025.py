"""Faults for the notebooks on asi2025."""

from dataclasses import replace

import numpy as np

from planted import all_of, plays, replaced, scaled, wrapped
from privregret import adversarial
from privregret.bounds import asi2025 as bounds
from privregret.instances import Adversary
from privregret.studies import asi2025 as study
from privregret.studies import asi2025_privacy as privacy


def uniform(cls):
    """The learner draws every arm uniformly; its loss is replaced by the mean."""

    def run(data, checkpoints, rng):
        ends = np.append(data.loss_starts[1:], np.iinfo(np.int64).max)
        lengths = np.clip(checkpoints[:, None], data.loss_starts, ends) - data.loss_starts
        return lengths @ data.losses.mean(axis=1)

    return plays(cls, run=run)


def half_the_noise_on_losses(right, self, *given):
    return right(replace(self, epsilon=2 * self.epsilon), *given)


def repaired_after_all(right, self, *sizes):
    """In batches FTPL plays as with its resampling repaired, whatever it is asked for."""
    if isinstance(self.base, adversarial.FTPL):
        self = replace(self, base=replace(self.base, resampling="corrected"))
    return right(self, *sizes)


def knows_all(data, checkpoints, rng):
    """A learner that pays next to nothing more than the best arm: no lower bound allows it."""
    same = Adversary("the same", data.loss_starts, data.losses)
    return same.comparators(checkpoints).min(axis=1) + 0.01


def done_late(data, checkpoints, rng):
    """The worse arm in a tenth of all rounds, and never again."""
    low, high = np.sort(data.losses[0])
    return low * checkpoints + (high - low) * np.minimum(checkpoints, checkpoints[-1] / 10)


def same_path(losses, actions, *_):
    return np.linspace(0.5, 0.8, len(actions)) + losses[0, 1] / 1e3


HALF_SCALE = property(lambda self, right=adversarial.BatchedPrivate.scale.fget: 0.5 * right(self))
CERTIFIED = {"bound": 100.0, "rate": 0.1, "drop": 0, "pulls": 1}
PLANTS = {
    "asi2025/3-private-adversarial-bandits": {
        # on averages
        "lemma-3": wrapped(
            privacy,
            "worst_batched_loss",
            lambda right, base, scale, *more: right(base, 0.5 * scale, *more),
        ),
        # in batches and with per-loss noise
        "theorem-1 table-1 sublinear local-separation adaptive-separation": uniform(
            adversarial.BatchedPrivate
        ),
        "corollary-2": scaled(bounds, 0.01, "corollary_2"),
    },
    "asi2025/4-expert-advice": {
        "sublinear-many-experts": uniform(adversarial.EXP4Batched),
        # on losses in `run` alone: in `play` the plain algorithm beside it would be another one
        "theorem-7 theorem-9-privacy sensitive-advice": all_of(
            replaced(adversarial.BatchedPrivate, "scale", HALF_SCALE),
            wrapped(adversarial.EXP4Local, "run", half_the_noise_on_losses),
        ),
        "expert-bounds theorem-10-composition": all_of(
            scaled(bounds, 0.001, "theorem_9"), scaled(study, 1.1, "lemma_15")
        ),
    },
    "asi2025/5-barriers": {
        "lemma-11": all_of(
            plays(adversarial.SparseSwitch, run=knows_all),
            replaced(study, "lemma_11_certified", lambda *_: CERTIFIED),
        ),
        "batched-exp3-barrier": uniform(adversarial.BatchedPrivate),
        "drop-time": plays(adversarial.EXP3, run=done_late),
    },
    "asi2025/E-conversions": {
        "corollary-22 corollary-24 lemma-25": all_of(
            *(
                replaced(bounds, name, lambda *args, **kwargs: 1.0)
                for name in ("corollary_22", "corollary_24", "lemma_25")
            )
        ),
        "algorithm-4 corollary-24-proof lemma-25-proof": all_of(
            wrapped(adversarial.BatchedPrivate, "settings", repaired_after_all),
            scaled(bounds, 1.5, "lemma_25"),
            scaled(bounds, 0.08, "lemma_25_terms"),
        ),
    },
    "asi2025/G-exp3-leakage": {
        # adversarial.EXP3 does what it does whatever it sees
        "figure-1 grows-with-the-horizon amplified": all_of(
            replaced(privacy, "exp3_path", same_path),
            replaced(privacy, "exp3_loss", lambda *_: 0.05),
        )
    },
}
