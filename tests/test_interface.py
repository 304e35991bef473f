"""Every public function and class, called with one hostile argument at a time: an answer, or one
line that refuses it.

What is public is found by inspection, so a new function fails here until `SOUND` has arguments for
it.
"""

import dataclasses
import importlib
import inspect
import math
import pkgutil
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

import privregret
from privregret import checks
from privregret.adversarial import HTINF, BatchedPrivate
from privregret.algorithm import Algorithm
from privregret.bandits import DPIMED
from privregret.estimates import Estimate
from privregret.full_information import FTNL, MarginStop, Votes, VotesOrLeader
from privregret.instances import Advice, BernoulliBandit, bernoulli_losses, gap_adversary
from privregret.minimax.games import Game
from privregret.press.findings import criterion
from privregret.privacy.ledger import lazy_releases

# What the batch command and pictures are made of, and what takes runs, traces or policies
# made elsewhere.
ELSEWHERE = (
    *("__main__", "algorithm", "checks", "code_key", "files", "identity", "jit", "loops"),
    *("progress", "rare", "store", "streams", "learners"),
    *("bandits.reporting", "tables.read", "exact.binomial", "exact.fixed", "exact.selection"),
    *("privacy.audit", "privacy.enumeration", "privacy.scripted", "privacy.trace"),
    # of parts of runs, for each task; rules, as those of `checks`
    *("simulate.cluster", "simulate.scheduled", "simulate.shared"),
    *("simulate.moments", "simulate.tidy", "simulate.algorithms_of", "simulate.problems_of"),
    *("simulate.rounds_of", "simulate.workers_rule", "instances.bandits.regret_of"),
    *("instances.bandits.actions_of", "instances.bandits.counts_of"),
    # of what was checked
    *("privacy.pull_times.log_density", "estimates.many.named"),
    *("estimates.sample.order_statistics", "estimates.sample.moments", "estimates.number.complete"),
    # the batch command and pictures
    *("press.captions", "press.batch", "press.draw", "press.explorer", "press.findings.criterion"),
    *("press.notebook", "press.papers", "press.publish"),
    *("press.record", "press.render", "press.style", "press.tex"),
)
# Of what notebooks share, which no user calls, these are general.
STUDIED = {
    "studies.asi2025.lemma_11_certificate",
    *(f"studies.side_by_side.{name}" for name in ("leaders", "at_privacy", "affordable")),
}
GAPS, MEANS, LOG_COUNTS = (
    np.array([0.0, 0.25, 0.5]),
    np.array([0.75, 0.5, 0.25]),
    np.array([0.0, 2.0, 1.0]),
)
TABLE = np.array([[0.0, 1.0, 0.5], [1.0, 0.25, 0.0], [0.5, 0.0, 1.0], [0.0, 0.0, 1.0]])
BANDIT = BernoulliBandit("three", MEANS)
LOSSES = bernoulli_losses((0.25, 0.5, 0.75), (1, 2, 4))
STEADY = gap_adversary(2, 0.5)
PATH = np.array([0, 1, 1])
CURVES = pd.DataFrame({"a": ["x", "x", "y", "y"], "regret": [1.0, 2.0, 3.0, 5.0]})
# Sound arguments by name, all exact in 32 bits; then what single functions need.
NAMED = {
    "a": 0.5,
    "actions": 8,
    "alpha": 2.0,
    "arms": 4,
    "b": 0.25,
    "best": 0.75,
    "corrected": True,
    "cut": 2.0,
    "delta": 0.125,
    "drop": 16,
    "ends": 2.0 ** np.arange(1, 20) - 1,
    "epsilon": 0.5,
    "epsilons": np.array([0.25, 1.0]),
    "eta": 0.125,
    "experts": 8,
    "factor": 2.0,
    "fraction": 0.25,
    "gamma": 0.125,
    "gap": 0.25,
    "gaps": GAPS,
    "growth": 2.0,
    "horizon": 1024,
    "last": 5,
    "log": 4.0,
    "log_actions": 2.0,
    "log_bad": 4.0,
    "log_counts": LOG_COUNTS,
    "log_size": 2.0,
    "log_tail": np.array([0.0, -1.0, -2.0]),
    "logs": True,
    "loss": 1.0,
    "losses": TABLE,
    "m": 3,
    "mean": 0.25,
    "means": MEANS,
    "mu": 0.25,
    "n": 7,
    "n0": 1,
    "noise": "gumbel",
    "noises": 4,
    "noisy_regret": 8.0,
    "p": 0.25,
    "pulls": 2,
    "q": 0.5,
    "rate": 0.25,
    "rng": "a generator",  # a new one for each call
    "rounds": 16,
    "scale": 2.0,
    "sigma": 2.0,
    "tau": 4,
    "total": 8.0,
    "x": 0.25,
    "y": 0.5,
    "z": 4.0,
    "c2": 16.0,
}
NAMED |= {
    "adversary": STEADY,
    "advice": Advice.of_arms([[0, 1, 1]], 2),
    "algorithm": FTNL(0.5),
    "algorithms": FTNL(0.5),
    "averages": TABLE[:2, :2],
    "bandit": BatchedPrivate(HTINF(2.0), 0.5),
    "base": HTINF(2.0),
    "beta": 0.125,
    "block": 4,
    "brackets": 3,
    "by": ["a"],
    "cap": 8,
    "cell": ["a"],
    "controls": (np.arange(64)[:, None] % 7 - 3) / 4,
    "count": 4,
    "curves": CURVES,
    "epsilons": np.array([0.25, 1.0]),
    "game": Game(3),
    "claim": "a claim",
    "draws": 20,
    "error": 0.125,
    "frame": CURVES,
    "items": [Estimate(3.0, 0.5), 4.0],
    "level": 0.5,
    "measured": Estimate(1.0, 0.25),
    "place": "Theorem 1",
    "points": 4,
    "problem": BANDIT,
    "quantity": "a quantity",
    "run": 2,
    "runs": 3,
    "sample": np.arange(64) / 4,
    "successes": 7,
    "value": 3.0,
    "workers": 1,
    "group": np.array([[0, 1]]),
    "high": np.array([1.0, 0.5]),
    "horizons": np.array([4, 100]),
    "instance": LOSSES,
    "kind": "copies",
    "learner": FTNL(0.5),
    "low": np.array([0.0, 0.25]),
    "make": FTNL,
    "name": "a name",
    "one": STEADY,
    "other": gap_adversary(2, 0.25),
    "outcomes": [[0.25, 0.5, 0.75]],
    "problems": LOSSES,
    "regrets": [Estimate(8.0, 1.0), Estimate(4.0, 1.0)],
    "rows": np.array([[[0.5, 0.5], [0.25, 0.75]]]),
    "releases": lazy_releases(7),
    "seed": 3,
    "segments": 4,
    "shift": 1.0,
    "starts": np.array([0]),
    "step": 1,
    "sums": np.array([0.0, 2.0, 4.0]),
    "table": CURVES.assign(high=[1.0, 2.0, 3.0, 4.0], low=0.5),
    "target": 5.0,
    "zeros": [3],
}
OWN = {
    "bandits.dp_klucb.batch_ends": {"power": 0},
    "bandits.dp_klucb.GeometricBatches": {"power": 2, "ties": "first"},
    "studies.asi2025.lemma_11_certificate": {
        "algorithm": HTINF(2.0),
        "horizon": 64,
        "runs": 20,
        "drops": {"early": 8},
    },
    "estimates.groups.fractions": {"condition": "regret >= 2"},
    "estimates.groups.growths": {
        "frame": CURVES.assign(run=[0, 0, 1, 1], t=[1, 8, 1, 8]),
        "by": ["a"],
        "value": "regret",
    },
    "estimates.groups.means": {"value": "regret"},
    "estimates.groups.quantiles": {"levels": {"low": 0.25, "high": 0.75}},
    "estimates.groups.quantile_limits": {"value": "regret", "confidence": 0.875},
    "estimates.groups.ratios": {"over": {"regret": 3.0}},
    "estimates.groups.slopes": {"x": "regret", "frame": CURVES.assign(a="x")},
    "estimates.many.columns": {"numbers": [Estimate(3.0, 0.5), 4.0], "name": "ratio"},
    "estimates.many.row": {"value": "regret", "frame": CURVES[:1]},
    "estimates.many.rows": {"value": "regret"},
    "estimates.number.real": {"name": "value"},
    "estimates.sample.fraction": {"draws": 20},
    "estimates.sample.slope": {"x": GAPS, "y": MEANS},
    "exact.binomial.atoms": {"low": 50.0, "high": 50.0},
    "exact.binomial.lattice": {"low": np.full(3, 50.0), "high": 50.0},
    "minimax.plans.epoch_plan": {"game": Game(3, "full")},
    "minimax.plans.batched_plan": {"learner": BatchedPrivate(HTINF(2.0), 0.5), "nodes": 4},
    "exact.regret.prefix_gaps": {"rounds": np.array([1, 4])},
    "exact.regret.two_loss_regret": {"p": np.array([0.25, 0.5]), "horizon": 8},
    "exact.worst.worst_instance": {"points": 3, "polish": 1},
    "minimax.games.Game": {"rounds": 3},
    "instances.adversaries.Adversary": {"losses": TABLE[:1]},
    "privacy.adversarial.exp3_divergence": {"horizon": 4},
    "privacy.adversarial.exp3_log_probabilities": {"horizon": 4},
    "privacy.adversarial.exp3_path": {"actions": PATH},
    "privacy.adversarial.laplace_delta": {"grid": 20},
    "privacy.adversarial.many_looks": {"rounds": 4, "nodes": 2},
    "privacy.adversarial.batched_probabilities": {"nodes": 2},
    "privacy.adversarial.noise_constant": {"grid": 20},
    "privacy.adversarial.path_log_ratio": {"actions": PATH, "p": MEANS, "q": MEANS[::-1]},
    "privacy.adversarial.worst_adaptive_loss": {"nodes": 2},
    "privacy.adversarial.worst_batched_loss": {"nodes": 2},
    "privacy.batches.action_law": {"algorithm": DPIMED(0.5), "cells": 8},
    "privacy.batches.prefix_losses": {"blocks": [0, 2], "rewards": MEANS, "other": GAPS},
    "privacy.batches.privacy_loss": {"algorithm": DPIMED(0.5), "cells": 8},
    "privacy.ledger.elimination_releases": {"pulls": np.array([4096, 4096, 9])},
    "privacy.margin.stop_law": {"learner": MarginStop(0.5), "table": TABLE},
    "privacy.margin.stop_loss": {"learner": MarginStop(0.5), "rounds": 2, "actions": 2},
    "privacy.prefix.loss_by_position": {"rounds": 4},
    "privacy.prefix.sequence_loss": {"blocks": 2},
    "privacy.votes.unanimity_loss": {"learner": VotesOrLeader(16.0), "actions": 2, "first": 1.0},
    "privacy.votes.votes_loss": {"learner": Votes(8.0), "epoch": 1, "extra": 0},
    "press.findings.Finding": {"criterion": criterion(at_most=2.0), "kind": "claim"},
    "simulate.checkpoints": {"points": 4},
    "simulate.hardest": {
        "algorithm": DPIMED(0.5),
        "problems": [BANDIT],
        "horizon": 16,
        "choosing": 2,
    },
    "simulate.regret_curves": {
        "algorithms": DPIMED(0.5),
        "problems": BANDIT,
        "horizon": 16,
        "points": 4,
        "workers": 1,
    },
    "simulate.regret_summary": {
        "algorithms": DPIMED(0.5),
        "problems": BANDIT,
        "horizon": 16,
        "points": 4,
        "workers": 1,
    },
    "tables.regret_curves": {
        "algorithms": DPIMED(0.5),
        "rewards": TABLE,
        "runs": 2,
        "points": 4,
        "workers": 1,
    },
    "instances.bandits.equal_gaps": {"best": 0.75},
    "instances.losses.with_losses": {"instance": BANDIT},
    "bounds.asi2025.lemma_15": {"losses": [0.25, 0.5]},
    "bounds.asi2025.lemma_11_certified": {
        "pulls": np.outer(np.ones(200), [1.0, 1.0, 2.0, 3.0, 5.0]),
        "rounds": np.array([20, 40, 64, 80, 100]),
    },
    "bounds.azize2025.at_batch_end": {"log_of": lambda x, n, m, mu, epsilon: -x},
    "bounds.azize2025.batch_steps": {},
    "bounds.azize2025.equation_6": {"ways": 101},
    "bounds.azize2025.equation_9": {
        "support": np.array([0.0, 0.5, 1.0]),
        "law": np.array([0.5, 0.25, 0.25]),
    },
    "bounds.azize2025.joint_chernoff": {"x": 4.0},
    "bounds.azize2025.lemma_d3": {"x": 4.0},
    "bounds.azize2025.separate": {"x": 4.0},
    "bounds.cesari2026.drift": {
        "means": np.array([0.25, 0.5, 0.75]),
        "lead": np.array([0.0, 1.0, -2.0]),
    },
    "bounds.cesari2026.lemma_2": {
        "x": np.array([0.25, 1.0]),
        "n": np.array([0, 3]),
        "actions": np.array([2, 9]),
    },
    "bounds.hu2021.hybrid_last_array": {"gaps": GAPS[1:]},
    "bounds.hu2021.lazy_last_array": {"gaps": GAPS[1:]},
    "bounds.hu2021.lemma_11": {"gaps": GAPS[1:]},
    "bounds.hu2021.lemma_12": {"gaps": GAPS[1:]},
    "bounds.wu2026.lemma_2": {"a": GAPS},
    "bounds.wu2026.lemma_3": {"a": GAPS},
}
# Where the documentation says that an answer may be infinite.
INFINITE = {
    *("bounds.azize2025.theorem_f7", "bounds.cesari2026.drift", "bounds.ours.large_gaps"),
    *(
        "studies.asi2025.lemma_11_certificate",
        "estimates.number.Estimate",
        "estimates.number.exactly",
    ),
    *(
        "estimates.sample.mean",
        "estimates.sample.quantile",
        "estimates.number.real",
        "estimates.sample.slope",
    ),
    *("estimates.groups.quantile_limits", "estimates.many.columns", "press.findings.Finding"),
    "simulate.regret_summary",
    *("studies.side_by_side.affordable", "minimax.games.minimax"),
}
UNKNOWN = {"studies.asi2025.lemma_11_certificate"}  # where it says that an answer may be nan
ALSO = {
    "problems": "instance",
    "outcomes": "losses",
    "rows": "advice",
}  # what a refusal may call an argument instead
HOSTILE = [
    *(
        math.nan,
        math.inf,
        -math.inf,
        -1.0,
        0,
        1e-300,
        5e-324,
        1e300,
        2**63,
        10**400,
        1j,
        True,
        None,
        "1",
        object(),
    ),
    *(
        [],
        [math.nan, 0.5],
        [[0.25], [0.25, 0.5]],
        ["a", "b"],
        np.array([0.5, math.inf]),
        np.array(["1"]),
        {"a": 1.0},
    ),
    np.array([0.5, None], object),
]


