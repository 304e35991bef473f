"""Bounds of cesari2026, all with explicit constants.

Logarithms are natural; eta is the inverse temperature min(epsilon / 2, 1/8).
"""

from privregret.bounds import Numbers


def theorem_1(log_actions: Numbers, gap: Numbers, eta: Numbers) -> Numbers:
    """Compute bound (1) on regret: 1 + 800 ln K / gap_min + 16 ln K / eta."""
    return 1 + 800 * log_actions / gap + 16 * log_actions / eta


def lemma_5(log_actions: Numbers, gap: Numbers, eta: Numbers) -> Numbers:
    """Bound the sum of F_m over m >= 1: 200 ln K / gap_min + 4 ln K / eta, for eta <= 1/8."""
    return 200 * log_actions / gap + 4 * log_actions / eta
