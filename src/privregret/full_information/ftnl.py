"""Follow-the-Noisy-Leader and its variants (hu2021, Algorithms 2 and 3; wu2026, Algorithm 1)."""

import math
from dataclasses import dataclass

from privregret import checks
from privregret.algorithm import NOT_PRIVATE, Privacy
from privregret.full_information.epochs import EpochAlgorithm

NAMES = {"laplace": "Laplace", "exponential": "exponential", "gumbel": "Gumbel"}
PRESETS = {  # the scale of the noise, times epsilon
    "hu2021": {"laplace": 1.0},
    "wu2026": {"laplace": 2.0, "exponential": 1.0, "gumbel": 2.0},
    "wu2026-proofs": {"gumbel": 1.0},
    "corrected": {"laplace": 2.0, "exponential": 2.0, "gumbel": 2.0},
}


@dataclass(frozen=True)
class FTNL(EpochAlgorithm):
    """Follow-the-Noisy-Leader: an epoch plays the winner of report-noisy-max on the sums of the
    epoch before.

    Anytime, O(K) memory. hu2021 has Laplace noise and no resampling; wu2026 adds exponential and
    Gumbel noise (the latter is softmax with inverse temperature 1 / scale) and the resampling of
    losses to bits.

    Privacy, for the sequence of actions when one round's losses are all replaced: 2 / scale
    whatever the noise, that is (2 / c) epsilon with scale c / epsilon. One changed round moves
    every sum by up to 1, in either direction; the level is attained by exponential noise and is the
    supremum over long epochs for the two others (`privregret.privacy.selection`). All presets claim
    epsilon; a c of one's own has no source that claims anything.

    Presets, their c, and the privacy that is guaranteed:

    - hu2021, Laplace, c = 1: 2 epsilon, although Theorem 6 claims epsilon
    - wu2026, Laplace, c = 2: epsilon
    - wu2026, exponential, c = 1: 2 epsilon, although Theorem 2 claims epsilon
    - wu2026, Gumbel, c = 2: epsilon
    - wu2026-proofs, Gumbel, c = 1: 2 epsilon; the formula exp(-epsilon G) of the proofs
    - corrected, any noise, c = 2: epsilon

    The first action is uniform, as in wu2026. hu2021 starts with action 1, which is the same if
    labels are drawn at random.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    noise : {"laplace", "exponential", "gumbel"}
    scale : str or float
        A preset of the table, or c itself, above 0.
    bernoulli_resampling : bool
        Replace each loss by an independent bit of that mean before adding it up. Does not change
        the privacy.
    """

    epsilon: float
    noise: str = "laplace"
    scale: str | float = "corrected"
    bernoulli_resampling: bool = False
    id = "ftnl"
    source = "hu2021, Algorithm 2; wu2026, Algorithm 1"
    rules = {
        "epsilon": checks.positive,
        "noise": checks.one_of(*NAMES),
        "scale": lambda name, value: (
            value if isinstance(value, str) else checks.positive(name, value)
        ),
        "bernoulli_resampling": checks.boolean,
    }

    def __post_init__(self):
        if self.noise in tuple(NAMES) and isinstance(
            self.scale, str
        ):  # not every preset has every noise
            checks.one_of(*[name for name, scales in PRESETS.items() if self.noise in scales])(
                "scale", self.scale
            )
        super().__post_init__()

    @property
    def factor(self) -> float:
        """c: the scale of the noise times epsilon."""
        return PRESETS[self.scale][self.noise] if isinstance(self.scale, str) else self.scale

    @property
    def privacy(self) -> Privacy:
        printed = self.epsilon if isinstance(self.scale, str) else math.inf
        return Privacy(printed, 2 * self.epsilon / self.factor)

    @property
    def label(self) -> str:
        scale = "" if self.factor == 2 else rf", ${self.factor:g}/\epsilon$"
        return (
            f"FTNL ({NAMES[self.noise]}{scale}{', resampled' if self.bernoulli_resampling else ''})"
        )

    def noise_scale(self, actions: float) -> float:
        """Scale of the noise on each sum, whatever the number of actions.

        Examples
        --------
        >>> FTNL(0.5).noise_scale(10), FTNL(0.5, scale="hu2021").noise_scale(10)
        (4.0, 2.0)
        """
        return self.factor / self.epsilon


@dataclass(frozen=True)
class NaiveFTNL(EpochAlgorithm):
    """FTNL with noise for each action on its own: Laplace of scale K / epsilon (hu2021, Section 5,
    prose).

    Privacy: all K noisy sums could be published, epsilon-DP by composition. Only the winner is, and
    for that the level is no more than 2 epsilon / K: the algorithm wastes its budget, and pays K
    times the regret.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    """

    epsilon: float
    id = "naive-ftnl"
    label = "naive FTNL"
    source = "hu2021, Section 5"
    noise = "laplace"
    rules = {"epsilon": checks.positive}

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, self.epsilon)  # for all K >= 2

    def noise_scale(self, actions: float) -> float:
        """Scale of the noise on each sum, K / epsilon.

        Examples
        --------
        >>> NaiveFTNL(0.5).noise_scale(10)
        20.0
        """
        return actions / self.epsilon


@dataclass(frozen=True)
class EpochLeader(EpochAlgorithm):
    """FTNL without noise: what all of its variants become as epsilon grows. Not private.

    Ties are broken uniformly.

    Parameters
    ----------
    bernoulli_resampling : bool
        As in FTNL.
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
        """No noise.

        Examples
        --------
        >>> EpochLeader().noise_scale(10)
        0.0
        """
        return 0.0
