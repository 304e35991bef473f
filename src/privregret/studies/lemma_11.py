"""Lemma 11 of asi2025 held against algorithms as they run: what samples certify, beside the regret on the pair."""

import numpy as np

from privregret import checks, estimates, simulate
from privregret.adversarial import AdversarialAlgorithm
from privregret.bounds import asi2025 as bounds
from privregret.instances import lemma_11_pair

NOTHING = dict.fromkeys(("bound", "rate", "drop", "pulls"), np.nan)


def _drops(name, value):
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a dict, name -> round, got {checks.shown(value)}")
    return {checks.text(name, key): checks.nonnegative_int(name, drop) for key, drop in value.items()}


@checks.arguments(
    algorithm=checks.instance_of(AdversarialAlgorithm),
    epsilon=checks.positive,
    horizon=checks.integer_in(64, checks.ROUNDS),
    # half of them must be able to show at level 0.001 what has probability 1/2
    runs=checks.integer_in(20, checks.RUNS),
    seed=checks.nonnegative_int,
    drops=_drops,
)
def lemma_11_certificate(algorithm, epsilon: float, horizon: int, runs: int, seed: int, drops=None) -> dict:
    """The best bound of Lemma 11 that runs on its first losses certify, and the regrets on its pair.

    On the first losses the number of pulls of arm 2 is twice the regret. The second losses drop where the certified
    bound has it (at T / 16 if there is none), with a quarter of the runs, at least 10; then at each of `drops`.

    Parameters
    ----------
    algorithm : AdversarialAlgorithm
        On two arms.
    epsilon : float
        Its privacy.
    horizon, runs, seed : int
    drops : dict, optional
        Name -> further round of the drop.

    Returns
    -------
    dict
        pull_rate, of arm 2 on the first losses; regret, regret_se, on them; regret_changed, regret_changed_se, on the
        second; regret_<name>, regret_<name>_se; and bound, rate, drop, pulls of `bounds.asi2025.lemma_11_certified`,
        nan if it certifies nothing.
    """
    rounds = np.concatenate([np.arange(1, 65), np.geomspace(64, horizon, 400).round()])
    rounds = np.unique(rounds.astype(int))
    plain = simulate.regret_curves(algorithm, lemma_11_pair(0)[0], horizon, runs, seed, points=rounds)
    regrets = plain.regret.to_numpy().reshape(runs, len(rounds))
    found = bounds.lemma_11_certified(2 * regrets, rounds, epsilon)

    def on_second(name, drop):
        changed, few = lemma_11_pair(drop)[1], max(runs // 4, 10)
        there = estimates.mean(simulate.regret_curves(algorithm, changed, horizon, few, seed, points=1).regret)
        return {f"regret_{name}": there.value, f"regret_{name}_se": there.se}

    here = estimates.mean(regrets[:, -1])
    numbers = {"pull_rate": 2 * here.value / horizon, "regret": here.value, "regret_se": here.se}
    numbers |= on_second("changed", found["drop"] if found else horizon // 16) | (found or NOTHING)
    for name, drop in (drops or {}).items():
        numbers |= on_second(name, drop)
    return numbers
