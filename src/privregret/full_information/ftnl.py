"""Follow-the-Noisy-Leader and its variants

They are Algorithms 2 and 3 of hu2021 and Algorithm 1 of wu2026.
"""

import math
from dataclasses import dataclass

from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, Privacy
from privregret.full_information.epochs import EpochAlgorithm

NAMES = {"laplace": "Laplace", "exponential": "exponential", "gumbel": "Gumbel"}
# the scale of the noise, times epsilon
PRESETS = {
    "hu2021": {"laplace": 1.0},
    "wu2026": {"laplace": 2.0, "exponential": 1.0, "gumbel": 2.0},
    "wu2026-proofs": {"gumbel": 1.0},
    "corrected": {"laplace": 2.0, "exponential": 2.0, "gumbel": 2.0},
}


@dataclass(frozen=True)
class FTNL(EpochAlgorithm):
    """Follow-the-Noisy-Leader: the winner of report noisy max on the sums of the last epoch.

    Anytime, O(K) memory. hu2021 uses Laplace noise and no resampling. wu2026 adds exponential and
    Gumbel noise (the latter is softmax with inverse temperature 1 / scale) and the resampling of
    losses to Bernoulli losses. Plain version: `ftnl` in the notebook
    wu2026/3-bernoulli-resampling.

    Privacy, for the sequence of actions when one round's losses are all replaced: 2 / scale
    whatever the noise, that is (2 / c) epsilon with scale c / epsilon. One changed round moves
    every sum by up to 1, in either direction. Exponential noise attains this level, and for the two
    others it is the supremum over long epochs (`privacy.noisy_maxima`). All presets claim
    epsilon; a number c has no source that claims anything. Presets:

    - "hu2021": laplace, c = 1. Guarantee 2 epsilon, although Theorem 6 claims epsilon.
    - "wu2026": laplace, c = 2. Guarantee epsilon.
    - "wu2026": exponential, c = 1. Guarantee 2 epsilon, although Theorem 2 claims epsilon.
    - "wu2026": gumbel, c = 2. Guarantee epsilon.
    - "wu2026-proofs": gumbel, c = 1, from exp(-epsilon G) in the proofs. Guarantee 2 epsilon.
    - "corrected": any noise, c = 2. Guarantee epsilon.

    Deviations: the first action is uniform, as in wu2026. hu2021 starts with action 1, which is
    equivalent if labels are drawn at random.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    noise : {"laplace", "exponential", "gumbel"}
    scale : str or float
        A preset, or c itself, in [0.001, 1000].
    bernoulli_resampling : bool
        Replace each loss by an independent Bernoulli loss of that mean before adding it up. This
        does not change the privacy.
    """

    epsilon: float
    noise: str = "laplace"
    scale: str | float = "corrected"
    bernoulli_resampling: bool = False
    id = "ftnl"
    source = "hu2021, Algorithms 2 and 3; wu2026, Algorithm 1"
    rules = {
        "epsilon": checks.epsilon,
        "noise": checks.one_of(*NAMES),
        "scale": lambda name, value: (
            value if isinstance(value, str) else checks.number_in(1e-3, 1e3)(name, value)
        ),
        "bernoulli_resampling": checks.boolean,
    }

    def __post_init__(self):
        checks.one_of(*NAMES)("noise", self.noise)
        # not every preset has every noise
        presets = [name for name, scales in PRESETS.items() if self.noise in scales]
        if isinstance(self.scale, str):
            checks.one_of(*presets)("scale", self.scale)
        super().__post_init__()

    @property
    def factor(self) -> float:
        """Return c, the scale of the noise times epsilon."""
        return PRESETS[self.scale][self.noise] if isinstance(self.scale, str) else self.scale

    @property
    def privacy(self) -> Privacy:
        printed = self.epsilon if isinstance(self.scale, str) else math.inf
        return Privacy(printed, 2 * self.epsilon / self.factor)

    @property
    def label(self) -> str:
        scale = "" if self.factor == 2 else rf", ${self.factor:g}/\epsilon$"
        resampled = ", resampled" if self.bernoulli_resampling else ""
        return f"FTNL ({NAMES[self.noise]}{scale}{resampled})"

    def noise_scale(self, actions: float) -> float:
        return self.factor / self.epsilon


@dataclass(frozen=True)
class NaiveFTNL(EpochAlgorithm):
    """FTNL with Laplace noise of scale K / epsilon, as if each sum were published.

    Privacy: all K noisy sums could be published, epsilon-DP by composition. Only the winner is
    published, and for that the level is at most 2 epsilon / K: the algorithm wastes its budget, and
    has K times the regret. Plain version: `ftnl` in the notebook wu2026/3-bernoulli-resampling.
    """

    epsilon: float
    id = "naive-ftnl"
    label = "naive FTNL"
    source = "hu2021, Section 5"
    noise = "laplace"
    rules = {"epsilon": checks.epsilon}

    @property
    def privacy(self) -> Privacy:
        # for all K >= 2
        return Privacy(self.epsilon, self.epsilon)

    def noise_scale(self, actions: float) -> float:
        return actions / self.epsilon


@dataclass(frozen=True)
class EpochLeader(EpochAlgorithm):
    """FTNL without noise, the limit of its variants as epsilon grows. Not private.

    Ties are broken uniformly.
    """

    bernoulli_resampling: bool = False
    id = "epoch-leader"
    source = "wu2026, Section 3"
    noise = "none"
    rules = {"bernoulli_resampling": checks.boolean}
    privacy = NOT_PRIVATE

    @property
    def label(self) -> str:
        return "epoch leader, resampled" if self.bernoulli_resampling else "epoch leader"

    def noise_scale(self, actions: float) -> float:
        return 0.0
