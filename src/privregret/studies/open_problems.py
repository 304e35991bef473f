"""Compute one number for each open question of the papers."""

import math

import numpy as np
from scipy.integrate import quad

from privregret import estimates, exact, instances, store
from privregret.adversarial import BatchedPrivate
from privregret.algorithm import Algorithm
from privregret.bounds import azize2025
from privregret.divergence import d_epsilon
from privregret.estimates import Estimate
from privregret.full_information import FTNL
from privregret.instances import StochasticLosses
from privregret.minimax import Game, batched_plan, epoch_plan, minimax

LONG = 2**50  # rounds after which the regret with full information no longer grows
SUPPORT = np.array([0.0, 0.5, 1.0])  # support of the rewards that are not Bernoulli


def row(asked: str, question: str, state: str, quantity: str, number: Estimate | float) -> dict:
    """Return a row of the table of answers, with the error if above 0.1 per cent."""
    e = estimates.exactly(number)
    error = e.se or e.bound
    if error > 1e-3 * abs(e.value):
        shown = rf"${estimates.rounded(e.value, error)}\pm{estimates.rounded(error, error)}$"
    else:
        shown = estimates.rounded(e.value, 0)
    texts = {"asked": asked, "question": question, "state": state, "quantity": quantity}
    return texts | {"number": e.value, "error": error, "shown": shown}


def long_run(learner: Algorithm, instance: StochasticLosses) -> Estimate:
    """Return the exact regret after 2^50 rounds, divided by ln K / epsilon."""
    curve = exact.regret_curves([learner], [instance], LONG)
    return estimates.rows(curve)[0] * (learner.epsilon / instance.log_actions)


def mean_maximum(log_actions: float) -> float:
    """Return the expected maximum of K standard Laplace variables, by quadrature."""
    many = math.exp(log_actions)
    below = quad(lambda x: math.exp(many * (math.log(0.5) - x)), 0, 50)[0]
    above = quad(
        lambda x: -math.expm1(many * math.log1p(-0.5 * math.exp(-x))),
        0,
        log_actions + 40,
        limit=500,
    )
    return above[0] - below


@store.kept
def laplace_ratios(epsilon: float, tried: int, rng: np.random.Generator) -> list[Estimate]:
    """Return exact regret / bound of FTNL, Laplace noise, on random fixed losses."""
    ratios = []
    for _ in range(tried):
        gaps, logs = np.append(0.0, rng.random(3)), np.append(0.0, rng.uniform(0, 10, 3).round())
        instance = instances.deterministic_losses(gaps, log_counts=logs)
        learner = FTNL(epsilon, "laplace")
        (regret,) = estimates.rows(exact.regret_curves([learner], [instance], LONG))
        mean_gap = float(np.exp(logs - instance.log_actions) @ gaps)
        ratios.append(regret / (mean_gap + 8 / epsilon * mean_maximum(instance.log_actions)))
    return ratios


@store.kept
def constant_needed(n: int, epsilon: float, gap: float = 0.11, c2: float = 16.0) -> Estimate:
    """Return the c1 that Remark 4 of wu2026 needs for n losses and Gumbel noise.

    Gaps are (0, gap, 1, ..., 1), with e^(n epsilon / 2) ones.
    """
    log_bad, hot = n * epsilon / 2, 4 * epsilon / c2
    instance = instances.bernoulli_losses((0.0, gap, 1.0), log_counts=(0.0, 0.0, log_bad))
    chosen = exact.selection_probabilities(instance, n, "gumbel", 2 / epsilon)
    scores = 1 + math.exp(-hot * n * gap) + math.exp(log_bad - hot * n)
    softmax = math.exp(hot * n * gap) * scores
    return Estimate(chosen.group[1], bound=chosen.error) * softmax


@store.kept
def lazy_fraction(rounds: int, epsilon: float) -> float:
    """Return the gain of FTNL / the gain of an optimal learner of equal privacy."""
    game = Game(rounds, "full")
    plan = epoch_plan(game, FTNL(epsilon, "exponential"))
    best = minimax(game, game.privacy(plan)).lower
    return (rounds / 2 - game.worst_regret(plan)) / (rounds / 2 - best)


@store.kept
def price(rounds: int, feedback: str, epsilon: float) -> Estimate:
    """Return the price of privacy V(epsilon) - V(infinity) over a few rounds."""
    free, private = (minimax(Game(rounds, feedback), e) for e in (math.inf, epsilon))
    lower, upper = private.lower, private.upper
    return Estimate(upper, bound=upper - lower) - free.lower


@store.kept
def exact_loss(rounds: int, learner: BatchedPrivate) -> float:
    """Return the exact privacy loss of a bandit learner over a few rounds, two arms."""
    game = Game(rounds)
    return game.privacy(batched_plan(game, learner, 2))


@store.kept
def slope_at_zero(rounds: int, epsilon: float) -> float:
    """Return gain / ((epsilon / 4) floor(T^2 / 4)) with full information."""
    lower = minimax(Game(rounds, "full"), epsilon).lower
    return (rounds / 2 - lower) / (epsilon / 4 * (rounds**2 // 4))


@store.kept
def gain_of_three(rounds: int, epsilon: float) -> Estimate:
    """Return gain / epsilon with three actions and full information."""
    found = minimax(Game(rounds, "full", 3), epsilon)
    guessing = 2 / 3 * rounds
    return Estimate(guessing - found.upper, bound=found.upper - found.lower) / epsilon


@store.kept
def harder(count: int, rng: np.random.Generator) -> list[float]:
    """Return d_inf / d_epsilon for random distributions on {0, 1/2, 1}."""
    ratios = []
    for _ in range(count):
        law, level = rng.dirichlet(np.ones(3)), float(np.exp(rng.uniform(np.log(0.05), 0)))
        mean = law @ SUPPORT
        top = mean + (1 - mean) * rng.uniform(0.2, 0.9)
        divergence = azize2025.equation_9(SUPPORT, law, top, level)
        ratios.append(divergence / d_epsilon(mean, top, level))
    return ratios
