"""Privacy: the release ledger, enumeration, quadrature, closed forms, and audits that must catch
planted faults."""

import math
from collections import Counter
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from conftest import refused
from laws import FALSE_ALARM
from naive import azize2025
from naive import bandits as naive
from scipy.integrate import quad
from scipy.stats import chisquare, laplace, norm

from privregret import exact, instances
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, LocallyPrivate
from privregret.bandits import DPIMED, DPKLUCB, DPSE, AnytimeLazyUCB, HybridUCB, hybrid_ucb
from privregret.full_information import FTNL
from privregret.privacy import adversarial, batches, enumeration, pull_times, selection
from privregret.privacy.audit import loss_lower_bound
from privregret.privacy.ledger import (
    cost,
    elimination_releases,
    hybrid_releases,
    lazy_releases,
    looks,
    through_children,
)
from privregret.privacy.prefix import loss_by_position, sequence_loss
from privregret.studies.asi2025 import log_weights

# the ledger's own numbers


@pytest.mark.parametrize(
    ("r", "releases"), [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)]
)
def test_hybrid_as_printed_costs_what_the_sheet_says(r, releases):
    """Tree of depth r: its first leaf is in r + 1 nodes; the total is 1 + 1 / (2 r): 1.5, 1.25,
    1.167, ..."""
    pulls = 2 ** (r + 1) - 1
    ledger = hybrid_releases(pulls)
    tree = slice(2**r - 1, pulls)  # the pulls in it
    assert looks(ledger, pulls)[tree].max() == releases
    assert looks(ledger, pulls)[tree].argmax() == 0
    assert cost(ledger, pulls)[tree].max() == pytest.approx(1 + 1 / (2 * r))
    assert len([x for x in ledger if x.kind == "node" and x.at >= 2**r]) == 2**r


@pytest.mark.parametrize("tree", ["rootfree", "scaled", "children"])
def test_the_repairs_cost_epsilon(tree):
    pulls = 2**11 - 1
    if tree == "children":
        total = cost(through_children(hybrid_releases(pulls)), pulls)
    else:
        total = cost(hybrid_releases(pulls, tree), pulls)
    assert total.max() == pytest.approx(1)
    for r in range(1, 11):  # reached in every tree: nothing is given away
        assert total[2**r - 1 : 2 ** (r + 1) - 1].max() == pytest.approx(1)


def test_lazy_costs_epsilon_exactly_once():
    for pulls in (1, 2, 3, 6, 7, 100, 127):
        ledger = lazy_releases(pulls)
        full = 2 ** ((pulls + 1).bit_length() - 1) - 1  # pulls in full arrays
        assert cost(ledger, pulls).tolist() == [1.0] * full + [0.0] * (pulls - full)
        assert looks(ledger, pulls, "array").tolist() == [1] * full + [0] * (pulls - full)
        assert [x.at for x in ledger] == [n for n in (1, 3, 7, 15, 31, 63, 127) if n <= pulls]


# the ledger against the kernels


def ledger_scales(actions, releases, epsilon):
    """Scales of the noise that the ledger expects, in order, given which arm was pulled when."""
    pulls, scales = Counter(), []
    for j in actions:
        pulls[j] += 1
        scales += [x.scale / epsilon for x in releases(len(actions)) if x.at == pulls[j]]
    return scales


def recorded(play, horizon=150, seed=0):
    """Actions and recorded noise scales of `play(rewards, rng)` on three arms."""
    rng = np.random.default_rng(seed)
    recorder = naive.Recorder(rng)
    return play(rng.random((horizon, 3)), recorder), recorder.scales


