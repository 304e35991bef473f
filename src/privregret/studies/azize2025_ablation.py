"""Variants of DP-KLUCB for the ablation of azize2025, Section 5."""

from dataclasses import dataclass

from privregret.bandits.dp_klucb import DPKLUCB, BatchSettings
from privregret.core import checks


@dataclass(frozen=True)
class AblatedDPKLUCB(DPKLUCB):
    """DP-KLUCB with forgetting, with another optimism, or with both; with neither it is DP-KLUCB.

    To `forget` is to use an arm's last batch only, as AdaP-KLUCB does. `optimism` is the factor of
    ln t in the index, above 0; AdaP-KLUCB has 3.1, DP-KLUCB has 1.
    """

    forget: bool = False
    optimism: float = 1.0
    id = "ablated-dp-klucb"
    rules = DPKLUCB.rules | {"forget": checks.boolean, "optimism": checks.positive}

    def settings(self, horizon: int | None, arms: int) -> BatchSettings:
        settings = super().settings(horizon, arms)
        return settings._replace(forget=self.forget, optimism=self.optimism)
