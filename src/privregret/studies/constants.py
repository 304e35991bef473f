"""What `companion/constants` computes: exact regret, proof steps by enumeration, faults."""

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pandas as pd

from privregret import estimates, exact, instances, simulate, store
from privregret.algorithm import Algorithm
from privregret.bounds import constants as bounds
from privregret.estimates import Estimate
from privregret.full_information import FTNL, MarginStop, PhasedFTNL, Votes, VotesOrLeader
from privregret.instances import StochasticLosses
from privregret.minimax import Game, epoch_plan, minimax
from privregret.privacy import margin, votes
from privregret.studies.minimax import fixed_value
from privregret.studies.whole_epochs import LONG, compositions, equal_gaps

INFINITE = 1e6  # stands for infinity in findings

# Regret on losses that are the same in every round ------------------------------------------------


@store.kept
def scaled_regret(learner: Algorithm, instance: StochasticLosses) -> Estimate:
    """Exact epsilon R / ln K after 2^60 rounds."""
    regret, scale = exact.expected_regret(learner, instance, LONG), instance.log_actions
    value, error = (float(x[0]) * learner.epsilon / scale for x in regret)
    return Estimate(value, bound=error)


def curve(make: Callable, log_actions: list, gaps: list) -> Iterator[dict]:
    """The largest epsilon R / ln K over the gaps, of the learner that `make(ln K)` returns."""
    for log_k in log_actions:
        learner = make(log_k)
        found = [(gap, scaled_regret(learner, equal_gaps(log_k, gap))) for gap in gaps]
        gap, ratio = max(found, key=lambda pair: pair[1].value)
        row = {"algorithm": learner.label, "log_actions": log_k, "epsilon": learner.epsilon}
        row |= {"fraction": getattr(learner, "fraction", math.nan)}
        row |= {"threshold": getattr(learner, "threshold", math.nan)}
        yield row | {"gap": gap, "ratio": ratio.value, "ratio_error": ratio.bound}


def tuned(
    epsilon: float, log_k: float, gap: float, fractions: list, thresholds: list
) -> MarginStop:
    """The margin stop of least regret on an instance, over a grid of its parameters."""
    tried = [MarginStop(epsilon, *pair) for pair in product(fractions, thresholds)]
    instance = equal_gaps(log_k, gap)
    return min(tried, key=lambda learner: scaled_regret(learner, instance).value)


def phases(learners: list, log_k: float, gaps: np.ndarray) -> pd.DataFrame:
    """epsilon R / ln K of each learner, one row per gap."""
    rows = []
    for learner, gap in product(learners, gaps):
        found = scaled_regret(learner, equal_gaps(log_k, float(gap)))
        row = {"algorithm": learner.label, "growth": learner.growth, "log_actions": log_k}
        rows.append(row | {"gap": gap, "ratio": found.value, "ratio_error": found.bound})
    return pd.DataFrame(rows)


@store.kept
def over_bounds(epsilons: list, log_actions: list, gaps: list) -> pd.DataFrame:
    """Exact regret on fixed losses over each theorem's bound, one row per learner and instance."""
    rows = []
    for epsilon, log_k, gap in product(epsilons, log_actions, gaps):
        learners = [
            (Votes(epsilon), bounds.votes(log_k, epsilon)),
            (VotesOrLeader(epsilon), bounds.hybrid_fixed(log_k, epsilon)),
            (PhasedFTNL(epsilon, "gumbel"), bounds.random_phase_fixed(log_k, epsilon, math.e)),
            (MarginStop(epsilon), bounds.margin_stop(log_k, gap, epsilon, 0.25)),
        ]
        for learner, bound in learners:
            if epsilon <= 1 or not isinstance(learner, VotesOrLeader):
                regret = exact.expected_regret(learner, equal_gaps(log_k, gap), LONG)
                row = {"algorithm": learner.label, "epsilon": epsilon, "log_actions": log_k}
                row |= {"gap": gap, "regret": float(regret.value[0])}
                row |= {"regret_error": float(regret.error[0])}
                rows.append(row | {"bound": float(bound)})
    return pd.DataFrame(rows)