def keeps_to_ledger(play, releases, epsilon):
    actions, scales = recorded(play)
    wanted = ledger_scales(actions, releases, epsilon)
    return len(scales) == len(wanted) and np.allclose(scales, wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("tree", hybrid_ucb.TREES)
def test_hybrid_kernel_keeps_to_the_ledger(tree, epsilon):
    literal = partial(naive.literal, HybridUCB(epsilon, tree))

    def releases(pulls):
        return hybrid_releases(pulls, tree)

    assert keeps_to_ledger(literal, releases, epsilon)
    assert keeps_to_ledger(naive.HybridUCB(epsilon, tree).play, releases, epsilon)
    other = hybrid_releases if tree != "paper" else lazy_releases
    assert not keeps_to_ledger(literal, other, epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_lazy_kernel_keeps_to_the_ledger(epsilon):
    assert keeps_to_ledger(partial(naive.literal, AnytimeLazyUCB(epsilon)), lazy_releases, epsilon)
    assert keeps_to_ledger(naive.AnytimeLazyUCB(epsilon).play, lazy_releases, epsilon)


@pytest.mark.parametrize("horizon", [300, 9000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_dp_se_kernel_keeps_to_the_ledger(epsilon, horizon):
    rewards = np.random.default_rng(0).random((horizon, 3)) * (1, 0.7, 0.3)
    for play in (partial(naive.literal, DPSE(epsilon, 0.9)), naive.DPSE(epsilon, 0.9).play):
        recorder = naive.Recorder(np.random.default_rng(1))
        actions = np.array(play(rewards, recorder))
        expected = elimination_releases(np.bincount(actions, minlength=3), epsilon, 0.9)
        assert recorder.scales == [1 / epsilon] * expected
        eliminated = len(set(actions[-100:])) < 3
        assert expected >= 3 and eliminated if horizon == 9000 else expected == 0


class HybridHalvedNodes(naive.HybridUCB):
    def node_noise(self, rng, r, level):
        return rng.laplace(0.0, r / self.epsilon)


class HybridForgottenLevel(naive.HybridUCB):
    def node_noise(self, rng, r, level):
        return 0.0 if level == 1 else super().node_noise(rng, r, level)


class HybridArraysAtTheFullBudget(naive.HybridUCB):
    def array_noise(self, rng, r):
        return rng.laplace(0.0, 1 / self.epsilon)


class HybridUnscaled(naive.HybridUCB):
    """Noise for the depth, where the `scaled` repair needs one level more."""

    def node_noise(self, rng, r, level):
        return rng.laplace(0.0, r / (0.5 * self.epsilon))


FAULTS = [HybridHalvedNodes, HybridForgottenLevel, HybridArraysAtTheFullBudget, HybridUnscaled]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_the_ledger_finds_faults_in_hybrid(fault, epsilon):
    tree = "scaled" if fault is HybridUnscaled else "paper"

    def releases(pulls):
        return hybrid_releases(pulls, tree)

    assert keeps_to_ledger(naive.HybridUCB(epsilon, tree).play, releases, epsilon)
    assert not keeps_to_ledger(fault(epsilon, tree).play, releases, epsilon)


def test_the_nodes_in_the_ledger_are_those_of_the_tree():
    """Each new node covers the 2^level pulls that end with the present one."""
    covered = []

    class Listening(naive.HybridUCB):
        def array_noise(self, rng, r):
            covered.append(2**r)
            return super().array_noise(rng, r)

        def node_noise(self, rng, r, level):
            covered.append(2**level)
            return super().node_noise(rng, r, level)

    for tree in hybrid_ucb.TREES:
        covered.clear()
        actions = Listening(1.0, tree).play(np.zeros((300, 2)), np.random.default_rng(0))
        pulls, expected = Counter(), []
        for j in actions:
            pulls[j] += 1
            new = [x for x in hybrid_releases(300, tree) if x.at == pulls[j]]
            assert all(x.last == pulls[j] for x in new)
            expected += [x.last - x.first + 1 for x in new]
        assert covered == expected


# the audit itself


def both_arms(changed):
    """Two arms, three rounds, the last of which is the first to be decided; tables that differ in
    round 1."""
    rewards = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    rewards[0, 0] = changed
    return rewards


def first_decision_is_arm_0(actions):
    return actions[2] == 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("algorithm", [AnytimeLazyUCB, HybridUCB])
def test_the_audit_finds_the_true_loss(algorithm, epsilon):
    """Noise of scale 1 / e: the lead of arm 0 goes from -1 to 0, and P from exp(-e) (2 + e) / 4 to
    1 / 2."""
    e = epsilon if algorithm is AnytimeLazyUCB else epsilon / 2
    truth = -math.log(math.exp(-e) * (2 + e) / 2)
    tables = both_arms(0.0), both_arms(1.0)
    found = loss_lower_bound(
        algorithm(epsilon), *tables, first_decision_is_arm_0, runs=20_000, seed=0
    )
    assert max(0, truth - 0.25) <= found <= truth <= epsilon


class Tell:
    """Plays the reward itself: no privacy at all."""

    def play(self, rewards, rng):
        return rewards[:, 0].astype(int)


@pytest.mark.parametrize("runs", [2, 30, 1000])
@pytest.mark.parametrize("failure", [1e-2, 1e-6])
def test_the_audit_is_as_sure_as_it_says(runs, failure):
    """Always against never in n plays: limits a^(1/n) and 1 - a^(1/n), a = failure / 8 for eight
    limits."""
    table, other = np.zeros((4, 2)), np.zeros((4, 2))
    other[2] = 1
    sure = (failure / 8) ** (1 / runs)
    found, nothing = (
        loss_lower_bound(
            Tell(), table, other, lambda actions, t=t: actions[t] == 1, runs, 0, failure
        )
        for t in (2, 1)
    )
    assert found == pytest.approx(max(0, math.log(sure / (1 - sure))))
    assert nothing == 0


def test_the_audit_takes_neighbours_only():
    table = np.zeros((5, 2))
    two = table.copy()
    two[1:3] = 1
    for other in (table, two, np.ones((5, 2)), np.zeros((5, 3)), np.zeros((6, 2))):
        with pytest.raises(ValueError):
            loss_lower_bound(
                AnytimeLazyUCB(1.0), table, other, first_decision_is_arm_0, runs=10, seed=0
            )


# planted faults, next to the honest algorithm


class SharedNoise(naive.DPSE):
    """One draw for all arms: it cancels in every comparison."""

    def noises(self, rng, epoch, arms):
        return [rng.laplace(0.0, 1 / self.epsilon)] * arms


class NoNoiseAfterTheFirstEpoch(naive.DPSE):
    def noises(self, rng, epoch, arms):
        return super().noises(rng, epoch, arms) if epoch == 1 else [0.0] * arms


class NoiseWithoutEpsilon(naive.AnytimeLazyUCB):
    def noise(self, rng, r):
        return rng.laplace(0.0, 1.0)


class HybridWithoutArrayNoise(naive.HybridUCB):
    def array_noise(self, rng, r):
        return 0.0


class NoNoiseAfterTheFirstArray(naive.AnytimeLazyUCB):
    def noise(self, rng, r):
        return super().noise(rng, r) if r == 0 else 0.0


def assert_only_the_fault_is_caught(honest, faulty, rewards, neighbour, event, plays):
    """The audit shows more than epsilon for the faulty variant, and no more for the honest
    algorithm."""
    assert loss_lower_bound(faulty, rewards, neighbour, event, plays, seed=0) > honest.epsilon
    assert (
        loss_lower_bound(honest, rewards, neighbour, event, max(plays, 4000), seed=0)
        <= honest.epsilon
    )


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_noise_that_forgets_epsilon_is_caught(epsilon):
    assert_only_the_fault_is_caught(
        AnytimeLazyUCB(epsilon),
        NoiseWithoutEpsilon(epsilon),
        both_arms(0.0),
        both_arms(1.0),
        first_decision_is_arm_0,
        plays=4000,
    )


@pytest.mark.parametrize("tree", hybrid_ucb.TREES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_missing_noise_in_the_arrays_of_hybrid_is_caught(tree, epsilon):
    assert_only_the_fault_is_caught(
        HybridUCB(epsilon, tree),
        HybridWithoutArrayNoise(epsilon, tree),
        both_arms(0.0),
        both_arms(1.0),
        first_decision_is_arm_0,
        plays=1000,
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_missing_noise_in_later_arrays_is_caught(epsilon):
    """Two arms fill an array of two pulls each, one after the other; the better array goes on.

    One reward decides whether the first array holds 0.5 less or 0.5 more than the second.
    """
    rewards = np.array([[0.0], [0.0], [0.0], [0.5], [0.5], [0.5], [0.5]]) * np.ones(2)
    neighbour = rewards.copy()
    neighbour[2] = 1

    def first_to_fill_goes_on(actions):
        first, second = actions[2], 1 - actions[2]
        return list(actions[2:]) == [first, first, second, second, first]

    assert_only_the_fault_is_caught(
        AnytimeLazyUCB(epsilon),
        NoNoiseAfterTheFirstArray(epsilon),
        rewards,
        neighbour,
        first_to_fill_goes_on,
        plays=2000,
    )


def dp_se_tables(epsilon, beta, epoch, arms, start):
    """Neighbouring tables between which arm 1 is dropped, or would be if there were no noise.

    In the epoch that starts after round `start`, arm 0 leads arm 1 by the threshold less 1/2; in
    the neighbour, by the threshold plus 1/2. A third arm, if any, gets nothing. Also returns the
    last round of the epoch.
    """
    slow = naive.DPSE(epsilon, beta)
    length = math.ceil(slow.length(epoch, 2, beta))
    end = start + 2 * length
    rewards = np.zeros((end + 4, arms))
    rewards[:, 1] = 0.3
    rewards[:, 0] = 0.3 + (slow.threshold(epoch, 2, beta) * length - 0.2) / (length - 1)
    rewards[start, 0] = 0  # its first reward in this epoch: 0.3 less than arm 1's, or 0.7 more
    neighbour = rewards.copy()
    neighbour[start, 0] = 1
    return rewards, neighbour, end


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_noise_shared_by_all_arms_is_caught(epsilon):
    rewards, neighbour, end = dp_se_tables(epsilon, beta=1.0, epoch=1, arms=2, start=0)

    def arm_1_is_dropped(actions):
        return list(actions[end:]) == [0] * 4

    honest, faulty = DPSE(epsilon, 1.0), SharedNoise(epsilon, 1.0)
    assert_only_the_fault_is_caught(honest, faulty, rewards, neighbour, arm_1_is_dropped, plays=250)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_missing_noise_in_later_epochs_is_caught(epsilon):
    """Arm 2 is dropped after the first epoch, and arms 0 and 1 then meet at the threshold."""
    start = 3 * math.ceil(naive.DPSE(epsilon).length(1, 3, 1.0))
    rewards, neighbour, end = dp_se_tables(epsilon, beta=1.0, epoch=2, arms=3, start=start)

    def arm_1_is_dropped_next(actions):
        return list(actions[start : start + 4]) == [0, 1, 0, 1] and list(actions[end:]) == [0] * 4

    honest, faulty = DPSE(epsilon, 1.0), NoNoiseAfterTheFirstEpoch(epsilon, 1.0)
    assert_only_the_fault_is_caught(
        honest, faulty, rewards, neighbour, arm_1_is_dropped_next, plays=150
    )


# azize2025: policies and batches by enumeration


def test_view_law_is_the_product_of_the_policy():
    policy = enumeration.random_policy(2, 3, np.random.default_rng(0))
    law = enumeration.view_law(policy)
    assert law.shape == (2,) * 6 and law.sum(axis=(3, 4, 5)) == pytest.approx(np.ones((2, 2, 2)))
    for r1, r2, a1, a2, a3 in np.ndindex(2, 2, 2, 2, 2):
        expected = policy[0][a1] * policy[1][a1, r1, a2] * policy[2][a1, a2, r1, r2, a3]
        assert law[r1, r2, :, a1, a2, a3] == pytest.approx([expected] * 2, rel=1e-14)


def test_list_table_and_tree_privacy_agree():
    """Proposition B.5; for delta they only order."""
    sizes = [(2, 3), (2, 3), (3, 2), (2, 2)]
    policies = [
        enumeration.random_policy(k, t, np.random.default_rng(s)) for s, (k, t) in enumerate(sizes)
    ]
    policies += [enumeration.stay_or_switch(3, 0.5), enumeration.stay_or_switch(3, 2.0)]
    for policy in policies:
        losses = [enumeration.privacy_loss(policy, model) for model in enumeration.MODELS]
        assert losses == pytest.approx([losses[0]] * 3, rel=1e-12)
        deltas = [enumeration.delta(policy, model, losses[0] / 4) for model in enumeration.MODELS]
        assert deltas[0] <= deltas[1] * (1 + 1e-12) and deltas[1] <= deltas[2] * (1 + 1e-12)
        assert enumeration.delta(policy, "tree", losses[0]) <= 1e-12


def test_enumeration_catches_policies_that_are_not_private():
    for model in enumeration.MODELS:
        losses = [
            enumeration.privacy_loss(enumeration.stay_or_switch(3, e), model)
            for e in (1, 4, math.inf)
        ]
        assert losses[0] <= 1
        assert losses[1] > 2  # noise for 4 passed off as for 2
        assert losses[2] == math.inf
    refused(lambda: enumeration.reward_functions("forest", 2, 1), "model", "'forest'")


def test_views_are_as_probable_as_their_actions_on_the_list_of_rewards_seen():
    """Remark B.3, for more arms than two as well."""
    rng = np.random.default_rng(0)
    for arms, rounds in ((2, 3), (3, 2)):
        policy = enumeration.random_policy(arms, rounds, rng)
        tree = [rng.integers(2, size=(arms,) * t) for t in range(1, rounds + 1)]
        law, views = enumeration.view_law(policy), enumeration.views(policy, tree)
        assert len({actions for _, actions, _ in views}) == len(views) == arms**rounds
        assert sum(chance for chance, _, _ in views) == pytest.approx(1)
        for chance, actions, seen in views:
            assert seen == tuple(tree[t][actions[: t + 1]] for t in range(rounds))
            assert chance == pytest.approx(law[(*seen, *actions)], rel=1e-12)


def test_double_change_by_loops():
    """Lemma C.1, two rounds: outcome by outcome, with `play`-like loops for both environments."""
    rng = np.random.default_rng(3)
    policies = [enumeration.random_policy(2, 2, rng), enumeration.stay_or_switch(2, 1.5)]
    for policy, n2, alpha in product(policies, (0, 1, 2), (0.1, 1.0)):
        mu, middle, best, beyond = means = np.sort(rng.uniform(0.05, 0.95, 4))
        change = middle * np.log(middle / beyond) + (1 - middle) * np.log(
            (1 - middle) / (1 - beyond)
        )
        chances = {
            (0, 1, 1): best,
            (0, 0, 0): 1 - best,
            (1, 1, 1): mu,
            (1, 0, 1): middle - mu,
            (1, 0, 0): 1 - middle,
        }
        left = 0.0
        for (a, r, x), (b, s, y) in product(chances, repeat=2):
            logs = sum(
                np.log(middle / beyond) if v else np.log((1 - middle) / (1 - beyond))
                for v, i in ((x, a), (y, b))
                if i
            )
            limit = (1 + alpha) * n2
            if (
                a + b <= n2
                and (r != x) + (s != y) <= limit * (middle - mu)
                and logs <= limit * change
            ):
                left += policy[0][a] * policy[1][a, r, b] * chances[a, r, x] * chances[b, s, y]
        right = 0.0
        for a, r, b in product((0, 1), repeat=3):
            mean = beyond if a else best
            right += (a + b <= n2) * policy[0][a] * (mean if r else 1 - mean) * policy[1][a, r, b]
        loss = enumeration.privacy_loss(policy, "list")
        right *= math.exp((1 + alpha) * n2 * (loss * (middle - mu) + change))
        ratio = enumeration.double_change(policy, means, n2, alpha)
        assert ratio == pytest.approx(left / right, rel=1e-10) and ratio <= 1 + 1e-12


def test_prefix_sums_of_noisy_blocks_are_private_and_fresh_noise_is_not():
    rng = np.random.default_rng(0)
    blocks, rewards = [0, 3, 4, 9], rng.random(12)
    losses = []
    for t in range(12):
        other = np.where(np.arange(12) == t, 1 - rewards, rewards)
        change = abs(other[t] - rewards[t])
        for _ in range(50):
            summed, fresh = batches.prefix_losses(blocks, rewards, other, 2.0, rng)
            assert abs(summed) <= 2.0 * change + 1e-9
            losses.append((t, abs(fresh) / (2.0 * change)))
    for block, (first, last) in enumerate(pairwise([*blocks, 12])):
        assert max(loss for t, loss in losses if first <= t < last) <= len(blocks) - block + 1e-9
    assert max(loss for t, loss in losses if t < 3) > 2
    assert batches.prefix_losses(blocks, rewards, rewards, 2.0, rng) == (0, 0)


def test_privacy_of_algorithm_1_on_the_smallest_instance():
    for epsilon, imed, klucb in ((0.5, 0.553, 0.0), (1.0, 0.594, 0.647), (3.0, 0.894, 0.880)):
        assert batches.privacy_loss(DPIMED(epsilon)) / epsilon == pytest.approx(imed, abs=0.02)
        assert batches.privacy_loss(DPKLUCB(epsilon)) / epsilon == pytest.approx(klucb, abs=0.02)
        law = batches.action_law(DPIMED(epsilon))
        assert law.sum(axis=(4, 5)) == pytest.approx(np.ones((2,) * 4), rel=1e-12)


@pytest.mark.parametrize("other", [{"alpha": 1.5}, {"n0": 2}, {"ties": "first"}, {"power": 1}])
def test_the_exact_law_is_refused_for_other_batches(other):
    refused(lambda: batches.privacy_loss(DPIMED(1.0, **other)), "algorithm", *other)


def test_the_exact_law_is_that_of_play():
    algorithm, rewards = DPIMED(3.0), np.array([[1.0, 0], [0, 0], [1, 1], [0, 0], [0, 0]])
    law = batches.action_law(algorithm, 300)[1, 0, 1, 0]
    rng = np.random.default_rng(0)
    plays = np.array([algorithm.play(rewards, rng)[[2, 4]] for _ in range(20_000)])
    for d in np.ndindex(2, 2):
        hits, p = (plays == d).all(axis=1).mean(), law[d]
        assert (
            abs(hits - p) <= norm.isf(FALSE_ALARM / 8) * math.sqrt(p * (1 - p) / len(plays)) + 0.01
        )


def test_black_box_audit_catches_too_little_noise():
    class Careless(azize2025.Batched):
        def noise(self, rng):
            return rng.laplace(0.0, 0.1 / self.epsilon)

    rewards = np.zeros((5, 2))
    rewards[1] = 1
    neighbour = rewards.copy()
    neighbour[0] = 1

    def event(actions):
        return actions[2] == 0

    for honest in (DPIMED(1.0), DPKLUCB(1.0), azize2025.Batched("imed", 1.0)):
        assert loss_lower_bound(honest, rewards, neighbour, event, 3000, seed=0) <= 1
    assert loss_lower_bound(Careless("imed", 1.0), rewards, neighbour, event, 3000, seed=0) > 1


# full information: report noisy max and prefixes


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_privacy_of_the_selection_is_that_of_all_pairs(noise, scale):
    """Against every pair of neighbouring sums of 0/1 losses: an epoch of 4 rounds, 3 actions."""
    logs = {
        sums: np.log(exact.selection_from_sums(sums, np.zeros(3), noise, scale))
        for sums in np.ndindex(5, 5, 5)
    }
    worst = 0.0
    for sums, here in logs.items():
        for move in np.ndindex(3, 3, 3):
            other = tuple(s + m - 1 for s, m in zip(sums, move, strict=True))
            if other in logs:
                worst = max(worst, np.abs(here - logs[other]).max())
    loss = selection.privacy_loss(3, 4, noise, scale)
    assert loss.value == pytest.approx(worst, rel=1e-7) and loss.value <= 2 / scale * (1 + 1e-12)
    chosen, others = zip(loss.before, loss.after, strict=True)
    pair = [
        exact.selection_from_sums([a, b, b], np.zeros(3), noise, scale)[0]
        for a, b in zip(chosen, others, strict=True)
    ]
    assert math.log(pair[1] / pair[0]) == pytest.approx(loss.value, rel=1e-7)


def test_what_the_presets_of_ftnl_deliver():
    for algorithm in (FTNL(0.5, "laplace", "hu2021"), FTNL(0.5, "exponential", "wu2026")):
        scale = algorithm.noise_scale(3)
        loss = selection.privacy_loss(3, 4, algorithm.noise, scale).value
        assert (
            1.2 * algorithm.epsilon < loss <= algorithm.privacy.proved * (1 + 1e-12)
        )  # more than the papers say
    for noise in ("laplace", "exponential", "gumbel"):
        algorithm = FTNL(0.5, noise)
        losses = [
            selection.privacy_loss(3, n, noise, algorithm.noise_scale(3)).value
            for n in (1, 4, 64, 4096)
        ]
        assert all(a <= b * (1 + 1e-9) for a, b in pairwise(losses))
        assert losses[-1] == pytest.approx(algorithm.privacy.proved, rel=1e-6)  # the supremum


def naive_privacy(n, eta):
    """Largest log-ratio by position over 2 eta, over all pairs of 0/1 tables of two actions: random
    prefixes."""

    def law(table):
        lengths = range(n // 2 + 1, n + 1) if n > 1 else (1,)
        p = [1 / (1 + math.exp(eta * sum(b - a for a, b in table[:m]))) for m in lengths]
        return np.array([sum(p) / len(p), 1 - sum(p) / len(p)])

    rows = list(product((0, 1), repeat=2))
    worst = np.zeros(n)
    for table in product(rows, repeat=n):
        for s, row in product(range(n), rows):
            other = (*table[:s], row, *table[s + 1 :])
            worst[s] = max(worst[s], np.abs(np.log(law(table) / law(other))).max() / (2 * eta))
    return worst


def test_privacy_by_position():
    for n, eta, known in (
        (2, 0.05, [0.5125] * 2),
        (4, 0.125, [0.5768, 0.5768, 0.5768, 0.2960]),
        (4, 0.5, [0.7623, 0.7623, 0.7623, 0.4031]),
    ):
        shares = loss_by_position(n, eta) / (2 * eta)
        np.testing.assert_allclose(shares, naive_privacy(n, eta), rtol=1e-9)
        np.testing.assert_allclose(shares, known, atol=6e-5)
    refused(lambda: loss_by_position(16, 0.1), "16")


def naive_sequence(blocks, eta, counts, forget):
    """The same for whole sequences of actions, over all pairs of tables that are equal within kinds
    of action."""
    kinds = [kind for kind, count in enumerate(counts) for _ in range(count)]
    rounds = 2**blocks - 1

    def law(table):
        result = np.ones(1)
        for block in range(blocks):
            n, start = 2**block, 2**block - 1
            p = np.zeros(len(kinds))
            for m in range(n // 2 + 1, n + 1) if n > 1 else (1,):
                seen = table[start if forget else 0 : start + m]
                weights = np.exp([-eta * sum(row[kind] for row in seen) for kind in kinds])
                p += weights / weights.sum()
            result = np.outer(result, p / p.sum()).ravel()
        return np.log(result)

    rows = list(product((0, 1), repeat=len(counts)))
    laws = {table: law(table) for table in product(rows, repeat=rounds)}
    return max(
        np.abs(law - laws[(*table[:s], row, *table[s + 1 :])]).max()
        for table, law in laws.items()
        for s, row in product(range(rounds), rows)
    )


@pytest.mark.parametrize("forget", [True, False])
@pytest.mark.parametrize(
    ("blocks", "eta", "counts"), [(1, 0.3, (1, 1)), (2, 0.1, (1, 1)), (2, 2.0, (1, 3))]
)
def test_privacy_of_the_sequence(blocks, eta, counts, forget):
    loss = sequence_loss(blocks, eta, counts, forget)
    assert loss == pytest.approx(naive_sequence(blocks, eta, counts, forget), rel=1e-9)
    assert 0 < loss and (loss <= 2 * eta) == (
        forget or blocks == 1
    )  # Proposition 1, and why it forgets


def test_a_sequence_too_long_to_list():
    refused(lambda: sequence_loss(4, 0.1), "15", "2")


# the attack on Hybrid-UCB


@pytest.mark.parametrize(("epsilon", "more"), [(0.5, 0), (1.0, 0), (1.0, 1)])
def test_pull_times_against_the_literal_index_and_an_integral(epsilon, more):
    """The sums at which arm 1's index meets arm 0's, by the naive twin's index; the noise of the
    first full array is integrated out by scipy, panel by panel between the integrand's kinks."""
    twin, rounds = naive.HybridUCB(epsilon), [int(t) for t in pull_times.LATE.round()]
    s = []
    for k, t in enumerate(rounds, start=1):
        leader = twin.index(0.0, t - 1 - k, t)
        s.append(k * (leader - twin.index(0.0, k, t)))
    array, shallow, deep = 2 / epsilon, 2 * (1 + more) / epsilon, 2 * (2 + more) / epsilon

    def log_density(reward):
        base = s[0] + reward
        fixed = laplace.logpdf(s[0], scale=array)  # Z_0
        fixed += laplace.logpdf([s[1] - base, s[2] - base], scale=shallow).sum()  # leaf, root
        fixed += laplace.logpdf(s[5] - s[4], scale=deep)  # the leaf next to the first pair
        kinks = sorted({0.0, *(x - base for x in (s[3], s[4], s[6]))})

        def inside(z, top):
            parts = laplace.logpdf([x - base - z for x in (s[3], s[4], s[6])], scale=deep).sum()
            return math.exp(laplace.logpdf(z, scale=array) + parts - top)

        top = max(math.log(inside(z, 0.0)) if inside(z, 0.0) > 0 else -math.inf for z in kinks)
        far = 60 / epsilon
        edges = [kinks[0] - far, *kinks, kinks[-1] + far]
        return (
            fixed + top + math.log(sum(quad(inside, a, b, (top,))[0] for a, b in pairwise(edges)))
        )

    expected = log_density(0) - log_density(1)
    ours = pull_times.log_density(0, epsilon, 0.0, more) - pull_times.log_density(
        1, epsilon, 0.0, more
    )
    assert ours == pytest.approx(expected, abs=1e-3 * epsilon)
    worst = pull_times.hybrid_loss(epsilon, more)
    assert 0.9 * ours < worst <= ours
    assert (worst > epsilon) == (
        more == 0
    )  # as printed it is no epsilon; with noise for r + 1 nodes this attack fails


def test_exponential_noise_of_half_the_scale_is_half_as_private():
    """Sums (1, 1) and (0, 2) differ by one round of data; the probability of action 2 falls by e^(2
    epsilon)."""
    for epsilon in (0.1, 1.0):
        p, q = (
            exact.selection_from_sums(sums, [0.0, 0.0], "exponential", 1 / epsilon)[1]
            for sums in ([1.0, 1.0], [0.0, 2.0])
        )
        assert math.log(p / q) == pytest.approx(2 * epsilon)
        assert FTNL(epsilon, "exponential", "wu2026").privacy == (
            epsilon,
            2 * epsilon,
            0.0,
            "everything in one round replaced",
        )


# asi2025


@pytest.mark.parametrize(
    "epsilon, expected",
    [
        (0.1, (0.081488, 0.088644, 0.089481)),
        (0.5, (0.286563, 0.416056, 0.435787)),
        (1.0, (0.402824, 0.764510, 0.836490)),
    ],
)
def test_the_conversion_is_private_by_quadrature(epsilon, expected):
    worst = [
        adversarial.worst_batched_loss(EXP3(eta, 0.1), 1 / epsilon, nodes=600)
        for eta in (0.5, 2.0, 8.0)
    ]
    assert worst == pytest.approx(expected, rel=1e-4)
    assert max(worst) <= epsilon
    assert adversarial.worst_batched_loss(HTINF(math.sqrt(6)), 1 / epsilon) <= epsilon


def test_too_little_noise_is_seen():
    assert adversarial.worst_batched_loss(EXP3(8.0, 0.01), 0.5, nodes=400) > 1.2
    assert adversarial.worst_batched_loss(EXP3(8.0, 0.01), 1.0, nodes=400) <= 1.0


def test_quadrature_agrees_with_play():
    """Frequencies of the 8 paths of three batches over 10 000 plays, chi-squared at level 1e-4."""
    runs = 10_000
    losses, base, rng = (
        np.array([[0.0, 1.0], [1.0, 0.3], [0.0, 0.0]]),
        EXP3(1.5, 0.1),
        np.random.default_rng(6),
    )
    algorithm = LocallyPrivate(base, 0.7)
    paths = [int("".join(map(str, algorithm.play(losses, rng))), 2) for _ in range(runs)]
    expected = adversarial.batched_probabilities(base, losses, 1 / 0.7, nodes=200)
    assert expected.sum() == pytest.approx(1)
    assert chisquare(np.bincount(paths, minlength=8), runs * expected).pvalue > 1e-4


class NoNoise(BatchedPrivate):
    """Planted fault: the batch average is released without noise."""

    @property
    def scale(self):
        return 0.0


class NoiseOfOneLoss(BatchedPrivate):
    """Planted fault: noise for a batch that is larger than the one played."""

    @property
    def scale(self):
        return 1 / (20 * self.tau * self.epsilon)


def test_the_black_box_audit_sees_planted_faults():
    """5000 plays on neighbouring tables; faults exceed epsilon beyond doubt, the algorithm does
    not."""
    losses = np.zeros((4, 2))
    neighbour = losses.copy()
    neighbour[0] = 1.0
    base, epsilon = EXP3(4.0, 0.01), 0.5

    def stayed(actions):
        return actions[2] == actions[0]

    found = {
        kind.__name__: loss_lower_bound(kind(base, epsilon, 2), losses, neighbour, stayed, 5000, 1)
        for kind in (BatchedPrivate, NoNoise, NoiseOfOneLoss)
    }
    assert found["BatchedPrivate"] <= epsilon < min(found["NoNoise"], found["NoiseOfOneLoss"])


def test_exp3_leaks_more_the_longer_it_runs():
    """Largest loss over all paths of EXP3 on Figure 1's pair, values from an independent
    enumeration."""
    reference = {
        (0.05, 0.05): (0.1610, 0.4733, 1.0047, 2.0877),
        (0.2, 0.1): (0.8641, 2.8386, 5.0252, 8.3673),
    }
    for (eta, gamma), expected in reference.items():
        for horizon, value in zip((4, 8, 12, 16), expected, strict=True):
            one, other = (
                adversarial.exp3_log_probabilities(a, horizon, eta, gamma)
                for a in instances.exp3_leakage_pair()
            )
            assert np.exp(one).sum() == pytest.approx(1)
            assert np.abs(one - other).max() == pytest.approx(value, abs=6e-5)


def test_exp3_path_against_raw_weights():
    """The logarithmic recursion against the printed listing, where no weight underflows yet; and
    its last weights."""
    horizon, eta = 2000, 1e-3
    actions = (np.arange(horizon) % 2 == 0).astype(int)
    for adversary in instances.exp3_leakage_pair():
        w, expected = np.ones(2), []
        for t, loss in enumerate(adversary.table(horizon)):
            p = (1 - eta) * w / w.sum() + eta / 2
            expected.append(p[1])
            i = actions[t]
            w[i] *= math.exp(-eta * loss[i] / p[i])
        path = adversarial.exp3_path(adversary, actions, eta, eta)
        np.testing.assert_allclose(path, expected, rtol=1e-10)
        np.testing.assert_allclose(np.exp(log_weights(adversary, actions, path, eta)), w)


def test_figure_1_splits_when_the_sheet_says():
    actions = (np.arange(10**5) % 2 == 0).astype(int)
    one, other = (
        adversarial.exp3_path(a, actions, 1e-4, 1e-4) for a in instances.exp3_leakage_pair()
    )
    assert np.argmax(one > 0.75) + 1 == 92131
    assert np.argmax(other < 0.25) + 1 == 92130


def test_composition_of_laplace_releases():
    """One number: P(loss > epsilon) in closed form; many: never above the advanced composition that
    the paper uses.
    """
    exact = (
        0.5 * (1 - math.exp(0.3 - 1.0))
        + quad(lambda x: 0.25 * math.exp(-(1 - x) / 2) * (1 - math.exp(0.3 - x)), 0.3, 1)[0]
    )
    assert adversarial.laplace_delta(0.3, 1.0, 1) == pytest.approx(exact, rel=2e-3)
    assert adversarial.laplace_delta(0.3, 1.0, 1) >= exact
    assert adversarial.laplace_delta(1.0, 0.2, 5) == 0.0
    for experts in (16, 256):
        shift = 1 / (3 * math.sqrt(experts * math.log(1e6)))
        assert adversarial.laplace_delta(1.0, shift, experts) < 1e-6
