"""Slow, obvious versions of azize2025's formulas and algorithms, in plain Python."""

import math
from decimal import Decimal, getcontext

from naive import bandits, laplace
from naive.bandits import smallest
from privregret.divergence import kl_inverse

getcontext().prec = 50


def kl_decimal(p, q):
    total = Decimal(0)
    for a, b in ((p, q), (1 - p, 1 - q)):
        if a > 0:
            total += a * (a / b).ln() if b > 0 else Decimal("Infinity")
    return total


def d_epsilon_decimal(x, y, epsilon):
    """The definition (6): the minimum over z from x to y of epsilon |z - x| + kl(z, y), convex."""
    x, y, epsilon = Decimal(float(x)), Decimal(float(y)), Decimal(float(epsilon))

    def value(z):
        return epsilon * abs(z - x) + kl_decimal(z, y)

    def towards_y(z):
        """Whether the objective falls when z moves towards y."""
        if y in (0, 1) or z in (0, 1):
            return True
        slope = (z / (1 - z)).ln() - (y / (1 - y)).ln()
        return epsilon + slope < 0 if y > x else epsilon - slope < 0

    if x == y or not towards_y(x):
        return value(x)
    low, high = x, y
    for _ in range(165):
        middle = (low + high) / 2
        low, high = (middle, high) if towards_y(middle) else (low, middle)
    return min(value(low), value(high), value(x), value(y))


def kl(p, q):
    if p == q:
        return 0.0
    if q in (0.0, 1.0):
        return math.inf
    pairs = (p, q), (1 - p, 1 - q)
    return sum(a * math.log(a / b) for a, b in pairs if a > 0)


def inverse(x, level, divergence):
    """Largest mu in [x, 1] with divergence(x, mu) <= level, by bisection; 1 if close to 1."""
    if divergence(x, 1.0) <= level:
        return 1.0
    low, high = x, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(x, middle) <= level else (low, middle)
    return low if low < 1 - 1e-15 else 1.0


def clip(x):
    return min(max(x, 0.0), 1.0)


class AdaPKLUCB:
    """Azize and Basu 2022: every reward is kept, the second half of an arm's is used.

    With the project's own inverse (which has a test of its own): at first most indices are within
    rounding of 1, and there two ways to invert do not tie alike.
    """

    def __init__(self, epsilon, alpha=3.1):
        self.epsilon, self.alpha = epsilon, alpha

    def play(self, rewards, rng):
        table = [list(map(float, row)) for row in rewards]
        arms = len(table[0])
        data = [[] for _ in range(arms)]
        mean, size = [0.0] * arms, [0] * arms
        actions = []
        while len(actions) < len(table):
            if len(actions) < arms:
                j = len(actions)
            else:
                levels = [self.alpha * math.log(len(actions) + 1) / n for n in size]
                high = [clip(m + c / self.epsilon) for m, c in zip(mean, levels, strict=True)]
                j = smallest([-kl_inverse(*at) for at in zip(high, levels, strict=True)], rng)
            size[j] = max(1, len(data[j]))
            for _ in range(size[j]):
                if len(actions) == len(table):
                    return actions
                data[j].append(table[len(actions)][j])
                actions.append(j)
            mean[j] = (sum(data[j][-size[j] :]) + laplace(1 / self.epsilon, rng)) / size[j]
        return actions


class PerRound(bandits.PerRound):
    """IMED or KL-UCB, without privacy."""

    def __init__(self, imed):
        self.imed = imed

    def choose(self, mean, n, t, rng):
        each = zip(mean, n, strict=True)
        if self.imed:
            return smallest([k * kl(m, max(mean)) + math.log(k) for m, k in each], rng)
        return smallest([-inverse(m, math.log(t) / k, kl) for m, k in each], rng)
