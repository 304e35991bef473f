"""Stochastic bandits, with rewards: larger is better."""

from dataclasses import dataclass, field

import numpy as np

from privregret.core import checks
from privregret.instances.problem import Problem


@dataclass(frozen=True)
class BernoulliBandit(Problem):
    """Stochastic bandit with independent Bernoulli arms.

    Parameters
    ----------
    name : str
        Name in tables and figures.
    means : tuple of float
        Mean reward of each arm, in [0, 1]; at least two.
    source : str
        Source of the instance (paper key and place).

    Examples
    --------
    >>> bandit = BernoulliBandit("mine", (0.75, 0.5))
    >>> bandit.arms, bandit.gaps
    (2, array([0.  , 0.25]))
    """

    name: str
    means: tuple[float, ...]
    source: str = field(default="", compare=False)
    rules = {
        "name": checks.text,
        "means": lambda name, value: tuple(checks.means(name, value).tolist()),
    }

    @property
    def arms(self) -> int:
        """Return the number K of arms."""
        return len(self.means)

    # every arm is pulled once
    min_horizon = arms

    @property
    def distribution(self) -> tuple:
        return "bernoulli bandit", self.means

    @property
    def kernel_data(self) -> np.ndarray:
        return np.array(self.means)

    @property
    def gaps(self) -> np.ndarray:
        """Return (K,) gaps to the best mean; 0 for every best arm."""
        means = np.array(self.means)
        return means.max() - means

    def table(self, horizon: int, rng: int | np.random.Generator) -> np.ndarray:
        """Return a (horizon, K) table of independent 0/1 rewards; `rng`: seed or generator."""
        rng = np.random.default_rng(rng)
        return (rng.random((horizon, self.arms)) < self.means).astype(float)


@checks.validate(arms=checks.integer_in(2, checks.MAX_SIZE), gap=checks.number_in(0, 0.75))
def equal_gaps(arms: int, gap: float) -> BernoulliBandit:
    """Return K = `arms` >= 2 arms, one of mean 0.75 and the others lower by `gap`, in [0, 0.75]."""
    return BernoulliBandit(f"{arms} arms, gap {gap:g}", (0.75, *[0.75 - gap] * (arms - 1)))


HU2021_1 = BernoulliBandit("setting 1", (0.75, 0.70, 0.70, 0.70, 0.70), "hu2021, Section 6")
HU2021_2 = BernoulliBandit("setting 2", (0.75, 0.625, 0.5, 0.375, 0.25), "hu2021, Section 6")
HU2021_3 = BernoulliBandit("setting 3", (0.75, 0.15, 0.15, 0.15, 0.15), "hu2021, Appendix I")

AZIZE2025_1 = BernoulliBandit(
    "environment 1", (0.75, 0.70, 0.70, 0.70, 0.70), "azize2025, Section 5"
)
AZIZE2025_2 = BernoulliBandit(
    "environment 2", (0.75, 0.625, 0.5, 0.375, 0.25), "azize2025, Section 5"
)
AZIZE2025_3 = BernoulliBandit(
    "environment 3", (0.75, 0.53125, 0.375, 0.28125, 0.25), "azize2025, Appendix G"
)
AZIZE2025_4 = BernoulliBandit(
    "environment 4", (0.75, 0.71875, 0.625, 0.46875, 0.25), "azize2025, Appendix G"
)
AZIZE2025_FIGURE_8 = BernoulliBandit(
    "one good arm", (0.8, 0.1, 0.1, 0.1, 0.1), "azize2025, Figure 8"
)
