"""Slow, obvious versions of the adversarial algorithms, written from the papers.

Plain Python with one method per line of pseudocode; roots by scipy, every weight from scratch in
every step. Noise is drawn in the order of the pseudocode. Faulty variants are subclasses.
"""

import math

import numpy as np
from scipy.optimize import brentq

from naive import laplace


def inverse_cdf(p, rng):
    u = rng.random()
    for i in range(len(p) - 1):
        u -= p[i]
        if u < 0:
            return i
    return len(p) - 1


class EXP3:
    def __init__(self, arms, eta, gamma):
        self.eta, self.gamma, self.sums = eta, gamma, [0.0] * arms

    def probabilities(self):
        w = [math.exp(-self.eta * (s - min(self.sums))) for s in self.sums]
        return [(1 - self.gamma) * x / sum(w) + self.gamma / len(w) for x in w]

    def choose(self, rng):
        self.p = self.probabilities()
        self.i = inverse_cdf(self.p, rng)
        return self.i

    def update(self, y, rng):
        self.sums[self.i] += y / self.p[self.i]


class HTINF(EXP3):
    def __init__(self, arms, sigma):
        self.sigma, self.sums, self.t = sigma, [0.0] * arms, 0

    def probabilities(self):
        self.t += 1
        a = [(s - min(self.sums)) / (self.sigma * math.sqrt(self.t)) for s in self.sums]
        ends, close = (0.5, math.sqrt(len(a)) + 1), {"xtol": 1e-14, "rtol": 1e-14}
        w = brentq(lambda w: sum((x + w) ** -2 for x in a) - 1, *ends, **close)
        return [(x + w) ** -2 for x in a]

    def update(self, y, rng):
        r = (1 - 2 ** (-1 / 3)) * self.sigma * math.sqrt(self.t * self.p[self.i])
        if abs(y) <= r:
            self.sums[self.i] += y / self.p[self.i]


class FTPL:
    def __init__(self, arms, eta, cap, resampling):
        self.eta, self.cap, self.resampling, self.sums = eta, cap, resampling, [0.0] * arms

    def choose(self, rng):
        scores = [s + laplace(1 / self.eta, rng) for s in self.sums]
        self.i = scores.index(min(scores))
        return self.i

    def wins(self, rng):
        """Does arm i lead under a fresh perturbation? Its own noise first, then the others', until
        one is ahead."""
        sign = -1 if self.resampling == "printed" else 1
        mine = sign * (self.sums[self.i] + laplace(1 / self.eta, rng))
        for k, s in enumerate(self.sums):
            if k != self.i and sign * (s + laplace(1 / self.eta, rng)) <= mine:
                return False
        return True

    def update(self, y, rng):
        count = self.cap if self.resampling == "corrected" else 0
        for k in range(1, self.cap + 1):
            if self.wins(rng):
                count = k
                break
        self.sums[self.i] += y * count


def conversion(losses, base, tau, scale, rng, advice=None):
    """Algorithm 1 around `base`; with a (T, N, K) advice the base's choices are experts (Algorithm
    5)."""
    actions, total = [], 0.0
    for t in range(1, len(losses) + 1):
        if (t - 1) % tau == 0:
            choice = base.choose(rng)
        row = np.eye(len(losses[0]))[choice] if advice is None else advice[t - 1][choice]
        arm = int(np.argmax(row)) if max(row) == 1 else inverse_cdf(row, rng)
        actions.append(arm)
        total += losses[t - 1][arm]
        if t % tau == 0:
            base.update(total / tau + (laplace(scale, rng) if scale else 0.0), rng)
            total = 0.0
    return actions


def exp4_local(losses, advice, epsilon, eta, gamma, rng):
    """Algorithm 6, weights of all experts from scratch in each round."""
    arms, scores, actions = len(losses[0]), np.zeros(len(advice[0])), []
    for loss, mu in zip(losses, advice, strict=True):
        w = np.exp(-eta * (scores - scores.min()))
        q = (1 - gamma) * (w / w.sum()) @ mu + gamma / arms
        i = inverse_cdf(q, rng)
        scores += mu[:, i] * (loss[i] + laplace(1 / epsilon, rng)) / q[i]
        actions.append(i)
    return actions


def exp4_batched(losses, advice, epsilon, delta, eta, gamma, tau, rng):
    """Algorithm 2."""
    arms, experts = len(losses[0]), len(advice[0])
    scale = 3 * arms * math.sqrt(experts * math.log(1 / delta)) / (gamma * tau * epsilon)
    scores, gains, actions = np.zeros(experts), np.zeros(experts), []
    for t, (loss, mu) in enumerate(zip(losses, advice, strict=True), start=1):
        w = np.exp(-eta * (scores - scores.min()))
        q = (1 - gamma) * (w / w.sum()) @ mu + gamma / arms
        i = inverse_cdf(q, rng)
        gains += mu[:, i] * loss[i] / q[i]
        actions.append(i)
        if t % tau == 0:
            scores = scores + gains / tau + [laplace(scale, rng) for _ in range(experts)]
            gains = np.zeros(experts)
    return actions


def sparse_switch(losses, epsilon, rate, rng):
    """Looks at arm 2 now and then; changes sides, once, when a noisy count of its small losses
    passes a threshold."""
    threshold = 4 / epsilon * math.log(len(losses)) + laplace(2 / epsilon, rng)
    home, count, actions = 0, 0, []
    for loss in losses:
        look = rng.random() < rate
        actions.append(1 - home if look else home)
        if look and home == 0:
            count += loss[1] < 0.5
            if count + laplace(4 / epsilon, rng) >= threshold:
                home = 1
    return actions