@store.kept
def votes_over_bound(epsilons: list, log_actions: list) -> float:
    """The largest ratio of what the proof of Theorem 2 adds up to its bound."""
    lam = 1 + np.asarray(log_actions, float)[:, None]
    rate, wrong = np.asarray(epsilons, float) / (1 + 1 / lam), 1 / (math.e - 1)
    lengths = (lam - 1 + 3 * np.log(lam)) * (1 + wrong / lam) + 2 + 2 * (0.9207 + wrong) / lam
    return float(((4 * (1 + wrong / lam) + lengths / rate) / bounds.votes(lam - 1, epsilons)).max())


@store.kept
def random_gaps(
    epsilon: float, log_actions: list, tried: int, rng: np.random.Generator
) -> list[Estimate]:
    """epsilon R / ln K of FTNL with a random phase, fixed losses with up to five gaps."""
    ratios = []
    for _ in range(tried):
        groups, log_k = int(rng.integers(1, 6)), float(rng.choice(log_actions))
        gaps = np.append(0.0, np.exp(rng.uniform(np.log(0.05), 0, groups)))
        logs = np.append(0.0, log_k * rng.uniform(0, 1, groups))
        instance = instances.deterministic_losses(gaps, log_counts=logs)
        ratios.append(scaled_regret(PhasedFTNL(epsilon, "gumbel"), instance))
    return ratios


# Losses on which votes mislead --------------------------------------------------------------------

MISLEADING = StochasticLosses(
    "misleading votes", ((0.5, 0.4), (0.5, 1.0)), (0.0, 0.0), (0.6, 0.4)
)  # action 2 loses less in most rounds, and more on average