def public():
    """Name below the package -> function, or class whose parameters are checked; as exported where
    it is."""
    modules = [
        importlib.import_module(m.name)
        for m in pkgutil.walk_packages(privregret.__path__, "privregret.")
    ]
    offered = [(key, vars(m)[key]) for m in modules for key in getattr(m, "__all__", ())]
    exported = {
        (value.__module__, key): value for key, value in offered if hasattr(value, "__module__")
    }
    found = {}
    for module in modules:
        name = module.__name__.removeprefix("privregret.")
        for key, value in vars(module).items():
            if key.startswith("_") or getattr(value, "__module__", None) != module.__name__:
                continue
            full = f"{name}.{key}"
            if name.startswith("studies.") and full not in STUDIED:
                continue
            if full.startswith(ELSEWHERE) and (module.__name__, key) not in exported:
                continue
            if inspect.isclass(value):
                kept = issubclass(value, checks.Checked) and not inspect.isabstract(value)
                kept &= not issubclass(value, Algorithm) or hasattr(
                    value, "label"
                )  # else it is half of one
            else:
                kept = inspect.isfunction(value) or hasattr(value, "cache_info")
            if kept:
                found[f"{name}.{key}"] = exported.get((module.__name__, key), value)
    return found


PUBLIC = public()


def sound(name):
    """Sound arguments for a function: all that it must have, and those of the others that have a
    name above."""
    own, given = OWN.get(name, {}), {}
    for parameter in inspect.signature(PUBLIC[name]).parameters.values():
        if parameter.name in own:
            given[parameter.name] = own[parameter.name]
        elif parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD:
            given[parameter.name] = NAMED[parameter.name]
    return given


