"""The five papers, each in the version that all verdicts are about."""

from typing import NamedTuple


class Paper(NamedTuple):
    """How captions name a paper, its title, and the version reproduced."""

    cited: str
    title: str
    version: str


PAPERS = {
    "hu2021": Paper(
        "Hu, Huang and Mehta (2021, arXiv v2)",
        "Near-Optimal Algorithms for Private Online Learning in a Stochastic Environment",
        "arXiv:2102.07929v2",
    ),
    "wu2026": Paper(
        "Wu and Wang (2026, PMLR 313)",
        "Improved Regret in Stochastic Decision-Theoretic Online Learning "
        "under Differential Privacy",
        "ALT 2026, PMLR 313",
    ),
    "cesari2026": Paper(
        "Cesari and Colomboni (2026, arXiv v1)",
        "Optimal Gap-Dependent Regret for Private Stochastic Decision-Theoretic Online Learning",
        "arXiv:2605.29148v1",
    ),
    "asi2025": Paper(
        "Asi, Raman and Talwar (2025, PMLR 267)",
        "Faster Rates for Private Adversarial Bandits",
        "ICML 2025, PMLR 267",
    ),
    "azize2025": Paper(
        "Azize et al. (2025, arXiv v1)",
        "Optimal Regret of Bernoulli Bandits under Global Differential Privacy",
        "arXiv:2505.05613v1",
    ),
}


def title(key: str) -> str:
    """How findings of notebooks in the folder `key` are headed: by the paper's key, or as ours."""
    return key if key in PAPERS else f"Ours ({key})"