def misled(epsilon: float, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Regret of three learners where the majority of the votes is for the worse action."""
    learners = [Votes(epsilon), VotesOrLeader(epsilon), PhasedFTNL(epsilon, "gumbel")]
    return simulate.regret_curves(learners, MISLEADING, horizon, runs, seed, points=24)


# Proof steps --------------------------------------------------------------------------------------


@store.kept
def telescope(tried: int, longest: int, rng: np.random.Generator) -> tuple[float, float]:
    """Largest ratio of the sides of Lemma 2 over random instances; smallest difference over b.

    For n = 1, 2, ...: E sum Q_j D_nj / n <= E phi(D_(n-1)) - E phi(D_n), Gumbel noise. The ratio is
    taken where all gaps are above eta, so that both sides are positive.
    """
    ratio, slack = 0.0, math.inf
    for _ in range(tried):
        kinds, actions = int(rng.integers(2, 4)), int(rng.integers(2, 6))
        outcomes = rng.random((kinds, actions))
        if rng.random() < 0.5:
            outcomes = outcomes.round()
        law, eta = rng.dirichlet(np.ones(kinds)), float(np.exp(rng.uniform(-4, 0.7)))
        outcomes = outcomes[:, np.argsort(law @ outcomes)]
        flat, gaps = np.zeros(actions), law @ (outcomes - outcomes[:, :1])
        before = float(exact.expected_maximum(flat, "gumbel", 1 / eta))
        for n in range(1, longest + 1):
            mass, differences = compositions(outcomes, law, n)
            chosen = exact.selection_from_sums(differences, flat, "gumbel", 1 / eta)
            after = float(mass @ exact.expected_maximum(differences, "gumbel", 1 / eta))
            empirical = float(mass @ (chosen * differences).sum(axis=1)) / n
            slack = min(slack, eta * (before - after - empirical))
            if gaps[1] > eta and before - after > 1e-9:
                ratio = max(ratio, empirical / (before - after))
            before = after
    return ratio, slack


def drifting_telescope(gap: float = 32.0, rounds: int = 8, scale: float = 20.0) -> float:
    """The ratio of the sides for losses that are not exchangeable: all of the gap comes early."""
    late = np.array([0.0, gap])
    chosen = float(exact.selection_from_sums(late, np.zeros(2), "gumbel", scale)[1])
    before, after = (float(exact.expected_maximum(late, "gumbel", scale)) for _ in range(2))
    return INFINITE if before == after and chosen * gap / rounds > 0 else 0.0


def equal_gap_means(actions: int, gap: float) -> np.ndarray:
    """Mean losses in the law D_1 of Theorem 5, by listing all rows."""
    rate = 1 - math.sqrt(1 - gap)
    rows = np.array(list(product((0, 1), repeat=actions)))
    law = np.prod(np.where(rows == 1, rate, 1 - rate), axis=1)
    replaced = np.where(rows[:, :1] == 1, np.arange(actions) > 0, rows)
    return law @ replaced


def lines(order: int) -> tuple[np.ndarray, np.ndarray]:
    """(Q + 1, Q^2) line of each point in each direction of the plane over F_Q; its points."""
    x, y = np.divmod(np.arange(order**2), order)
    slopes = [(y - slope * x) % order for slope in range(order)]
    return np.array([*slopes, x]), np.column_stack([x, y])


def plane(order: int, share: float, best: int, direction: int, coin: float) -> dict:
    """Gaps and rates of Theorem 7's instance on the plane over F_Q, by listing all rows.

    Parameters
    ----------
    order : int
        Q, a prime.
    share : float
        m, the probability that a line of the direction drawn has loss 1.
    best : int
        The best action b.
    direction : int
        u*, the direction of the line S through b.
    coin : float
        p_b.
    """
    line, _ = lines(order)
    on = line[direction] == line[direction, best]
    mean, rates = np.zeros(order**2), dict.fromkeys(("b", "S"), 0.0)
    for u, values, heads in product(range(order + 1), product((0, 1), repeat=order), (False, True)):
        ones = sum(values)
        chance = share**ones * (1 - share) ** (order - ones) / (order + 1)
        chance *= coin if heads else 1 - coin
        row = np.array(values)[line[u]]
        if row[best] == 1 and heads:
            rates["b"] += chance
            row = np.where(np.arange(order**2) == best, 0, 1)
        elif row[best] == 1 and u == direction:
            rates["S"] += chance
            row = np.where(on, 0, 1)
        mean += chance * row
    gaps = mean - mean[best]
    near, far = gaps[on & (np.arange(order**2) != best)], gaps[~on]
    return {"near": near, "far": far, "h_b": rates["b"], "h_S": rates["S"]}


def plane_formula(order: int, share: float, coin: float) -> dict:
    """What Theorem 7 says of the same."""
    directions = order + 1
    h_b, h_s = share * coin, share * (1 - coin) / directions
    c = 1 + (1 - share) * (1 - 1 / directions)
    return {"near": c * h_b, "far": c * h_b + (2 - share) * h_s, "h_b": h_b, "h_S": h_s}


def plane_error(orders: list, shares: list, rng: np.random.Generator) -> float:
    """The largest difference between enumeration and formula."""
    worst = 0.0
    for order, share, coin in product(orders, shares, (0.1, 0.5)):
        best, direction = int(rng.integers(order**2)), int(rng.integers(order + 1))
        found, said = (
            plane(order, share, best, direction, coin),
            plane_formula(order, share, coin),
        )
        worst = max(worst, *(float(np.abs(found[k] - said[k]).max()) for k in said))
    return worst


def plane_coin(order: int, share: float, ratio: float) -> float:
    """The p_b for which h_b / (h_b + h_S) is the ratio."""
    return ratio / (ratio + (1 - ratio) * (order + 1)) if share else math.nan


def identity_exceptions(longest: int) -> int:
    """Sequences x in {-1, 1}^T, T = 2..longest, for which Lemma 5 fails."""
    wrong = 0
    for rounds in range(2, longest + 1):
        x = 1 - 2 * (np.arange(2**rounds)[:, None] >> np.arange(rounds) & 1)
        after = x[:, ::-1].cumsum(axis=1)[:, ::-1] - x  # sum over t > s
        s = np.arange(1, rounds + 1)
        weights = np.minimum(s - 1, rounds - s)
        total = np.abs(after - weights * x)[:, :-1].sum(axis=1)
        wrong += int((total != rounds**2 // 4).sum())
    return wrong


def shifted_identity_exceptions(longest: int) -> int:
    """The same with min(s, T - s) in place of min(s - 1, T - s): a control."""
    wrong = 0
    for rounds in range(2, longest + 1):
        x = 1 - 2 * (np.arange(2**rounds)[:, None] >> np.arange(rounds) & 1)
        after = x[:, ::-1].cumsum(axis=1)[:, ::-1] - x
        s = np.arange(1, rounds + 1)
        total = np.abs(after - np.minimum(s, rounds - s) * x)[:, :-1].sum(axis=1)
        wrong += int((total != rounds**2 // 4).sum())
    return wrong


@store.kept
def in_bracket(feedback: str, longest: int, epsilon: float) -> list[tuple[float, float, float]]:
    """(lower, value, upper) for T = 2, ..., longest: Theorem 8 around the linear programme."""
    rows = []
    for rounds in range(2, longest + 1):
        lower, upper = bounds.small_epsilon(epsilon, rounds)
        found = minimax(Game(rounds, feedback), epsilon)
        rows.append((float(lower), (found.upper + found.lower) / 2, float(upper)))
    return rows


@store.kept
def two_round_values(epsilons: list) -> list[tuple[Estimate, float]]:
    """The linear programme's value on fixed losses and Theorem 1's sum: T = 2, K = 2 and 3."""
    return [
        (fixed_value(Game(2, "full", K), e), float(bounds.fixed_sum(math.log(K), e, rounds=2)))
        for K in (2, 3)
        for e in epsilons
    ]


# Privacy, exactly ---------------------------------------------------------------------------------


@store.kept
def votes_privacy(epsilons: list, extra: int = 0) -> Estimate:
    """The largest loss over epsilon of a draw from votes, K = 2 to 10^9, several lam."""
    found = []
    for e, actions, lam in product(epsilons, (2, 3, 10, 1000, 10**5, 10**9), (None, 2.0, 5.0)):
        if lam is None or lam <= actions:
            learner = Votes(float(e), lam)
            found += [votes.votes_loss(learner, actions, i, extra) / e for i in (1, 3)]
    return Estimate(max(found), bound=1e-12)


@store.kept
def unanimity_privacy(epsilons: list, first: float = 1.0) -> Estimate:
    """The largest loss over epsilon / 2 of the test of unanimity, K = 2 and 3."""
    found = [
        2 * votes.unanimity_loss(VotesOrLeader(e), actions, first) / e
        for e, actions in product(epsilons, (2, 3))
    ]
    return Estimate(max(found), bound=1e-12)


@store.kept
def stop_privacy(epsilons: list, noisy: bool = True) -> Estimate:
    """The largest loss over epsilon of when the margin stop stops and what it chooses."""
    found = []
    for e, fraction, threshold in product(epsilons, (0.25, 0.5), (0.0, 0.3, 1.0)):
        learner = MarginStop(e, fraction, threshold)
        found += [
            margin.stop_loss(learner, rounds, actions, noisy) / e
            for rounds, actions in ((4, 2), (2, 3))
        ]
    return Estimate(min(max(found), INFINITE), bound=1e-9)


@store.kept
def phase_privacy(epsilons: list, growths: list, rounds: int) -> Estimate:
    """The largest loss over epsilon of all actions of FTNL with a random phase, two actions."""
    game, found = Game(rounds, "full"), []
    for e, growth in product(epsilons, growths):
        plan = epoch_plan(game, PhasedFTNL(e, "gumbel", growth=growth))
        found.append(game.privacy(plan) / e)
    return Estimate(min(max(found), INFINITE), bound=1e-9)


@store.kept
def spying_phase(epsilon: float, rounds: int) -> float:
    """Loss over epsilon if round 1 decides the growth, 2 or 5: a phase that depends on the data."""
    game = Game(rounds, "full")
    plans = [
        epoch_plan(game, PhasedFTNL(epsilon, "gumbel", growth=g, random_phase=False))
        for g in (2.0, 5.0)
    ]
    seen = np.arange(game.sequences) // (game.sequences // 4) % 2
    return min(game.privacy(np.where(seen == 0, *plans)) / epsilon, INFINITE)


# The table of constants ---------------------------------------------------------------------------


def class_row(losses: str, lower: str, upper: str, by: str, computed: Estimate | str) -> dict:
    """A row of the table: constants of ln K / epsilon and the number that goes with them."""
    shown, number = computed, math.nan
    if isinstance(computed, Estimate):
        number = computed.value
        shown = estimates.rounded(number, max(computed.bound or 0.0, 1e-3))
    texts = {"losses": losses, "lower": lower, "upper": upper, "by": by}
    return texts | {"computed": number, "shown": shown}


def dyadic(epsilon: float) -> FTNL:
    """FTNL with Gumbel noise on whole dyadic epochs."""
    return FTNL(epsilon, "gumbel")