def called(name, given):
    given = {
        key: np.random.default_rng(1) if key == "rng" else value for key, value in given.items()
    }
    return PUBLIC[name](**given)


def numbers_in(answer):
    """All numbers of an answer, one after the other."""
    if isinstance(answer, pd.DataFrame):
        answer = dict(answer)
    if dataclasses.is_dataclass(answer):
        answer = {f.name: getattr(answer, f.name) for f in dataclasses.fields(answer)}
    if isinstance(answer, dict):
        return [x for value in answer.values() for x in numbers_in(value)]
    if isinstance(answer, (list, tuple)):
        return [x for value in answer for x in numbers_in(value)]
    if isinstance(answer, (np.ndarray, pd.Series)):
        return [x for x in np.ravel(answer).tolist() if isinstance(x, (int, float))]
    return [answer] if isinstance(answer, (int, float, complex, np.number)) else []


def outcome(name, given):
    """The answer; or the line that refuses the arguments, which are as they were."""
    before = deepcopy(
        {key: value for key, value in given.items() if isinstance(value, (np.ndarray, list, dict))}
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = called(name, given)
    except (ValueError, TypeError, KeyError) as refusal:
        message = str(refusal)
        assert "\n" not in message and 0 < len(message) < 400, message
        answer = refusal
    for key, value in before.items():
        np.testing.assert_equal(given[key], value)
    return answer


def variants(value):
    """The same numbers in other forms."""
    if isinstance(value, (bool, str)) or callable(value):
        return []
    if isinstance(value, (int, float)):
        small = [np.float32(value), np.float64(value), np.array(value)]
        return small + ([np.int64(value), np.int16(value)] if isinstance(value, int) else [])
    if isinstance(value, list) and all(isinstance(v, (int, float)) for v in value):
        value = np.array(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "if":
        return []
    frozen = value.copy()
    frozen.flags.writeable = False
    spread = np.repeat(value, 2, axis=-1)[..., ::2]
    return [
        frozen,
        spread,
        np.asfortranarray(value),
        value.astype(object),
        value.astype(np.float32),
        value.tolist(),
    ]


@pytest.mark.parametrize("name", PUBLIC)
def test_sound_arguments_have_an_answer_in_any_form(name):
    given = sound(name)
    answer = outcome(name, given)
    assert not isinstance(answer, Exception), answer
    expected = numbers_in(answer)
    assert name in UNKNOWN or not np.isnan(expected).any()
    for key, value in given.items():
        for other in variants(value):
            again = outcome(name, given | {key: other})
            if not isinstance(again, Exception):
                np.testing.assert_array_equal(numbers_in(again), expected, f"{key} as {other!r}")


@pytest.mark.parametrize("name", PUBLIC)
def test_hostile_arguments_are_refused_in_one_line_or_have_an_answer(name):
    given = sound(name)
    for key in given:
        for value in HOSTILE:
            answer = outcome(name, given | {key: value})
            if isinstance(answer, Exception):
                numpys = any(
                    word in str(answer)
                    for word in (
                        "broadcast",
                        "zero-size",
                        "inhomogeneous",
                        "unhashable",
                        "not iterable",
                    )
                )
                assert (
                    any(word in str(answer) for word in (key, ALSO.get(key, key)))
                    or numpys
                    or isinstance(answer, KeyError)
                ), f"{key} = {value!r}: {answer}"
            else:
                found = numbers_in(answer)
                assert name in UNKNOWN or not np.isnan(found).any(), f"{key} = {value!r}: {answer}"
                assert name in INFINITE or not np.isinf(found).any(), f"{key} = {value!r}: {answer}"
